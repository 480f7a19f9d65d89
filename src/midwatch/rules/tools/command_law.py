"""May this command run? Each simple command of it must be a plain reader or match an allowed pattern."""

import contextlib
import re
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Final

from midwatch.rules.budget.egress import HostRule
from midwatch.rules.tools import command_lists as lists
from midwatch.rules.tools.paths import in_scratch, judge_read, judge_write, place
from midwatch.rules.tools.shell_parser import LONGEST, Redirection, Simple, Unclear, split_commands
from midwatch.rules.tools.tool_case import ParsedCall, PartDecision, ToolFacts, ToolOutcome, allow, ask, deny
from midwatch.rules.tools.urls import judge_url
from midwatch.rules.tools.word_values import path_values
from midwatch.terms.agents import Errand
from midwatch.terms.visible import named

_ROUGH_WORD: Final = re.compile(r"[^\s;&|()<>`$\"'{}\\]+")
# Where a command may begin, also inside quotes and substitutions.
_STARTS: Final = re.compile(r"(?:^|[;&|(`{'\"\n]|\b(?:then|do|else|if|while|until)\s)\s*(?:\w+=\S*\s+)*")
_ASKABLE: Final = frozenset({"call.path_outside", "call.path_elsewhere"})
_MOST_COMMANDS: Final = 50
_JOINING: Final = frozenset({"", "\n", ";", "&&", "||", "|"})
"""What may join readers while planning; a command in the background is none of them."""
_PATTERN_BREAKS: Final = re.compile(r"[\s()]+|:\*")
_GIT_WILD: Final = frozenset("*?[")
_REMOVERS: Final = frozenset({"rm", "mv", "shred"})
_MAY_BEGIN_AN_OPTION: Final = frozenset("*?[-")


@dataclass(frozen=True, slots=True)
class _Case:
    """Where a simple command would run."""

    facts: ToolFacts
    cwd: str
    rules: tuple[HostRule, ...]


def judge_run(wish: ParsedCall, facts: ToolFacts, rules: tuple[HostRule, ...]) -> tuple[PartDecision, ...]:
    """Judge a command line; every finding below yes, or one yes."""
    cwd = place(wish.cwd or facts.root, facts)
    if cwd.relative is None:
        elsewhere = ask if in_scratch(cwd, facts) else deny
        return (elsewhere("call.run_elsewhere", path=named(wish.cwd), root=facts.root),)
    if wish.argv is not None:
        if sum(map(len, wish.argv)) > LONGEST:
            return (deny("call.run_too_long", most=LONGEST),)
        return _judge_all((Simple(wish.argv),), _Case(facts, cwd.absolute, rules))
    text = wish.command or ""
    if len(text) > LONGEST:
        return (deny("call.run_too_long", most=LONGEST),)
    try:
        commands = split_commands(text)
    except Unclear as unclear:
        return (_judge_unclear(text, str(unclear)),)
    return _judge_all(commands, _Case(facts, cwd.absolute, rules))


def is_own(wish: ParsedCall, facts: ToolFacts) -> bool:
    """Whether a call is one of the project's own checks or its setup, exactly as a person or the project wrote it."""
    if wish.argv is not None:
        return wish.argv in _own_argvs(facts)
    return " ".join((wish.command or "").split()) in {
        " ".join(own.split()) for own in facts.own_commands if own.strip()
    }


def _own_argvs(facts: ToolFacts) -> Iterator[tuple[str, ...]]:
    """The simple commands of the project's checks and setup; one that cannot be split counts only as a whole."""
    for own in facts.own_commands:
        with contextlib.suppress(Unclear):
            yield from (command.words for command in split_commands(own[:LONGEST]) if command.words)


def off_list(wish: ParsedCall, facts: ToolFacts, tools: tuple[str, ...]) -> Iterator[PartDecision]:
    """Give what a person's list of tools does not name; `Bash` alone names every command."""
    if "Bash" in tools:
        return
    try:
        commands = (Simple(wish.argv),) if wish.argv is not None else split_commands((wish.command or "")[:LONGEST])
    except Unclear as unclear:
        yield ask("call.run_unclear", why=str(unclear))
        return
    case = _Case(replace(facts, allowed_tools=tools), place(wish.cwd or facts.root, facts).absolute or facts.root, ())
    for command in commands:
        argv = _unwrapped(command.words)
        if argv and not _moves_to(command, commands, case):
            yield from _judge_match(argv, case)


