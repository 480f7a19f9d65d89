"""Entries of every kind for property tests: small pools of ids, so that events meet, and text as hostile as it gets."""

from datetime import UTC, datetime, timedelta
from typing import Any, get_args

from hypothesis import strategies as st
from pydantic import JsonValue

from midwatch.journal.entry import Entry
from midwatch.journal.events import Event
from midwatch.terms.acts import ActKind, Proposal
from midwatch.terms.contract import RunContract
from midwatch.terms.facts import Facts
from midwatch.terms.orders import OrderedWork, Orders
from midwatch.terms.report import Assumption, Brief, Evidence, EvidenceKind, Recommendation, Review
from midwatch.terms.trust import GateOutcome, Level, Reason, Verdict

KINDS: tuple[type[Event], ...] = get_args(Event)
EVENING = datetime(2026, 3, 1, 21, 0, tzinfo=UTC)
HOSTILE = (
    "\x1b[31mred\x1b[0m",
    "two\nlines\r\n\u2028three",
    "\u202egnp.exe",
    "\x1b]0;title\x07x",
    "zero\u200bwidth",
    "\x00\x07",
)

IDS = {
    "session": ("ses_a", "ses_b"),
    "job": ("job_a", "job_b"),
    "act": ("act_a", "act_b"),
    "ask": ("ask_a", "ask_b"),
    "run": ("run_a", "run_b"),
    "notice": ("ntc_a", "ntc_b"),
    "pull_request": ("pr_a", "pr_b"),
    "invocation": ("inv_a", "inv_b"),
    "mission": ("mis_a",),
    "item": ("work_a", "work_b"),
    "goal": ("goal_a",),
    "proposal": ("set_a",),
}

words = st.one_of(st.text(max_size=30), st.sampled_from(HOSTILE))
moments = st.datetimes(datetime(2026, 1, 1), datetime(2027, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001
fractions = st.floats(0, 1)
json_values: st.SearchStrategy[JsonValue] = st.one_of(st.none(), st.booleans(), st.integers(), words)
reasons = st.builds(Reason, code=words, text=words)

SPECIAL: dict[object, st.SearchStrategy[object]] = {
    datetime: moments,
    dict[str, JsonValue]: st.dictionaries(words, json_values, max_size=2),
    Facts: st.builds(Facts, now=moments, level=st.sampled_from(Level)),
    RunContract: st.builds(RunContract, project_id=words, mission_id=words, objective=words),
    Proposal: st.builds(Proposal, kind=st.sampled_from(ActKind), project=words, reason=words, message=words),
    Verdict: st.builds(Verdict, outcome=st.sampled_from(GateOutcome), reasons=st.tuples(reasons)),
    Orders: st.builds(
        Orders,
        level=st.sampled_from(Level),
        goals=st.tuples(words),
        work=st.tuples(st.builds(OrderedWork, project=words, title=words)),
    ),
    Evidence: st.builds(
        Evidence, id=words, kind=st.sampled_from(EvidenceKind), citation=words, origin=words, notes=words
    ),
    Assumption: st.builds(Assumption, id=words, statement=words, confidence=fractions),
    Review: st.builds(Review, usefulness=st.integers(1, 5), trust=st.integers(1, 5), brevity=st.integers(1, 5)),
    Brief: st.builds(Brief, headline=words, sections=st.just(()), words=st.integers(0, 400)),
    tuple[Recommendation, ...]: st.lists(
        st.builds(Recommendation, id=words, text=words, confidence=fractions), max_size=2
    ).map(tuple),
    str: words,
    int: st.integers(0, 9),
}
for known, strategy in SPECIAL.items():
    if isinstance(known, type) and known not in {str, int, datetime}:
        st.register_type_strategy(known, strategy)  # inside tuples and optional fields of events


def events_of(kind: type[Event]) -> st.SearchStrategy[Event]:
    """Events of one kind with every field filled."""
    fields: dict[str, st.SearchStrategy[Any]] = {}
    for name, field in kind.model_fields.items():
        annotation = field.annotation
        if name == "kind":
            continue
        if annotation is str and name in IDS:
            fields[name] = st.sampled_from(IDS[name])
        elif annotation == datetime | None:
            fields[name] = st.one_of(st.none(), moments)
        elif annotation in SPECIAL:
            fields[name] = SPECIAL[annotation]
        else:
            fields[name] = st.from_type(annotation)  # type: ignore[arg-type]
    return st.builds(kind, **fields)


events = st.sampled_from(KINDS).flatmap(events_of)


def as_entries(happened: list[Event], *, first: int = 1, step: timedelta = timedelta(minutes=1)) -> tuple[Entry, ...]:
    """Write events down one after the other."""
    return tuple(
        Entry(
            seq=first + i, at=EVENING + step * (first + i), actor="midwatch", key=f"k{first + i}", because=(), event=one
        )
        for i, one in enumerate(happened)
    )


journals = st.lists(events, max_size=25).map(as_entries)
