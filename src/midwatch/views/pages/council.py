"""What the council said about a decision: each of the four voices in its own words, beside what was decided."""

from collections.abc import Iterable, Sequence
from typing import Final

from midwatch.journal.entry import Entry
from midwatch.journal.events.session import ActJudged, CouncilSpoke, Opinion
from midwatch.terms.term import Term
from midwatch.views.text.names import Names
from midwatch.views.text.plain import clean, spaced
from midwatch.views.text.states import DECIDED

DECIDING: Final = ("council.spoke", "act.judged")
"""The two entries of a decision; they are always recorded together."""
STANCES: Final = {"support": "for", "object": "against", "silent": "no opinion"}


class VoiceShown(Term):
    """One voice: its stance and its words."""

    name: str
    stance: str
    words: str


class DecisionShown(Term):
    """One decision of a round, with every voice of the council."""

    seq: int
    round: int
    what: str
    verdict: str
    why: str
    voices: tuple[VoiceShown, ...]


def decisions_shown(entries: Sequence[Entry], names: Names) -> tuple[DecisionShown, ...]:
    """Show decisions, newest first: what was proposed, what each voice said, what the gate decided and why."""
    opinions = {one.event.act: one.event.opinions for one in entries if isinstance(one.event, CouncilSpoke)}
    return tuple(
        _decision(one.seq, one.event, opinions.get(one.event.act, ()), names)
        for one in reversed(entries)
        if isinstance(one.event, ActJudged)
    )


def _decision(seq: int, event: ActJudged, opinions: Iterable[Opinion], names: Names) -> DecisionShown:
    proposal, verdict = event.proposal, event.verdict
    where = names.projects.get(proposal.project)
    return DecisionShown(
        seq=seq,
        round=event.number,
        what=spaced(proposal.kind.value).capitalize() + (f" in {where}" if where else "") + _about(event),
        verdict=DECIDED[verdict.outcome],
        why=clean(verdict.first.text) if verdict.reasons else "",
        voices=tuple(
            VoiceShown(name=clean(one.voice, 40), stance=STANCES[one.stance], words=clean(one.words, 300))
            for one in opinions
        ),
    )


def _about(event: ActJudged) -> str:
    said = clean(event.proposal.reason, 160)
    return f": {said}" if said else ""
