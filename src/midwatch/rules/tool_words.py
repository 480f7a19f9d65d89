"""What a tool call means, whatever its vendor calls it: only names, paths, commands and addresses are read."""

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any, Final

from midwatch.rules.tool_case import MOST_PATHS, ToolCall, ToolKind, Wish

_CLAUDE: Final[dict[str, ToolKind]] = {
    **dict.fromkeys(("Read", "NotebookRead", "LS"), ToolKind.READ),
    **dict.fromkeys(("Grep", "Glob"), ToolKind.SEARCH),
    **dict.fromkeys(("Edit", "Write", "MultiEdit", "NotebookEdit"), ToolKind.WRITE),
    "Bash": ToolKind.RUN,
    **dict.fromkeys(("KillShell", "KillBash", "TaskStop"), ToolKind.TEND),
    **dict.fromkeys(("WebFetch", "WebSearch"), ToolKind.FETCH),
    **dict.fromkeys(("Task", "Agent"), ToolKind.DELEGATE),
    **dict.fromkeys(("BashOutput", "TaskOutput", "TodoRead", "TodoWrite", "ExitPlanMode"), ToolKind.REMEMBER),
    **dict.fromkeys(("TaskCreate", "TaskUpdate", "TaskList", "TaskGet"), ToolKind.REMEMBER),
    **dict.fromkeys(("EnterPlanMode", "StructuredOutput", "ToolSearch"), ToolKind.REMEMBER),
    "AskUserQuestion": ToolKind.QUESTION,
}
_LISTED_AS: Final = {"NotebookRead": "Read", "LS": "Read", "MultiEdit": "Edit", "NotebookEdit": "Edit", "Task": "Agent"}
"""Tools that go by another's name in settings execution.allowed_tools."""
_ACP_EDITS: Final = frozenset({"edit", "delete", "move"})
_ACP_METHODS: Final = {"fs/read_text_file": "read", "fs/write_text_file": "edit", "terminal/create": "execute"}
_CODEX_RUNS: Final = frozenset({"commandexecution", "command", "shell", "localshell", "execcommand"})
_CODEX_WRITES: Final = frozenset({"filechange", "applypatch", "patch"})
_CODEX_REMEMBERS: Final = frozenset({"updateplan", "plan", "todolist"})
_PATH_WORDS: Final = ("file_path", "filePath", "filepath", "path", "abs_path", "notebook_path", "move_path", "movePath")
_TARGET_WORDS: Final = ("to", "destination", "new_path", "newPath", "dir_path", "paths", "files")
_PATCH_LINE: Final = re.compile(r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.*)$", re.MULTILINE)
_SHELLS: Final = re.compile(r"(?:/usr)?(?:/bin/)?(?:ba|z|da)?sh")
_SHELL_LINE: Final = re.compile(rf"{_SHELLS.pattern} -l?c ('[^']*'|\"[^\"$`\\]*\"|[^\s'\"$`\\;&|<>()]+)", re.DOTALL)


def understood(call: ToolCall) -> Wish:
    """Say what a call means; what nobody knows stays unknown."""
    reader = _READERS.get(call.agent, _unknown)
    return reader(call)


def _unknown(call: ToolCall) -> Wish:
    return Wish(ToolKind.UNKNOWN, call.tool)


def _claude(call: ToolCall) -> Wish:
    kind = _CLAUDE.get(call.tool, ToolKind.UNKNOWN)
    given, listed = call.input, _LISTED_AS.get(call.tool, call.tool)
    if kind is ToolKind.RUN:
        return _run(given.get("command"), call, "Bash")
    if kind is ToolKind.WRITE:
        return _write(tuple(_paths_in(given)), listed)
    if kind in {ToolKind.READ, ToolKind.SEARCH}:
        pattern = given.get("pattern" if call.tool == "Glob" else "glob")
        return Wish(kind, listed, paths=(*_paths_in(given), *_far_pattern(pattern)))
    if kind is ToolKind.FETCH:
        return _fetch(given, call.tool)
    # A sub-agent in a place of its own would work where nobody decides.
    if kind is ToolKind.DELEGATE and given.get("isolation"):
        return Wish(ToolKind.UNKNOWN, call.tool)
    return Wish(kind, listed)


def _codex(call: ToolCall) -> Wish:
    given, name = call.input, _codex_name(call.tool)
    if "permission" in name or given.get("grantRoot") or given.get("grant_root"):
        return Wish(ToolKind.WIDEN, call.tool)
    if name in _CODEX_RUNS:
        return _run(_without_shell(given.get("command", given.get("cmd"))), call, "Bash")
    if name in _CODEX_WRITES:
        return _write(tuple(islice(_codex_paths(given), MOST_PATHS + 1)), "Edit")
    if name == "websearch":
        return _fetch(given, "WebSearch")
    if name in {"viewimage", "imageview"}:
        return Wish(ToolKind.READ, "Read", paths=tuple(_paths_in(given)))
    return Wish(ToolKind.REMEMBER if name in _CODEX_REMEMBERS else ToolKind.UNKNOWN, call.tool)


def _codex_name(tool: str) -> str:
    """`item/fileChange/requestApproval`, `file_change` and `applyPatchApproval` each have one plain name."""
    name = tool.removesuffix("/requestApproval").removesuffix("Approval").rpartition("/")[2]
    return name.replace("_", "").casefold()


