"""What the gate says in a few cases worth knowing by heart."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midwatch.rules.gate.gate import judge
from midwatch.terms.acts import ActKind
from midwatch.terms.facts import CouncilFacts, GateLimits
from midwatch.terms.trust import GateOutcome, Isolation, Level
from tests.rules.worlds import FACTS, NOW, THOROUGH, easy, levels, world_for


def test_a_cautious_stop_is_confirmed_in_five_minutes_or_not_done() -> None:
    verdict = judge(easy(ActKind.STOP), world_for(ActKind.STOP, level=Level.CAUTIOUS))
    assert (verdict.outcome, verdict.deadline_minutes, verdict.silence) == (GateOutcome.ASK_FIRST, 5, "not_done")


def test_a_merge_waits_until_tomorrow_is_over_and_then_goes_into_the_brief() -> None:
    verdict = judge(easy(ActKind.MERGE), FACTS)
    until = NOW.replace(hour=0) + timedelta(days=2)
    assert verdict.outcome is GateOutcome.ASK_FIRST
    assert verdict.deadline_minutes == (until - NOW) / timedelta(minutes=1)
    assert verdict.silence == "to_brief"


@pytest.mark.parametrize(
    ("isolation", "forced", "outcome"),
    [
        (Isolation.BUBBLEWRAP, False, GateOutcome.EXECUTE),
        (Isolation.LANDLOCK, False, GateOutcome.EXECUTE_AND_TELL),
        (Isolation.SEATBELT, False, GateOutcome.EXECUTE_AND_TELL),
        (Isolation.NONE, False, GateOutcome.SAY_ONLY),
        (Isolation.NONE, True, GateOutcome.EXECUTE_AND_TELL),
    ],
)
def test_weak_walls_cap_model_driven_agents_and_spare_the_housekeeper(
    isolation: Isolation, forced: bool, outcome: GateOutcome
) -> None:
    limits = FACTS.limits.model_copy(update={"forced_isolation": forced})
    facts = FACTS.model_copy(update={"isolation": isolation, "limits": limits})
    assert judge(easy(ActKind.START, agent="claude"), facts).outcome is outcome
    assert judge(easy(ActKind.START), facts).outcome is GateOutcome.EXECUTE


@THOROUGH
@given(levels, st.floats(0, 1))
def test_a_tainted_run_may_still_start_jobs_inside_its_scopes(level: Level, confidence: float) -> None:
    facts = FACTS.model_copy(update={"level": level})
    proposal = easy(
        ActKind.START, tool="repo_write_pr", paths=("src/a.py",), writes=True, tainted=True, confidence=confidence
    )
    clean = proposal.model_copy(update={"tainted": False})
    assert judge(proposal, facts) == judge(clean, facts)


@pytest.mark.parametrize(
    ("limits", "outcome"),
    [
        (GateLimits(), GateOutcome.EXECUTE),
        (GateLimits(objections_that_ask=1), GateOutcome.ASK_FIRST),
        (GateLimits(min_agreement=0.8), GateOutcome.ASK_FIRST),
        (GateLimits(min_confidence=0.9), GateOutcome.ASK_FIRST),
    ],
)
def test_the_council_weighs_what_the_settings_let_it_weigh(limits: GateLimits, outcome: GateOutcome) -> None:
    facts = world_for(ActKind.START, limits=limits, council=CouncilFacts(support=3, objections=1, silent=0))
    assert judge(easy(ActKind.START, ordered=True), facts).outcome is outcome


def test_guidance_and_decisions_wait_as_long_as_the_limits_say() -> None:
    limits = GateLimits(guidance_minutes=7, decision_minutes=8)
    unsure = judge(easy(ActKind.START, ordered=True, confidence=0.1), world_for(ActKind.START, limits=limits))
    merge = judge(easy(ActKind.MERGE), world_for(ActKind.MERGE, limits=limits))
    assert (unsure.deadline_minutes, merge.deadline_minutes) == (7, 8)
