"""The law inside strong walls: every call runs, except what the walls or the orders forbid and the text shows."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

from midwatch.rules.budget.egress import HostRule
from midwatch.rules.paths import inside
from midwatch.rules.tools import command_lists as lists
from midwatch.rules.tools.paths import (
    HARMLESS_DEVICES,
    ResolvedPath,
    holds_secrets,
    is_forbidden,
    is_git_inside,
    place,
    resolved,
    under,
)
from midwatch.rules.tools.program_words import NETWORK, addresses_of, read_by, started_by, written_by
from midwatch.rules.tools.rough_shell import HOLE, RoughCommand, TooDeep, read_roughly
from midwatch.rules.tools.shell_parser import Redirection
from midwatch.rules.tools.tool_case import ParsedCall, PartDecision, ToolFacts, ToolOutcome, deny
from midwatch.rules.tools.urls import judge_url
from midwatch.terms.english import reason
from midwatch.terms.visible import named

LONGEST: Final = 100_000
"""No person reads it before it runs, so it may hold the text of a whole file."""
MOST_COMMANDS: Final = 1_000
ENDERS: Final = frozenset({"kill", "pkill", "killall"})
"""They end only processes of the job: it has a process namespace of its own."""
_CLOSED: Final = ("/proc", "/sys")
_SOCKETS: Final = ("/dev/tcp", "/dev/udp")
_STREAMS: Final = ("/dev/fd", "/dev/pts", "/dev/shm")  # noqa: S108 - inside, they are the job's own
_GLOB: Final = frozenset("*?[")
_AFAR: Final = frozenset({"fetch", "pull", "clone", "ls-remote", "fetch-pack", "archive"})
_REMOVERS: Final = frozenset({"rm", "mv", "shred"})


@dataclass(frozen=True, slots=True)
class _Walls:
    """What a command meets."""

    facts: ToolFacts
    rules: tuple[HostRule, ...]
    cwd: str
    """Empty where only a shell can know it."""


def judge_walled_run(wish: ParsedCall, facts: ToolFacts, rules: tuple[HostRule, ...]) -> Iterator[PartDecision]:
    """Give everything against a command line; nothing where it may run."""
    size = sum(map(len, wish.argv)) if wish.argv is not None else len(wish.command or "")
    if size > LONGEST:
        yield deny("call.run_too_long", most=LONGEST)
        return
    start = place(wish.cwd or facts.root, facts).absolute or facts.root
    walls = _Walls(facts, rules, start)
    try:
        commands = commands_of(wish)
        if len(commands) > MOST_COMMANDS:
            yield deny("call.run_too_long", most=LONGEST)
            return
        yield from _judge_line(commands, walls)
    except TooDeep:
        yield deny("call.run_too_deep")


def commands_of(wish: ParsedCall) -> tuple[RoughCommand, ...]:
    """Give the simple commands of a call, as far as its text shows them."""
    return (RoughCommand(wish.argv),) if wish.argv is not None else read_roughly(wish.command or "")


def _judge_line(commands: Sequence[RoughCommand], walls: _Walls) -> Iterator[PartDecision]:
    """Judge each command in the folder that the commands before it lead to."""
    folders = {0: walls.cwd}
    for command in commands:
        folders = {depth: cwd for depth, cwd in folders.items() if depth <= command.depth}
        cwd = folders[max(folders)]
        yield from _judge_command(command, replace(walls, cwd=cwd))
        if command.words[:1] in {("cd",), ("pushd",)}:
            folders[command.depth] = _moved(command.words, replace(walls, cwd=cwd))


def _moved(words: Sequence[str], walls: _Walls) -> str:
    """Where a `cd` leads; empty where its text does not say it."""
    target = words[1] if len(words) > 1 else "~"
    if target.startswith("-") or HOLE in target or (not walls.cwd and not target.startswith(("/", "~"))):
        return ""
    return place(target, walls.facts, walls.cwd).absolute


def _judge_command(command: RoughCommand, walls: _Walls, behind: int = 0) -> Iterator[PartDecision]:
    for redirection in command.redirections:
        yield from _judge_redirection(redirection, walls)
    if not command.words or not command.words[0]:
        return
    if what := _never(command.words):
        yield what
        return
    started = started_by(command)
    if started and behind < 5:
        for one in started:
            yield from _judge_command(one, walls, behind + 1)
        return
    yield from _judge_words(command.words, walls)


def _judge_words(words: Sequence[str], walls: _Walls) -> Iterator[PartDecision]:
    written = tuple(written_by(words))
    removes = lists.basename(words[0]) in _REMOVERS
    yield from (found for path in written if (found := _judge_path(path, walls, removes=removes)))
    for path in lists.git_may_write(words) if lists.basename(words[0]) == "git" else ():
        found = _judge_path(path, walls)
        if found and found.reason.code in {"call.path_forbidden", "call.path_git"}:
            yield found
    for word in read_by(words):
        if word not in written and _looks_like_a_path(word) and (found := _judge_reading(word, walls)):
            yield found
    if lists.basename(words[0]) in NETWORK:
        yield from (found for url in addresses_of(words) if (found := judge_walled_url(url, walls.rules)))


def _looks_like_a_path(word: str) -> bool:
    plain = "://" not in word and not any(one.isspace() for one in word)
    return plain and (word.startswith(("/", "~")) or ".." in word.split("/"))


def _never(words: Sequence[str]) -> PartDecision | None:
    """What no agent does, walls or not: becoming another user, other machines, publishing."""
    # What a shell puts in may be nothing.
    bare = [word.replace(HOLE, "") for word in words if set(word) != {HOLE}]
    return _never_plainly(words) or (_never_plainly(bare) if bare and bare != list(words) else None)


def _never_plainly(words: Sequence[str]) -> PartDecision | None:
    program = lists.basename(words[0])
    if program in ENDERS:
        return None
    if program == "git":
        if afar := _git_afar(words):
            return deny("call.run_afar", what=named(afar))
        what = _git_never(words)
        return deny("call.run_never", what=named(what)) if what else None
    what = lists.never_done(words)
    return deny("call.run_never", what=named(what)) if what else None


def _git_never(words: Sequence[str]) -> str:
    """As everywhere; but the home is the job's own, and so are git's settings there."""
    verb, rest = lists.git_verb(words, everything=True)
    reads = verb == "remote" and (rest[:1] == ("get-url",) or rest == ("show",))
    what = "" if reads else lists.never_done(words)
    return "" if what.endswith("--global") else what


def _git_afar(words: Sequence[str]) -> str:
    """Name a verb of git that reaches another machine; a repository on this disk is none."""
    verb, rest = lists.git_verb(words, everything=True)
    if verb in {"push", "send-pack"}:
        return f"git {verb}"
    if verb == "submodule" and {"update", "add"} & set(rest):
        return "git submodule"
    if verb == "lfs" and {"push", "pull", "fetch"} & set(rest[:1]):
        return "git lfs"
    if verb not in _AFAR or (verb == "archive" and not any(word.startswith("--remote") for word in rest)):
        return ""
    sources = [word for word in rest if not word.startswith("-")]
    afar = any("::" in word or ("://" in word and not word.startswith("file:///")) or "@" in word for word in sources)
    here = any(word.startswith((".", "/", "~", "file:///")) for word in sources)
    return f"git {verb}" if afar or not here else ""


def _judge_redirection(redirection: Redirection, walls: _Walls) -> Iterator[PartDecision]:
    if redirection.is_stream or redirection.operator == "<<<":
        return
    judge = _judge_path if redirection.writes else _judge_reading
    if found := judge(redirection.target, walls):
        yield found


def _judge_path(path: str, walls: _Walls, *, removes: bool = False) -> PartDecision | None:
    """Judge a path that a command names to be written; of one with a hole, the part that shows."""
    facts = walls.facts
    if path in {"", "-"}:
        return None
    shown, git = named(path.replace(HOLE, "$")), _names_git(path)
    if HOLE in path:
        path = path.partition(HOLE)[0].rpartition("/")[0]
    if not path or (not walls.cwd and not path.startswith(("/", "~"))):
        return deny("call.path_git", path=shown) if git else None
    if git and place(path, facts, walls.cwd).relative is not None:  # a repository in scratch is the agent's own
        return deny("call.path_git", path=shown)
    found = judge_walled_write(path, facts, walls.cwd)
    at_top = place(path, facts, walls.cwd).relative == ""
    if at_top:  # only what removes the tree itself takes git's folder with it
        return deny("call.path_git", path=named(path)) if removes else None
    return found


def _names_git(path: str) -> bool:
    """Whether some part is git's own folder, also by a wildcard that fits it."""
    parts = path.split("/")
    wild = (part for part in parts if part.startswith(".") and not _GLOB.isdisjoint(part))
    return is_git_inside(path) or any(fnmatchcase(".git", part) for part in wild)


