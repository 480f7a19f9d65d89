"""What an agent does, in readable lines: the same few words for every program, with the cost so far.

Two sources are woven together. The log has what the agent said and did, in order but without times. The journal has
what Midwatch decided, asked and paid, with times. A decision names the call exactly, so each is found beside its call.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from midwatch.journal.entry import Entry
from midwatch.journal.events.crew import AgentBegan, AgentEnded, AgentLimited, ModelCalled, ToolCallDecided
from midwatch.journal.events.signals import SignalAnswered, SignalSeen
from midwatch.terms.agents import (
    AgentEvent,
    PlanSpoken,
    Printed,
    ProviderRetried,
    RunBegan,
    Said,
    SignalKind,
    ToolEnded,
    ToolRequested,
)
from midwatch.terms.figures import dollars, many, some
from midwatch.terms.term import Term
from midwatch.views.pages.agent_calls import RUNS, CallWords, call_shown, last_lines, one_line
from midwatch.views.pages.job_line import Spent
from midwatch.views.text.plain import clean, harmless
from midwatch.views.text.states import AGENT_RUN_ENDED

KINDS: Final = (
    *("agent.began", "agent.ended", "agent.limited", "model.called", "tool_call.decided"),
    *("signal.seen", "signal.answered"),
)
"""The kinds of entries that belong to an agent's stream."""
LONGEST: Final = 4_000
LONGEST_PRINTED: Final = 2_000
MOST_FILES: Final = 5
MOST_OPEN: Final = 500
"""An agent that starts calls and never ends them is forgotten beyond this many."""
LogEvent = AgentEvent | Printed
Display = Callable[[str, Mapping[str, Any]], str]
"""Shows a call exactly as its decision was recorded."""
Key = tuple[str, str]


class Does(StrEnum):
    """What a line is about; the word is shown."""

    BEGAN = "began"
    SAID = "said"
    PRINTED = "printed"
    """Output of a program that follows no protocol."""
    PLANNED = "planned"
    READ = "read"
    SEARCHED = "searched"
    EDITED = "edited"
    RAN = "ran"
    EXIT = "exit"
    """How a command ended."""
    FETCHED = "fetched"
    USED = "used"
    ASKED = "asked"
    ANSWERED = "answered"
    REFUSED = "refused"
    FAILED = "failed"
    WAITS = "waits"
    ENDED = "ended"


class StreamLine(Term):
    """One line, ready to be shown; `text` may have several lines of its own."""

    does: Does
    text: str
    word: str = ""
    """The word in front of it; empty where the text stands for itself."""
    note: str = ""
    """A few more words about it, such as the size of an edit."""
    bad: bool = False
    at: datetime | None = None
    """When, where Midwatch knows it."""
    spent: str = ""
    """What the job cost so far, where it changed."""


def as_text(line: StreamLine) -> str:
    """Write a line as plain text; its time is UTC."""
    when = f"{line.at:%H:%M:%S}" if line.at else ""
    first, *rest = _pieces(line)
    return "".join([f"{when:8}  {line.word:8}  {first}".rstrip() + "\n", *(f"{'':20}{more}\n" for more in rest)])


def _pieces(line: StreamLine) -> list[str]:
    first, *rest = line.text.split("\n")
    spent = f"{line.spent} so far" if line.spent else ""
    return ["  ".join(part for part in (first, line.note, spent) if part), *rest]


