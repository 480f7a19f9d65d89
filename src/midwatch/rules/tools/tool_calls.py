"""May this tool call happen? One law for every agent: allow, deny with a reason it can use, or ask a person."""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from midwatch.rules.paths import inside
from midwatch.rules.tools.command_law import is_own, judge_run, off_list, reads_strangers
from midwatch.rules.tools.paths import judge_read, judge_write, place
from midwatch.rules.tools.tool_case import (
    MOST_PATHS,
    ParsedCall,
    PartDecision,
    ToolCall,
    ToolFacts,
    ToolKind,
    ToolOutcome,
    ToolVerdict,
    allow,
    ask,
    deny,
)
from midwatch.rules.tools.urls import host_rules, judge_url
from midwatch.rules.tools.vocabulary import understood
from midwatch.rules.tools.walled_law import (
    judge_walled_read,
    judge_walled_run,
    judge_walled_url,
    judge_walled_write,
    reads_afar,
)
from midwatch.terms.agents import Errand
from midwatch.terms.english import reason
from midwatch.terms.trust import Level, Reason
from midwatch.terms.visible import named, visible

__all__ = ["ToolCall", "ToolFacts", "ToolKind", "ToolOutcome", "ToolVerdict", "decide", "shown"]

MOST_REASONS: Final = 5
_PLANNING: Final = frozenset({ToolKind.READ, ToolKind.SEARCH, ToolKind.REMEMBER, ToolKind.RUN})
_LISTED_KINDS: Final = frozenset({ToolKind.READ, ToolKind.SEARCH, ToolKind.WRITE, ToolKind.UNKNOWN})
"""What a list of tools can name; notes, helpers and the agent's own shells need no entry, and hosts have a list."""
_NAMES_FOR: Final = {
    "Write": frozenset({"Write"}),
    "Edit": frozenset({"Edit", "MultiEdit"}),
    "Grep": frozenset({"Grep"}),
    "Glob": frozenset({"Glob"}),
}


def decide(call: ToolCall, facts: ToolFacts) -> ToolVerdict:
    """Judge one tool call by its names, paths, command and address; no prose in it is read."""
    wish = understood(call)
    found = _found(wish, facts)
    worst = min(found, key=lambda one: one.outcome.reach)
    reasons = [one.reason for one in found if one.outcome is worst.outcome]
    outcome = worst.outcome
    if outcome is ToolOutcome.ASK and (closed := _why_not_asked(facts)):
        outcome, reasons = ToolOutcome.DENY, [*reasons[: MOST_REASONS - 1], closed]
    elif outcome is ToolOutcome.ASK:
        reasons = [*reasons[: MOST_REASONS - 1], reason("call.ask")]
    return ToolVerdict(
        outcome=outcome,
        kind=wish.kind,
        reasons=tuple(dict.fromkeys(reasons))[:MOST_REASONS],
        taints=outcome is not ToolOutcome.DENY and _taints(wish, facts),
        opens=tuple(dict.fromkeys(one.opens for one in found if one.opens and outcome is ToolOutcome.ASK)),
    )


def _taints(wish: ParsedCall, facts: ToolFacts) -> bool:
    """Whether it brings untrusted text; inside walls a package is run, not read, and loopback is the job's own."""
    if not facts.walled:
        return wish.kind is ToolKind.FETCH or (wish.kind is ToolKind.RUN and reads_strangers(wish))
    return wish.kind in {ToolKind.FETCH, ToolKind.UNKNOWN} or (wish.kind is ToolKind.RUN and reads_afar(wish))


def _found(wish: ParsedCall, facts: ToolFacts) -> tuple[PartDecision, ...]:
    if facts.errand is Errand.PLAN and wish.kind not in _PLANNING:
        return (deny("call.plan_only_reads"),)
    if wish.malformed:
        return (deny("call.malformed", tool=named(wish.tool)),)
    if wish.kind is ToolKind.RUN and facts.errand is not Errand.PLAN and is_own(wish, facts):
        return (allow("call.run_own"),)
    found = tuple(_LAWS[wish.kind](wish, facts))
    return (*found, *(one for tools in facts.narrowing for one in _off_list(wish, facts, tools)))