def judge_walled_write(path: str, facts: ToolFacts, cwd: str = "") -> PartDecision | None:
    """The tree, scratch and home may be written, but not git's folder, nor what the orders close."""
    found = place(path, facts, cwd)
    if not found.absolute:
        return deny("call.path_unclear", path=named(path) or "An empty path")
    if found.relative is None:
        return _judge_outside(found, path, facts)
    shown = named(found.relative) or facts.root
    if is_git_inside(found.relative):
        return deny("call.path_git", path=shown)
    if is_forbidden(found.relative, facts):
        return deny("call.path_forbidden", path=shown)
    return _judge_scope(found.relative, facts)


def _judge_outside(found: ResolvedPath, path: str, facts: ToolFacts) -> PartDecision | None:
    own = tuple(resolved(folder) for folder in (*facts.scratch, facts.home))
    if found.absolute in HARMLESS_DEVICES or under(found.absolute, (*own, *_STREAMS)):
        return None
    return deny("call.path_beyond", path=named(path), root=facts.root, scratch=facts.scratch[0] if own[1:] else "home")


def _judge_scope(relative: str, facts: ToolFacts) -> PartDecision | None:
    """Outside the orders' paths nothing is written; inside them, but outside the work's, a person is asked."""
    if relative in facts.opened:
        return None
    if not inside(relative, facts.allowed_paths):
        scope = ", ".join(facts.work_paths or facts.allowed_paths) or "none"
        return deny("call.path_outside", path=named(relative), scope=named(scope))
    if facts.work_paths and not inside(relative, facts.work_paths):
        scope = named(", ".join(facts.work_paths))
        opens = "" if set(relative) & _GLOB else relative
        return PartDecision(ToolOutcome.ASK, reason("call.path_outside", path=named(relative), scope=scope), opens)
    return None