class AgentStream:
    """Follows one log and its entries; what it keeps is built again by weaving the same lines again."""

    def __init__(self, display: Display, root: str = "") -> None:
        """`root` is the checkout's path inside the sandbox; paths below it are shown without it."""
        self._display = display
        self._root = root
        self._micros = 0
        self._told = ""
        self._run = Spent()
        self._running = self._planned = False
        self._open: dict[str, CallWords] = {}
        self._last = ""
        """The call that the last line was about."""
        self._when: dict[str, datetime | None] = {}
        self._undecided: dict[Key, str] = {}
        """Calls whose decision was not in the journal yet."""
        self._denied: dict[str, str] = {}
        self._asked: dict[Key, str] = {}

    def woven(
        self, events: Sequence[LogEvent], entries: Sequence[Entry], *, to_the_end: bool
    ) -> tuple[list[StreamLine], int]:
        """Show the events with the entries between them, and say how many entries were used.

        Entries whose place is not known yet are left for later, unless this is the end of the log so far.
        """
        lines: list[StreamLine] = []
        used = 0
        for event in events:
            upto, beside = self._place(event, entries, used)
            for entry in entries[used:upto]:
                lines += self._recorded(entry)
            used = upto + (beside is not None)
            lines += [self._costed(line) for line in self._happened(event, beside.at if beside else None)]
            if beside is not None and isinstance(event, ToolRequested):
                lines += self._recorded(beside, event.call)
        if to_the_end:
            for entry in entries[used:]:
                lines += self._recorded(entry)
            used = len(entries)
        return lines, used

    def _place(self, event: LogEvent, entries: Sequence[Entry], used: int) -> tuple[int, Entry | None]:
        """Return which entries come before this event, and the one that decides it."""
        rest = range(used, len(entries))
        match event:
            case ToolRequested():
                key = self._key(event)
                found = (
                    next((at for at in rest if _key_of(entries[at]) == key), None) if key not in self._asked else None
                )
                return (used, None) if found is None else (found, entries[found])
            case ToolEnded():  # of a call that a person was asked about: the answer came before
                keys = [key for key, call in self._asked.items() if call == event.call]
                return next((at + 1 for at in rest if _key_of(entries[at]) in keys), used), None
            case RunBegan():
                return _after(entries, used, AgentBegan), None
            case Printed() if self._planned:  # a program without a protocol ends with its plan, and is started again
                return self._begun(entries, _after(entries, used, AgentEnded)), None
            case _:
                return used if self._running else self._begun(entries, used), None

    def _begun(self, entries: Sequence[Entry], used: int) -> int:
        begins = used < len(entries) and isinstance(entries[used].event, AgentBegan)
        return used + 1 if begins else used

    def _key(self, event: ToolRequested) -> Key:
        """Name a call as its decision does; of several calls in one, each is decided, and the first is looked for."""
        several = event.input.get("calls")
        first = several[0] if isinstance(several, list) and several else None
        given = {name: value for name, value in first.items() if name != "tool"} if isinstance(first, dict) else None
        return event.tool, self._display(event.tool, event.input if given is None else given)

    def _recorded(self, entry: Entry, call: str = "") -> list[StreamLine]:
        """Show an entry; `call` is the call it decides, if that is in the log."""
        match entry.event:
            case ModelCalled() as event:
                self._pay(event)
                return []
            case AgentEnded() as event:
                return [self._end(event, entry.at)]
            case ToolCallDecided() as event:
                return self._decision(event, entry.at, call or self._undecided.pop((event.tool, event.shown), ""))
            case AgentBegan():
                self._running, self._run = True, Spent()
                return _noted(entry)
            case _:
                return _noted(entry)

    def _pay(self, event: ModelCalled) -> None:
        self._micros += event.usd_micros
        self._run = Spent(
            requests=self._run.requests + 1,
            tokens=self._run.tokens + event.tokens.total,
            usd_micros=self._run.usd_micros + event.usd_micros,
        )

    def _end(self, event: AgentEnded, at: datetime) -> StreamLine:
        self._running = self._planned = False
        self._open.clear()
        self._when.clear()
        self._undecided.clear()
        how = AGENT_RUN_ENDED.get(event.outcome.value, event.outcome.value)
        turns = (some(event.turns, "turn"),) if event.turns is not None else ()
        tokens = (f"{many(self._run.tokens)} tokens",) if self._run.requests else ()
        text = f"It {how}. {clean(event.why, 400)}".strip()
        fine = event.outcome.value == "ok"
        return self._costed(_line(Does.ENDED, text, ", ".join((*turns, *tokens)), bad=not fine, at=at))

    def _decision(self, event: ToolCallDecided, at: datetime, call: str) -> list[StreamLine]:
        key = (event.tool, event.shown)
        if call in self._open:
            self._when[call] = self._when[call] or at
        if event.verdict == "ask":
            self._asked[key] = call
            waits = self._open.get(call)
            what = waits.wish if waits else f"use {clean(event.tool, 60)}: {one_line(event.shown)}"
            return [_line(Does.ASKED, f"May it {what}?", clean(event.why, 300), at=at)]
        asked = self._asked.pop(key, None)
        if event.verdict == "deny":
            self._denied[call or asked or ""] = clean(event.why, 300)
        if asked is None and not event.by:
            return []
        said = f"{clean(event.by, 60)} says {'yes' if event.verdict == 'allow' else 'no'}"
        return [_line(Does.ANSWERED, said if event.by else clean(event.why, 300), at=at)]

    def _happened(self, event: LogEvent, at: datetime | None) -> list[StreamLine]:
        match event:
            case ToolRequested():
                return self._requested(event, at)
            case ToolEnded():
                return self._ended(event)
            case _:
                self._last = ""
                self._planned = self._planned or isinstance(event, PlanSpoken)
                return _spoken(event)

    def _requested(self, event: ToolRequested, at: datetime | None) -> list[StreamLine]:
        shown = call_shown(event.tool, event.input, self._root)
        if len(self._open) >= MOST_OPEN:
            self._when.pop(next(iter(self._open)), None)
            self._open.pop(next(iter(self._open)))
        self._open[event.call] = shown
        self._when[event.call] = at
        if at is None and len(self._undecided) < MOST_OPEN:
            self._undecided[self._key(event)] = event.call
        if shown.tool not in RUNS:
            return []  # it is quick, and shown when it has happened
        self._last = event.call
        return [_line(Does.RAN, shown.text, shown.note, at=at)]

    def _ended(self, event: ToolEnded) -> list[StreamLine]:
        call, why = self._open.pop(event.call, None), self._denied.pop(event.call, "")
        at = self._when.pop(event.call, None)
        apart, self._last = self._last != event.call, event.call
        if call is None:
            return [_exit(event, "")]
        if call.tool in RUNS:
            of = f"{call.text}\n" if apart else ""  # another line came between the command and its end
            return [_line(Does.REFUSED, of + why, bad=True) if why else _exit(event, of)]
        if why or not event.ok:
            does = Does.REFUSED if why else Does.FAILED
            return [_line(does, f"to {call.wish}", why or last_lines(event.summary, 1), bad=True, at=at)]
        return [_line(Does(call.does), call.text, call.note, at=at)]

    def _costed(self, line: StreamLine) -> StreamLine:
        """Add the cost so far, if it changed since the last line that had it."""
        cost = dollars(self._micros) if self._micros else ""
        if cost == self._told:
            return line
        self._told = cost
        return line.model_copy(update={"spent": cost})