def _off_list(wish: ParsedCall, facts: ToolFacts, tools: tuple[str, ...]) -> Iterator[PartDecision]:
    """A list that a person wrote for this work binds at every isolation; a helper's calls are judged one by one."""
    if wish.kind is ToolKind.RUN:
        yield from off_list(wish, facts, tools)
    elif wish.kind in _LISTED_KINDS:
        relative = tuple(place(path, facts, wish.cwd).relative or "" for path in wish.paths[:MOST_PATHS])
        if not _listed(wish, tools, relative):
            yield ask("call.unlisted", tool=named(wish.tool))


def _why_not_asked(facts: ToolFacts) -> Reason | None:
    """No person is asked twice, nor at observe, nor for a run that read untrusted text, nor while planning."""
    if facts.denied_before:
        return reason("call.denied_before")
    if facts.level is Level.OBSERVE:
        return reason("call.observe")
    if facts.errand is Errand.PLAN:
        return reason("call.plan_only_reads")
    return reason("call.tainted") if facts.tainted else None


def _reading(wish: ParsedCall, facts: ToolFacts) -> Iterator[PartDecision]:
    """The tree may be read; while planning by every tool that reads, else by those on the list."""
    if facts.walled:
        yield from _by_path(wish, facts, judge_walled_read, "call.read_allowed")
        return
    if facts.errand is not Errand.PLAN and not _listed(wish, facts.allowed_tools, ()):
        yield ask("call.unlisted", tool=named(wish.tool))
    yield from _by_path(wish, facts, judge_read, "call.read_allowed")


def _writing(wish: ParsedCall, facts: ToolFacts) -> Iterator[PartDecision]:
    """Every path must lie inside the job's, and the tool must be on the list for them."""
    if facts.walled:
        yield from _by_path(wish, facts, judge_walled_write, "call.write_allowed")
        return
    yield from _by_path(wish, facts, judge_write, "call.write_allowed")
    relative = tuple(place(path, facts, wish.cwd).relative or "" for path in wish.paths[:MOST_PATHS])
    if not _listed(wish, facts.allowed_tools, relative):
        yield ask("call.unlisted", tool=named(wish.tool))


def _by_path(
    wish: ParsedCall, facts: ToolFacts, judge: Callable[[str, ToolFacts, str], PartDecision | None], allowed: str
) -> Iterator[PartDecision]:
    if len(wish.paths) > MOST_PATHS:
        yield deny("call.too_many_paths", most=MOST_PATHS)
        return
    yield from (found for path in wish.paths if (found := judge(path, facts, wish.cwd)))
    yield allow(allowed)


def _listed(wish: ParsedCall, tools: tuple[str, ...], paths: tuple[str, ...]) -> bool:
    """Whether a list of tools names the tool, by itself or for these paths."""
    names = _NAMES_FOR.get(wish.tool, frozenset({wish.tool}))
    return any(_names(pattern, names, paths) for pattern in tools)


def _names(pattern: str, names: frozenset[str], paths: tuple[str, ...]) -> bool:
    name, opened, scope = pattern.partition("(")
    if name not in names:
        return False
    scope = scope.removesuffix(")")
    return not opened or all(inside(path, (scope,)) for path in paths)


def _running(wish: ParsedCall, facts: ToolFacts) -> Iterator[PartDecision]:
    rules = host_rules(facts.allowed_domains)
    if not facts.walled:
        yield from judge_run(wish, facts, rules)
        return
    yield from judge_walled_run(wish, facts, rules)
    yield allow("call.run_allowed")


def _fetching(wish: ParsedCall, facts: ToolFacts) -> Iterator[PartDecision]:
    """The web is read only where the orders say, and what was read taints the run."""
    if facts.level is Level.OBSERVE:
        yield deny("call.fetch_observe")
    elif wish.tool == "WebSearch":
        known = any(_listed(wish, tools, ()) for tools in (facts.allowed_tools, *facts.narrowing))
        yield allow("call.fetch_allowed") if known else _no_search(wish, facts)
    else:
        judge = judge_walled_url if facts.walled else judge_url
        refused = judge(wish.url, host_rules(facts.allowed_domains))
        yield refused or allow("call.fetch_allowed")


