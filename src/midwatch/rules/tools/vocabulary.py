"""What a tool call means: every driver uses the terms of Claude's tools; only names, paths and commands are read."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from midwatch.rules.tools.tool_case import ParsedCall, ToolCall, ToolKind

_KINDS: Final[dict[str, ToolKind]] = {
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
    # Claude has no such tool; drivers say it for an agent that wants more than its own sandbox gives.
    "RequestPermissions": ToolKind.WIDEN,
}
_LISTED_AS: Final = {"NotebookRead": "Read", "LS": "Read", "MultiEdit": "Edit", "NotebookEdit": "Edit", "Task": "Agent"}
"""Tools that go by another's name in settings execution.allowed_tools."""
_PATH_WORDS: Final = ("file_path", "filePath", "filepath", "path", "abs_path", "notebook_path", "move_path", "movePath")
_TARGET_WORDS: Final = ("to", "destination", "new_path", "newPath", "dir_path", "paths", "files")


def understood(call: ToolCall) -> ParsedCall:
    """Say what a call means; an unrecognised one stays unknown."""
    kind = _KINDS.get(call.tool, ToolKind.UNKNOWN)
    given, listed = call.input, _LISTED_AS.get(call.tool, call.tool)
    cwd = _text(given.get("cwd"))
    if kind is ToolKind.RUN:
        return _run(given.get("command"), cwd)
    if kind is ToolKind.WRITE:
        paths = tuple(_paths_in(given))
        return ParsedCall(kind, listed, paths=paths, cwd=cwd, malformed=not paths)
    if kind in {ToolKind.READ, ToolKind.SEARCH}:
        pattern = given.get("pattern" if call.tool == "Glob" else "glob")
        return ParsedCall(kind, listed, paths=(*_paths_in(given), *_far_pattern(pattern)), cwd=cwd)
    if kind is ToolKind.FETCH:
        url = _text(given.get("url"))
        return ParsedCall(kind, listed, url=url, malformed=listed != "WebSearch" and not url)
    # A sub-agent in its own place would work where no call is judged.
    if kind is ToolKind.DELEGATE and given.get("isolation"):
        return ParsedCall(ToolKind.UNKNOWN, call.tool)
    return ParsedCall(kind, listed)


def _run(command: object, cwd: str) -> ParsedCall:
    """A text is read by a shell; a list of words is not."""
    if isinstance(command, str) and command.strip():
        return ParsedCall(ToolKind.RUN, "Bash", command=command, cwd=cwd)
    if isinstance(command, (list, tuple)) and command and all(isinstance(word, str) for word in command):
        return ParsedCall(ToolKind.RUN, "Bash", argv=tuple(command), cwd=cwd)
    return ParsedCall(ToolKind.RUN, "Bash", malformed=True)


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