def _after(entries: Sequence[Entry], used: int, kind: type[AgentBegan | AgentEnded]) -> int:
    """Return the place after the next entry of a kind; where it is if there is none."""
    return next((at + 1 for at in range(used, len(entries)) if isinstance(entries[at].event, kind)), used)


def _key_of(entry: Entry) -> Key | None:
    return (entry.event.tool, entry.event.shown) if isinstance(entry.event, ToolCallDecided) else None


def _noted(entry: Entry) -> list[StreamLine]:
    """Show an entry that stands for itself."""
    match entry.event:
        case AgentBegan() as event:
            with_model = f" with {clean(event.model, 80)}" if event.model else ""
            who = " ".join(part for part in (clean(event.agent, 60), clean(event.version, 60)) if part)
            return [_line(Does.BEGAN, f"{who} to {event.errand.value}{with_model}", at=entry.at)]
        case AgentLimited() as event:
            until = f" until {event.resets_at:%H:%M} UTC" if event.resets_at else ""
            text = f"the {clean(event.limit, 60)} limit of {clean(event.provider, 60)} is reached{until}"
            return [_line(Does.WAITS, text, at=entry.at)]
        case SignalSeen(says=SignalKind.NEEDS_INPUT, refused="") as event:
            return [_line(Does.ASKED, clean(event.text, 600), at=entry.at)]
        case SignalAnswered() as event:
            return [_line(Does.ANSWERED, f"{clean(event.by, 60)}: {clean(event.answer, 600)}", at=entry.at)]
        case _:
            return []


def _spoken(event: LogEvent) -> list[StreamLine]:
    """Show what an agent said or printed, and what its program reports of itself."""
    match event:
        case Printed():
            return [StreamLine(does=Does.PRINTED, text=_cut(event.text, LONGEST_PRINTED))]
        case Said() if event.text.strip():
            return [_line(Does.SAID, _cut(event.text, LONGEST))]
        case PlanSpoken():
            return [_planned(event)]
        case ProviderRetried():
            status = f" ({event.status})" if event.status else ""
            text = f"for its model's provider{status}, attempt {event.attempt}. {clean(event.error, 200)}".rstrip()
            return [_line(Does.WAITS, text)]
        case _:
            return []


def _line(does: Does, text: str, note: str = "", *, bad: bool = False, at: datetime | None = None) -> StreamLine:
    return StreamLine(does=does, word=does.value, text=text, note=note, bad=bad, at=at)


def _planned(event: PlanSpoken) -> StreamLine:
    plan: Mapping[str, object] = event.structured or {}
    files = plan.get("files")
    names = [clean(str(one), 80) for one in files[:MOST_FILES]] if isinstance(files, list) else []
    more = " …" if isinstance(files, list) and len(files) > MOST_FILES else ""
    return _line(Does.PLANNED, clean(str(plan.get("summary") or event.text), 600), ", ".join(names) + more)


def _exit(event: ToolEnded, of: str) -> StreamLine:
    code = event.exit_code if event.exit_code is not None else 0 if event.ok else None
    word = "failed" if code is None else f"exit {code}"
    text = of + last_lines(event.summary, 3)
    return StreamLine(does=Does.EXIT, word=word, text=text.rstrip("\n"), bad=code != 0)


def _cut(text: str, most: int) -> str:
    plain = harmless(text).strip("\n")
    left = len(plain) - most
    return plain if left <= 0 else f"{plain[:most].rstrip()} … ({left:,} more characters in the raw log)"