def reads_strangers(wish: ParsedCall) -> bool:
    """Whether a command names a program that fetches from the web."""
    words = set(map(lists.basename, _rough_words(wish)))
    return not lists.FETCHERS.isdisjoint(words) or ("bun" in words and not lists.BUN_FETCHERS.isdisjoint(words))


def _rough_words(wish: ParsedCall) -> list[str]:
    text = " ".join(wish.argv) if wish.argv is not None else wish.command or ""
    return _ROUGH_WORD.findall(text[:LONGEST])


def _judge_unclear(text: str, why: str) -> PartDecision:
    """A line that cannot be split may still contain a command that is never allowed."""
    for start in _STARTS.finditer(text):
        words = _ROUGH_WORD.findall(text[start.end() : start.end() + 200])
        if what := _never_in(_unwrapped(tuple(words))):
            return deny("call.run_never", what=named(what))
    return ask("call.run_unclear", why=why)


def _judge_all(commands: Sequence[Simple], case: _Case) -> tuple[PartDecision, ...]:
    if not commands:
        return (allow("call.run_nothing"),)
    if len(commands) > _MOST_COMMANDS:
        return (ask("call.run_unclear", why="it is too long to be judged"),)
    found: list[PartDecision] = []
    for command in commands:
        found += _judge_one(command, commands, case)
        if moved := _moves_to(command, commands, case):
            case = replace(case, cwd=moved)
    if case.facts.errand is Errand.PLAN:
        found += _judge_planning(commands)
    return tuple(found) or (allow("call.run_allowed"),)


def _judge_planning(commands: Sequence[Simple]) -> Iterator[PartDecision]:
    """Planning allows only reading: plain readers, alone or one after the other."""
    if not all(_plainly_reads(command) for command in commands):
        yield deny("call.plan_only_reads")


def _plainly_reads(command: Simple) -> bool:
    plain = not command.redirections and not command.assignments and command.after in _JOINING
    return bool(plain and command.words and lists.only_looks(command.words))


def _judge_one(command: Simple, line: Sequence[Simple], case: _Case) -> Iterator[PartDecision]:
    argv = _unwrapped(command.words)
    if what := _never_in(argv):
        yield deny("call.run_never", what=named(what))
        return
    yield from (_judge_assignment(text) for text in command.assignments if not lists.HARMLESS_VARIABLES.fullmatch(text))
    for redirection in command.redirections:
        yield from _judge_redirection(redirection, case)
    if not argv or _moves_to(command, line, case):
        return
    if _means_other_words(command):
        yield ask("call.run_unclear", why="a wildcard could become a program, a verb or an option")
    before = len(command.words) - len(argv)
    yield from _judge_words(argv, case, {at - before for at in command.expands if at > before})
    yield from _judge_match(argv, case)


def _means_other_words(command: Simple) -> bool:
    """A file may be called `push` or `-o`, so a wildcard is taken for paths only where nothing else could be meant."""
    program = lists.basename(_unwrapped(command.words)[0])
    wild = [command.words[at] for at in command.expands]
    if 0 in command.expands or (wild and lists.basename(command.words[0]) in lists.LAUNCHERS):
        return True
    if program in lists.NEVER_WITH and not all("/" in word for word in wild):
        return True
    # The name of a file may be an option with its value; a value with a slash needs a folder called like that.
    options = [word for word in wild if word[:1] in _MAY_BEGIN_AN_OPTION]
    return bool(options) and (program not in lists.FIRST_WILD or any("/" in word for word in options))


def _unwrapped(words: tuple[str, ...]) -> tuple[str, ...]:
    """Look behind programs that only change how another one is run, in their plainest use."""
    while len(words) > 1 and lists.bare_name(words[0]) in lists.PLAIN_LAUNCHERS:
        rest = words[1:]
        if lists.bare_name(words[0]) == "timeout":
            rest = rest[1:] if re.fullmatch(r"[0-9]+(\.[0-9]+)?[smh]?", rest[0]) else ()
        if not rest or rest[0].startswith("-"):
            return words
        words = rest
    return words


def _never_in(argv: Sequence[str]) -> str:
    if what := lists.never_done(argv):
        return what
    if not argv:
        return ""
    program, rest = lists.basename(argv[0]), list(argv[1:])
    if program == "find":
        first = next((at for at, word in enumerate(rest) if word.startswith(("-exec", "-ok"))), len(rest))
        rest = rest[first:]
    elif program == "bun" and "exec" in rest:
        rest = rest[rest.index("exec") + 1 :]
    elif program not in lists.LAUNCHERS:
        return ""
    words = _ROUGH_WORD.findall(" ".join(rest))
    return next((what for at in range(len(words)) if (what := lists.never_done(words[at : at + 8]))), "")


