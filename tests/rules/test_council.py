"""The council: four voices, each with a say that changes something."""

from typing import Any

import pytest
from hypothesis import given

from midwatch.rules.gate.council import Stance, Voice, deliberate, tally
from midwatch.rules.gate.gate import judge
from midwatch.terms.acts import WAITING, ActKind, Proposal
from midwatch.terms.facts import Budget, Budgets, Facts
from midwatch.terms.trust import GateOutcome
from tests.rules.worlds import FACTS, OLD_JOB, THOROUGH, easy, project, proposals, world_for, worlds

SHORT = {"free_memory_bytes": 0}


def stance(voice: Voice, proposal: Proposal, facts: Facts) -> Stance:
    return next(opinion.stance for opinion in deliberate(proposal, facts) if opinion.voice is voice)


@THOROUGH
@given(proposals(), worlds())
def test_every_voice_speaks_once_and_is_counted_once(proposal: Proposal, facts: Facts) -> None:
    opinions = deliberate(proposal, facts)
    counted = tally(opinions)
    assert [opinion.voice for opinion in opinions] == list(Voice)
    assert all(opinion.words for opinion in opinions)
    assert counted.support + counted.objections + counted.silent == 4
    assert opinions == deliberate(proposal, facts)
    if proposal.kind in WAITING:
        assert counted.silent == 4


CASES: list[tuple[Voice, Stance, Proposal, dict[str, Any]]] = [
    (Voice.STRATEGY, Stance.SUPPORT, easy(ActKind.START), {}),
    (Voice.STRATEGY, Stance.OBJECT, easy(ActKind.START, ordered=False), {}),
    (Voice.STRATEGY, Stance.SILENT, easy(ActKind.START, ordered=False, priority=1), {}),
    (Voice.STRATEGY, Stance.SILENT, easy(ActKind.SEARCH, ordered=False), {}),
    (Voice.EMPATHY, Stance.SUPPORT, easy(ActKind.START), {"quiet_hours": True}),
    (Voice.EMPATHY, Stance.OBJECT, easy(ActKind.MERGE), {"quiet_hours": True}),
    (Voice.EMPATHY, Stance.OBJECT, easy(ActKind.ASK_USER), {"quiet_hours": True}),
    (Voice.EMPATHY, Stance.SILENT, easy(ActKind.ASK_USER), {}),
    (Voice.EMPATHY, Stance.OBJECT, easy(ActKind.NOTIFY), {"budgets": Budgets(attention=Budget(spent=5, limit=5))}),
    (Voice.EMPATHY, Stance.OBJECT, easy(ActKind.ASK_USER), {"budgets": Budgets(attention=Budget(reserved=3, limit=9))}),
    (Voice.ANALYSIS, Stance.SUPPORT, easy(ActKind.START), {}),
    (Voice.ANALYSIS, Stance.SILENT, easy(ActKind.START, confidence=0.5), {}),
    (Voice.ANALYSIS, Stance.OBJECT, easy(ActKind.START, confidence=0.3), {}),
    (Voice.ANALYSIS, Stance.OBJECT, easy(ActKind.START), {"spin": 2}),
    (Voice.ANALYSIS, Stance.OBJECT, easy(ActKind.START), {"retries_of_cause": 2}),
    (Voice.ANALYSIS, Stance.OBJECT, easy(ActKind.START), {"project": project(retries_in_a_row=2)}),
    (Voice.ACTION, Stance.SUPPORT, easy(ActKind.START), {}),
    (Voice.ACTION, Stance.SILENT, easy(ActKind.NOTE), {}),
    (Voice.ACTION, Stance.OBJECT, easy(ActKind.START), SHORT),
    (Voice.ACTION, Stance.OBJECT, easy(ActKind.START), {"free_disk_bytes": 0}),
    (Voice.ACTION, Stance.OBJECT, easy(ActKind.START), {"jobs_running": 5}),
    (Voice.ACTION, Stance.OBJECT, easy(ActKind.START), {"project": project(job=OLD_JOB)}),
    (Voice.ACTION, Stance.OBJECT, easy(ActKind.STOP), {"project": project()}),
    (Voice.ACTION, Stance.SUPPORT, easy(ActKind.STOP), {}),
]


@pytest.mark.parametrize(("voice", "expected", "proposal", "changes"), CASES)
def test_each_voice_looks_at_its_own_facts(
    voice: Voice, expected: Stance, proposal: Proposal, changes: dict[str, Any]
) -> None:
    assert stance(voice, proposal, world_for(proposal.kind, **changes)) is expected


def test_two_objections_change_what_happens() -> None:
    proposal = easy(ActKind.START, ordered=False)
    facts = FACTS.model_copy(update={"retries_of_cause": 2})
    heard = facts.model_copy(update={"council": tally(deliberate(proposal, facts))})
    assert judge(proposal, facts).outcome is GateOutcome.EXECUTE
    assert judge(proposal, heard).outcome is GateOutcome.ASK_FIRST
