import pytest
from hypothesis import given
from hypothesis import strategies as st

from midwatch.journal.events.session import ActJudged
from midwatch.rules.gate.act_groups import TOUCHING
from midwatch.rules.gate.gate import judge
from midwatch.rules.gate.rehearsal import Tally, rehearse
from midwatch.terms.acts import ActKind, Proposal, Proposer
from midwatch.terms.facts import CouncilFacts, Facts
from midwatch.terms.trust import GateOutcome, Level
from tests.rules.worlds import easy, levels, proposals, world_for, worlds


def recorded(proposal: Proposal, facts: Facts) -> ActJudged:
    return ActJudged(act="act", session="ses", number=1, proposal=proposal, facts=facts, verdict=judge(proposal, facts))


nights = st.lists(st.builds(recorded, proposals(), worlds()), max_size=8)


@given(nights)
def test_at_the_level_that_was_in_force_nothing_changes(night: list[ActJudged]) -> None:
    for one in night:
        told = rehearse([one], one.facts.level)
        assert not told.changed
        assert told.happened == told.would
        assert told.rows[0].then == told.rows[0].would


@pytest.mark.parametrize(
    "fact",
    [
        {"spin": 4},
        {"jobs_running": 6},
        {"free_memory_bytes": 0},
        {"in_session": False},
        {"contract": None},
        {"council": CouncilFacts(support=1, objections=3)},
    ],
    ids=lambda fact: next(iter(fact)),
)
def test_what_stood_in_the_way_then_stands_in_the_way_in_rehearsal(fact: dict[str, object]) -> None:
    start = easy(ActKind.START, writes=True, tool="repo_write_pr", paths=("src/a.py",))
    then = recorded(start, world_for(ActKind.START, level=Level.MODERATE, **fact))
    assert not then.verdict.outcome.acts
    for level in (Level.MODERATE, Level.FULL):
        assert rehearse([then], level).rows[0].would.code == then.verdict.first.code


@given(st.lists(st.builds(recorded, proposals(by=Proposer.BRAIN), worlds()), max_size=8))
def test_at_observe_nothing_is_touched(night: list[ActJudged]) -> None:
    for row in rehearse(night, Level.OBSERVE).rows:
        assert row.kind not in TOUCHING or not row.would.outcome.acts


@given(nights, levels)
def test_the_counts_add_up(night: list[ActJudged], level: Level) -> None:
    told = rehearse(night, level)
    for tally in (told.happened, told.would):
        assert tally.execute + tally.ask + tally.say + tally.refuse == len(night) == len(told.rows)
    assert told.would.execute - told.happened.execute <= told.more
    assert told.more + told.less <= len(told.changed)


def test_another_level_says_what_would_have_been_different_and_why() -> None:
    stop, wait = easy(ActKind.STOP), easy(ActKind.WAIT)
    night = [recorded(one, world_for(one.kind, level=Level.CAUTIOUS)) for one in (stop, wait)]
    told = rehearse(night, Level.FULL)
    assert told.happened == Tally(execute=1, ask=1)
    assert told.would == Tally(execute=2)
    assert (told.more, told.less) == (1, 0)
    (row,) = told.changed
    assert (row.kind, row.project, row.level) == (ActKind.STOP, "p", Level.CAUTIOUS)
    assert (row.then.outcome, row.then.reason) == (
        GateOutcome.ASK_FIRST,
        "At cautious, stop needs your approval first.",
    )
    assert (row.would.outcome, row.would.code) == (GateOutcome.EXECUTE, "gate.allowed")
    assert rehearse(night, Level.OBSERVE).less == 1