def _judge_assignment(text: str) -> PartDecision:
    return ask("call.run_variable", name=named(text.partition("=")[0]))


def _judge_redirection(redirection: Redirection, case: _Case) -> Iterator[PartDecision]:
    if redirection.is_stream:
        return
    judge = judge_write if redirection.writes else judge_read
    if found := judge(redirection.target, case.facts, case.cwd):
        yield _softened(found)


def _softened(found: PartDecision) -> PartDecision:
    """A person may say yes to a command that writes elsewhere; to git's folder or what is forbidden, not."""
    return PartDecision(ToolOutcome.ASK, found.reason) if found.reason.code in _ASKABLE else found


def _moves_to(command: Simple, line: Sequence[Simple], case: _Case) -> str:
    """Give where a `cd` leads, when the rest of the line cannot run without it; empty for everything else."""
    if len(command.words) != 2 or command.words[0] != "cd" or command.redirections or command.expands:
        return ""
    joins = {one.after for one in line[:-1]} | {one.before for one in line[1:]}
    piped = command.before == "|" or command.after == "|"
    target = place(command.words[1], case.facts, case.cwd)
    firm = joins <= {"&&", "|"} and not piped and not command.words[1].startswith("-")
    return target.absolute if firm and target.relative is not None else ""


def _judge_words(argv: Sequence[str], case: _Case, expands: Set[int]) -> Iterator[PartDecision]:
    """Paths among the words: written ones are judged as writes, those outside the tree as reads."""
    written = tuple(_written(argv))
    if lists.bare_name(argv[0]) == "git" and any(path[:1] == ":" or not _GIT_WILD.isdisjoint(path) for path in written):
        yield ask("call.run_unclear", why="git itself reads a wildcard or a mark in one of its paths")
    yield from _judge_written(written, argv, case)
    for value in dict.fromkeys(path_values(argv, expands)):
        if value not in written and _is_far(value) and (found := judge_read(value, case.facts, case.cwd)):
            yield found
    if lists.bare_name(argv[0]) in lists.FETCHERS:
        yield from (found for word in argv[1:] if "://" in word and (found := judge_url(word, case.rules)))


def _judge_written(written: Sequence[str], argv: Sequence[str], case: _Case) -> Iterator[PartDecision]:
    for path in written:
        if found := judge_write(path, case.facts, case.cwd):
            yield _softened(found)
        elif not _GIT_WILD.isdisjoint(path) and _may_fit_closed(path, case.facts):
            yield ask("call.run_unclear", why="a wildcard could become a path that is not to be touched")
        elif _holds_closed(path, argv, case):
            yield ask("call.run_unclear", why=f"{named(path)} holds what is not to be touched")
    if lists.bare_name(argv[0]) == "git":
        yield from _judge_unnamed(argv, case)


def _judge_unnamed(argv: Sequence[str], case: _Case) -> Iterator[PartDecision]:
    """Judge what git would write without a path that surely names it: the whole tree, or a word that may be one."""
    whole = lists.git_whole(argv)
    if whole and _holds_closed(whole if whole == "." else case.facts.root, argv, case):
        yield ask("call.run_unclear", why="without a path it also changes what is not to be touched")
    for path in lists.git_may_write(argv):
        if path.startswith(":") or _holds_closed(path, argv, case):
            yield ask("call.run_unclear", why=f"{named(path)} may hold what is not to be touched")
        found = judge_write(path, case.facts, case.cwd)
        if found and found.reason.code in {"call.path_forbidden", "call.path_git"}:
            yield found


def _may_fit_closed(path: str, facts: ToolFacts) -> bool:
    """Whether a wildcard may become git's folder or a path that is not to be touched, as far as the names tell."""
    closed = [part for one in facts.do_not_touch for part in one.split("/") if part not in {"", "**"}]
    wild = [part for part in path.split("/") if not _GIT_WILD.isdisjoint(part)]
    fits = (fnmatchcase(name, part) for part in wild for name in closed)
    git = (fnmatchcase(".git", part) for part in wild if part.startswith((".", "[", "?")))
    return any(fits) or any(git) or any(not _GIT_WILD.isdisjoint(name) for name in closed)