def _acp(call: ToolCall) -> Wish:
    given = call.input
    kind = _text(given.get("kind")) or _ACP_METHODS.get(call.tool, call.tool)
    raw = given if call.tool in _ACP_METHODS else given.get("rawInput")
    raw = raw if isinstance(raw, Mapping) else {}
    if raw.get("env"):  # surroundings can change what any command means
        return _unknown(call)
    paths = (*_paths_in(raw), *_located(given), *_diffed(given))
    command = raw.get("command", raw.get("cmd"))
    # What it would do counts, whatever it says of itself: a command is a run and a diff is a write.
    if command is not None or kind == "execute":
        return _run(_without_shell(command, lines=False), ToolCall(call.agent, call.tool, raw, call.cwd), "Bash")
    if kind in _ACP_EDITS or tuple(_diffed(given)):
        return _write(paths, "Edit")
    if kind == "fetch" or isinstance(raw.get("url"), str):
        return _fetch(raw, "WebFetch")
    if kind in {"read", "search"}:
        word = ToolKind.READ if kind == "read" else ToolKind.SEARCH
        return Wish(word, "Read" if kind == "read" else "Grep", paths=(*paths, *_far_pattern(raw.get("glob"))))
    return Wish(ToolKind.REMEMBER if kind == "think" else ToolKind.UNKNOWN, call.tool)


def _run(command: object, call: ToolCall, listed: str) -> Wish:
    found = call.input.get("cwd", call.input.get("workdir"))
    cwd = found if isinstance(found, str) and found else call.cwd
    words = call.input.get("args")
    if isinstance(command, str) and isinstance(words, (list, tuple)) and words:
        command = (command, *words)
    if isinstance(command, str) and command.strip():
        return Wish(ToolKind.RUN, listed, command=command, cwd=cwd)
    if isinstance(command, (list, tuple)) and command and all(isinstance(word, str) for word in command):
        return Wish(ToolKind.RUN, listed, argv=tuple(command), cwd=cwd)
    return Wish(ToolKind.RUN, listed, malformed=True)


def _write(paths: tuple[str, ...], listed: str) -> Wish:
    return Wish(ToolKind.WRITE, listed, paths=paths, malformed=not paths)


def _fetch(given: Mapping[str, Any], listed: str) -> Wish:
    url = given.get("url")
    return Wish(
        ToolKind.FETCH, listed, url=url if isinstance(url, str) else "", malformed=listed != "WebSearch" and not url
    )


def _without_shell(command: object, *, lines: bool = True) -> object:
    """Codex and its like hand every command to a shell of their own; what that shell reads is the command."""
    if isinstance(command, str) and lines:
        found = _SHELL_LINE.fullmatch(command.strip())
        return found.group(1).strip("'\"") if found else command
    if isinstance(command, (list, tuple)) and len(command) == 3 and all(isinstance(word, str) for word in command):
        shell, flag, script = command
        return script if _SHELLS.fullmatch(shell) and flag in {"-c", "-lc"} else command
    return command


def _paths_in(given: Mapping[str, Any]) -> Iterator[str]:
    """Give every path a call names, under any word for it; something else under such a word is no path at all."""
    for word in (*_PATH_WORDS, *_TARGET_WORDS):
        if given.get(word) is not None:
            value = given[word]
            yield from (_text(one) for one in (value if isinstance(value, (list, tuple)) else (value,)))


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _far_pattern(pattern: object) -> Iterator[str]:
    """Give a search pattern for names that leaves the tree by itself."""
    if isinstance(pattern, str) and (pattern.startswith(("/", "~")) or "../" in pattern) and "\\" not in pattern:
        yield pattern


def _codex_paths(given: Mapping[str, Any]) -> Iterator[str]:
    changes = given.get("changes", given.get("fileChanges", given.get("file_changes")))
    if isinstance(changes, Mapping):
        for path, change in changes.items():
            yield _text(path)
            yield from _moved(change)
    elif isinstance(changes, (list, tuple)):
        for change in changes:
            yield _text(change.get("path")) if isinstance(change, Mapping) else ""
            yield from _moved(change)
    for word in ("patch", "input"):
        if isinstance(given.get(word), str):
            yield from (path.strip() for path in _PATCH_LINE.findall(given[word]))


def _moved(change: object) -> Iterator[str]:
    """Give where a changed file goes, wherever the vendor writes it down."""
    if not isinstance(change, Mapping):
        return
    for holder in (change, change.get("kind"), change.get("update")):
        if isinstance(holder, Mapping):
            yield from (_text(holder[word]) for word in ("move_path", "movePath") if holder.get(word) is not None)


def _located(given: Mapping[str, Any]) -> Iterator[str]:
    locations = given.get("locations")
    if isinstance(locations, (list, tuple)):
        yield from (_text(one.get("path")) if isinstance(one, Mapping) else "" for one in locations)


def _diffed(given: Mapping[str, Any]) -> Iterator[str]:
    content = given.get("content")
    if isinstance(content, (list, tuple)):
        diffs = (one for one in content if isinstance(one, Mapping) and one.get("type") == "diff")
        yield from (_text(one.get("path")) for one in diffs)


_READERS: Final[dict[str, Callable[[ToolCall], Wish]]] = {"claude": _claude, "codex": _codex, "acp": _acp}