def _judge_reading(path: str, walls: _Walls) -> PartDecision | None:
    if HOLE in path:
        path = path.partition(HOLE)[0]
    if not path or (not walls.cwd and not path.startswith(("/", "~"))):
        return None
    return judge_walled_read(path, walls.facts, walls.cwd)


def judge_walled_read(path: str, facts: ToolFacts, cwd: str = "") -> PartDecision | None:
    """Secrets and the machine's own folders are not read; anything else outside is simply not there."""
    found = place(path, facts, cwd)
    if found.absolute and found.relative is None and holds_secrets(found.absolute):
        return deny("call.path_secret", path=named(path))
    if under(found.absolute, (*_CLOSED, *_SOCKETS)):
        return deny("call.path_machinery", path=named(path))
    return None


def judge_walled_url(url: str, rules: Iterable[HostRule]) -> PartDecision | None:
    """Listed hosts and the sandbox's own loopback are reached; an address that only a shell knows meets the proxy."""
    host = _host_in(url)
    if host is None or is_loopback(host):
        return None
    return judge_url(url.partition(HOLE)[0], rules)


def _host_in(url: str) -> str | None:
    """The host of an address; nothing where a part of it is only known to a shell."""
    try:
        parts = urlsplit(url.replace(HOLE, "\ue000"))
        host = parts.hostname or ""
    except ValueError:
        return ""
    return None if "\ue000" in parts.netloc or url.startswith(HOLE) else host


def is_loopback(host: str) -> bool:
    """Whether a host is the sandbox itself."""
    name = host.rstrip(".").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        address = ip_address(name)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def reads_afar(wish: ParsedCall) -> bool:
    """Whether a command may bring text from another machine into the run."""
    try:
        commands = list(commands_of(wish))
    except TooDeep:
        return True
    while commands:
        command = commands.pop()
        commands += started_by(command)[:MOST_COMMANDS]
        if command.words and lists.basename(command.words[0]) in NETWORK:
            hosts = [_host_in(url) for url in addresses_of(command.words)]
            if any(host is None or not is_loopback(host) for host in hosts):
                return True
    return False