def _holds_closed(path: str, argv: Sequence[str], case: _Case) -> bool:
    """Whether a folder that is written or removed as a whole has something in it that is not to be touched."""
    relative = place(path, case.facts, case.cwd).relative
    if relative == "":
        return bool(case.facts.do_not_touch) or lists.bare_name(argv[0]) in _REMOVERS
    return relative is not None and any(one.startswith(f"{relative}/") for one in case.facts.do_not_touch)


def _is_far(word: str) -> bool:
    parts = word.split("/")
    return "\n" not in word and "://" not in word and (word.startswith(("/", "~")) or ".." in parts)


def _written(argv: Sequence[str]) -> Iterator[str]:
    program = lists.bare_name(argv[0])
    if program == "git":
        yield from lists.git_written(argv)
    if program in lists.PATH_WRITERS:
        yield from lists.written_paths(argv)


def _judge_match(argv: Sequence[str], case: _Case) -> Iterator[PartDecision]:
    if tuple(argv) in _own_argvs(case.facts):
        return
    reads = any(tool in {"Read", "Bash"} for tool in case.facts.allowed_tools) or case.facts.errand is Errand.PLAN
    if reads and lists.only_looks(argv):
        return
    if _changes_meaning(argv):
        yield ask("call.run_changes_meaning", program=named(lists.bare_name(argv[0])))
    elif not _is_named(argv, case.facts.allowed_tools):
        yield ask("call.run_unlisted", command=named(" ".join(argv), 80))


def _changes_meaning(argv: Sequence[str]) -> bool:
    program = lists.bare_name(argv[0])
    shell = program in lists.SHELLS and any(word.startswith("-") for word in argv[1:])
    return program in lists.NEVER_MATCHED or lists.computes(argv) or shell


def _is_named(argv: Sequence[str], tools: Sequence[str]) -> bool:
    return listed((lists.bare_name(argv[0]), *argv[1:]), _naming(lists.runs_given_code(argv), tools))


def wholly_listed(line: str, tools: Sequence[str]) -> bool:
    """Whether patterns mean each simple command of a line that would run as it is written; `Bash` means every line."""
    if "Bash" in tools:
        return True
    try:
        commands = split_commands(line[:LONGEST])
    except Unclear:
        return False
    plain = not any(one.redirections or one.assignments or one.expands or not one.words for one in commands)
    named_ones = (not _changes_meaning(one.words) and _is_named(one.words, tools) for one in commands)
    return len(line) <= LONGEST and bool(commands) and plain and all(named_ones)


def _naming(word: str, tools: Sequence[str]) -> Iterator[str]:
    """Keep the patterns that contain a word literally: `bun *` does not mean `bun exec`, `bun exec *` does."""
    return (tool for tool in tools if not word or word in _PATTERN_BREAKS.split(tool))


_PATTERN: Final = re.compile(r"Bash\((.*)\)", re.DOTALL)


def listed(argv: Sequence[str], tools: Iterable[str]) -> bool:
    """Whether some pattern of settings execution.allowed_tools means this command."""
    return any(_fits(pattern, argv) for pattern in patterns(tools))


def patterns(tools: Iterable[str]) -> Iterator[tuple[str, ...]]:
    """Split the patterns for commands into words; other tools have none."""
    for tool in tools:
        if tool == "Bash":
            yield ("*",)
        elif found := _PATTERN.fullmatch(tool):
            text = found.group(1)
            yield tuple((text[:-2] + " *" if text.endswith(":*") else text).split())


def _fits(pattern: tuple[str, ...], argv: Sequence[str]) -> bool:
    """Each word of a pattern matches one word, and a lone star any number of them."""
    if _needs_its_name(argv) and tuple(argv[:2]) != pattern[:2]:
        return False
    reached = {0}
    for word in argv:
        stars = {at for at in _past_stars(reached, pattern) if at < len(pattern)}
        reached = {at if pattern[at] == "*" else at + 1 for at in stars if fnmatchcase(word, pattern[at])}
    return len(pattern) in _past_stars(reached, pattern)


def _past_stars(places: set[int], pattern: tuple[str, ...]) -> set[int]:
    reached = set(places)
    for at, word in enumerate(pattern):
        if at in reached and word == "*":
            reached.add(at + 1)
    return reached


def _needs_its_name(argv: Sequence[str]) -> bool:
    """Some verbs of git start programs or reach the network: `git *` does not mean them, `git fetch *` does."""
    if argv[0] != "git":
        return False
    verb, rest = lists.git_verb(argv)
    known = verb in lists.GIT_READERS | lists.GIT_WRITERS or (not rest and verb in {"", "--version", "help", "init"})
    return not known or lists.git_hazard(verb, rest)
