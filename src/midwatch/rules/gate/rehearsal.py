"""What another level would have done with proposals that were really made (X13): the same gate, the recorded facts."""

from collections.abc import Iterable

from midwatch.journal.events.session import ActJudged
from midwatch.rules.gate.gate import judge
from midwatch.terms.acts import ActKind
from midwatch.terms.term import Term
from midwatch.terms.trust import GateOutcome, Level, Verdict


class RehearsedVerdict(Term):
    """An answer of the gate with its deciding reason."""

    outcome: GateOutcome
    code: str
    reason: str


class RehearsedAct(Term):
    """One proposal: what the gate said then and what it would say."""

    act: str
    session: str
    round: int
    kind: ActKind
    project: str
    level: Level
    then: RehearsedVerdict
    would: RehearsedVerdict
    changed: bool


class Tally(Term):
    """How many proposals got each answer."""

    execute: int = 0
    ask: int = 0
    say: int = 0
    refuse: int = 0


class Rehearsal(Term):
    """A stretch of nights at another level."""

    level: Level
    rows: tuple[RehearsedAct, ...]
    happened: Tally
    would: Tally
    more: int
    """Acts that would have got further without a person than they did."""
    less: int
    """Acts that would not have got as far."""

    @property
    def changed(self) -> tuple[RehearsedAct, ...]:
        """Only what would have been different."""
        return tuple(row for row in self.rows if row.changed)


def rehearse(judged: Iterable[ActJudged], level: Level) -> Rehearsal:
    """Judge every recorded proposal again as if this level had been in force.

    Each proposal is taken by itself: what an act that would have run might have led to is not guessed.
    """
    rows = tuple(_again(one, level) for one in judged)
    return Rehearsal(
        level=level,
        rows=rows,
        happened=_tally([row.then.outcome for row in rows]),
        would=_tally([row.would.outcome for row in rows]),
        more=sum(row.would.outcome.reach > row.then.outcome.reach for row in rows),
        less=sum(row.would.outcome.reach < row.then.outcome.reach for row in rows),
    )


def _again(event: ActJudged, level: Level) -> RehearsedAct:
    would = judge(event.proposal, event.facts.model_copy(update={"level": level}))
    return RehearsedAct(
        act=event.act,
        session=event.session,
        round=event.number,
        kind=event.proposal.kind,
        project=event.proposal.project,
        level=event.facts.level,
        then=_said(event.verdict),
        would=_said(would),
        changed=would.outcome is not event.verdict.outcome,
    )


def _said(verdict: Verdict) -> RehearsedVerdict:
    return RehearsedVerdict(outcome=verdict.outcome, code=verdict.first.code, reason=verdict.first.text)


def _tally(outcomes: list[GateOutcome]) -> Tally:
    return Tally(
        execute=sum(outcome.acts for outcome in outcomes),
        ask=outcomes.count(GateOutcome.ASK_FIRST),
        say=outcomes.count(GateOutcome.SAY_ONLY),
        refuse=outcomes.count(GateOutcome.REFUSE),
    )