def _no_search(wish: ParsedCall, facts: ToolFacts) -> PartDecision:
    """A search reads hosts that no list names; inside walls no person is asked about that."""
    return deny("call.search_unlisted") if facts.walled else ask("call.unlisted", tool=wish.tool)


def _delegating(_wish: ParsedCall, facts: ToolFacts) -> Iterator[PartDecision]:
    """A helper of the agent is held to the same law, call by call; untrusted text is not passed on."""
    yield (deny("call.tainted_delegate") if facts.tainted and not facts.walled else allow("call.delegate_allowed"))


def _harmless(_wish: ParsedCall, _facts: ToolFacts) -> Iterator[PartDecision]:
    yield allow("call.harmless")


def _asking_people(_wish: ParsedCall, _facts: ToolFacts) -> Iterator[PartDecision]:
    yield deny("call.no_questions")


def _widening(_wish: ParsedCall, _facts: ToolFacts) -> Iterator[PartDecision]:
    yield deny("call.widen")


def _unknown(wish: ParsedCall, facts: ToolFacts) -> Iterator[PartDecision]:
    """Inside walls an unknown tool reaches no further than the others."""
    known = facts.walled or _listed(wish, facts.allowed_tools, ())
    allowed = allow("call.walled")
    yield allowed if known else ask("call.unknown", tool=named(wish.tool) or "without a name")


_LAWS: Final[dict[ToolKind, Callable[[ParsedCall, ToolFacts], Iterator[PartDecision]]]] = {
    ToolKind.READ: _reading,
    ToolKind.SEARCH: _reading,
    ToolKind.WRITE: _writing,
    ToolKind.RUN: _running,
    ToolKind.TEND: _harmless,
    ToolKind.FETCH: _fetching,
    ToolKind.DELEGATE: _delegating,
    ToolKind.REMEMBER: _harmless,
    ToolKind.QUESTION: _asking_people,
    ToolKind.WIDEN: _widening,
    ToolKind.UNKNOWN: _unknown,
}


_OLD_AND_NEW: Final = (("old_string", "new_string"), ("old_source", "new_source"))
_WHOLE: Final = (("change", ""), ("moved_from", "moved from "), ("content", "+"), ("diff", ""))


def shown(call: ToolCall) -> str:
    """Show exactly what would run or change; nothing is cut, so that an approval covers all of it."""
    wish = understood(call)
    if wish.kind is ToolKind.RUN and not wish.malformed:
        return visible(_command(wish))
    if wish.kind is ToolKind.WRITE and not wish.malformed:
        return visible("\n".join((f"{call.tool} {', '.join(dict.fromkeys(wish.paths))}", *_changes(call.input))))
    if wish.kind is ToolKind.FETCH and wish.url:
        return visible(f"{call.tool} {wish.url}")
    return visible(f"{call.tool} {json.dumps(_plain(call.input), ensure_ascii=False, indent=2, sort_keys=True)}")


def _command(wish: ParsedCall) -> str:
    """Words no shell reads are quoted one by one, so that none can pretend to be two."""
    text = " ".join(json.dumps(word, ensure_ascii=False) for word in wish.argv or ()) or wish.command or ""
    # Further lines are marked as a shell marks them, so that none can pretend to be the folder.
    return "$ " + text.replace("\n", "\n> ") + (f"\nin {wish.cwd}" if wish.cwd else "")


def _changes(given: Mapping[str, Any]) -> Iterator[str]:
    """Give the edit as lines taken out and put in."""
    for old, new in _OLD_AND_NEW:
        yield from _marked("-", given.get(old))
        yield from _marked("+", given.get(new))
    for word, mark in _WHOLE:
        yield from _marked(mark, given.get(word))
    edits = given.get("edits")
    for edit in edits if isinstance(edits, (list, tuple)) else ():
        yield from _changes(edit) if isinstance(edit, Mapping) else ()


def _marked(mark: str, text: object) -> Iterator[str]:
    if isinstance(text, str) and text:
        yield from (f"{mark}{line}" for line in text.split("\n"))


def _plain(value: object) -> object:
    """Give a value that JSON can write, whatever the call contained."""
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return value if isinstance(value, (str, int, float, bool)) or value is None else repr(value)
