"""Laws of the gate that hold for any proposal in any world."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest
from hypothesis import assume, event, given
from hypothesis import strategies as st

from midwatch.rules.gate.gate import CONDITIONS, judge
from midwatch.terms.acts import ActKind, Proposal, Proposer, Source
from midwatch.terms.english import TEXT
from midwatch.terms.facts import Budget, Budgets, Facts, ProjectFacts
from midwatch.terms.trust import GateOutcome, Isolation, Level, Verdict
from tests.rules.worlds import FACTS, NOW, THOROUGH, easy, kinds, levels, policy, proposals, world_for, worlds

# SPEC 8 written down a second time, by hand, so that a slip in the code's table shows.
X, T, A, S, NO = (
    GateOutcome.EXECUTE,
    GateOutcome.EXECUTE_AND_TELL,
    GateOutcome.ASK_FIRST,
    GateOutcome.SAY_ONLY,
    GateOutcome.REFUSE,
)
RULES_1 = {
    "skip reflect wait sleep report note ask_user notify search research": (X, X, X, X),
    "update_work_item start start_run": (S, T, X, X),
    "stop resolve delegate schedule": (S, A, T, X),
    "restart": (S, A, X, X),
    "create_project": (S, A, A, T),
    "merge": (A, A, A, A),
    "push_protected deploy pay mail_strangers": (NO, NO, NO, NO),
}
TABLE = {
    (name, level): outcome
    for names, row in RULES_1.items()
    for name in names.split()
    for level, outcome in zip(("observe", "cautious", "moderate", "full"), row, strict=True)
}
WEB_TABLE = {"observe": S, "cautious": X, "moderate": X, "full": X}


def written_down(proposal: Proposal, level: Level) -> GateOutcome:
    if proposal.kind.value in {"search", "research"} and proposal.source not in {
        Source.REPO,
        Source.DOCS,
        Source.MEMORY,
    }:
        return WEB_TABLE[level.value]
    if proposal.kind.value == "notify" and level is Level.OBSERVE and proposal.tier < 3:
        return S
    return TABLE[proposal.kind.value, level.value]


def test_the_table_speaks_of_every_act_at_every_level() -> None:
    assert set(TABLE) == {(kind.value, level.value) for kind in ActKind for level in Level}


@pytest.mark.parametrize("level", Level)
@pytest.mark.parametrize("kind", ActKind)
def test_in_an_easy_world_the_gate_is_the_table(kind: ActKind, level: Level) -> None:
    proposal = easy(kind)
    assert judge(proposal, world_for(kind, level=level)).outcome is written_down(proposal, level)


@pytest.mark.parametrize("level", Level)
@pytest.mark.parametrize("source", [*Source, None])
@pytest.mark.parametrize("kind", [ActKind.SEARCH, ActKind.RESEARCH])
def test_the_web_is_not_searched_at_observe(kind: ActKind, source: Source | None, level: Level) -> None:
    proposal = easy(kind, source=source)
    assert judge(proposal, world_for(kind, level=level)).outcome is written_down(proposal, level)


@THOROUGH
@given(proposals(by=Proposer.BRAIN), worlds())
def test_nothing_above_the_level_executes(proposal: Proposal, facts: Facts) -> None:
    verdict = judge(proposal, facts)
    event(f"outcome {verdict.outcome}")
    assert verdict.outcome.reach <= written_down(proposal, facts.level).reach


@THOROUGH
@given(proposals(), worlds(), levels, levels)
def test_a_lower_level_never_does_more(proposal: Proposal, facts: Facts, one: Level, other: Level) -> None:
    lower, higher = sorted((one, other), key=lambda level: level.rank)
    at_lower = judge(proposal, facts.model_copy(update={"level": lower})).outcome
    at_higher = judge(proposal, facts.model_copy(update={"level": higher})).outcome
    assert at_lower.reach <= at_higher.reach


@THOROUGH
@given(proposals(by=Proposer.PERSON), worlds(), levels)
def test_a_persons_command_ignores_the_level(proposal: Proposal, facts: Facts, level: Level) -> None:
    assert judge(proposal, facts) == judge(proposal, facts.model_copy(update={"level": level}))


@THOROUGH
@given(proposals(by=Proposer.PERSON), worlds())
def test_a_persons_command_is_done_or_refused_and_never_asked_back(proposal: Proposal, facts: Facts) -> None:
    assert judge(proposal, facts).outcome in {GateOutcome.EXECUTE, GateOutcome.REFUSE}


@THOROUGH
@given(proposals(by=Proposer.BRAIN), worlds())
def test_a_person_may_do_whatever_a_brain_may(proposal: Proposal, facts: Facts) -> None:
    assume(judge(proposal, facts).outcome.acts)
    assert judge(proposal.model_copy(update={"by": Proposer.PERSON}), facts).outcome is GateOutcome.EXECUTE


HINDRANCES_OF_A_BRAIN: dict[str, dict[str, Any]] = {
    "level": {"level": Level.OBSERVE},
    "cooldown on the act": {"same_action_at": NOW},
    "cooldown on the project": {"same_project_at": NOW},
    "spin": {"spin": 9},
    "council": {"council": FACTS.council.model_copy(update={"objections": 4})},
    "no session": {"in_session": False},
}


@pytest.mark.parametrize("hindrance", HINDRANCES_OF_A_BRAIN)
@pytest.mark.parametrize("kind", [ActKind.START, ActKind.STOP, ActKind.RESTART])
def test_what_hinders_a_brain_does_not_hinder_a_person(kind: ActKind, hindrance: str) -> None:
    facts = world_for(kind, **HINDRANCES_OF_A_BRAIN[hindrance])
    assert judge(easy(kind), facts).outcome not in {GateOutcome.EXECUTE, GateOutcome.EXECUTE_AND_TELL}
    assert judge(easy(kind, by=Proposer.PERSON), facts).outcome is GateOutcome.EXECUTE


def less_room(facts: Facts) -> Facts:
    tight = {name: _spent(budget) for name, budget in facts.budgets}
    return facts.model_copy(update={"budgets": Budgets(**tight)})


def _spent(budget: Budget) -> Budget:
    return budget.model_copy(update={"spent": budget.spent + 3})


def on_project(**changes: Any) -> Callable[[Facts], Facts]:
    def restrict(facts: Facts) -> Facts:
        project = facts.project or ProjectFacts(id="p")
        if facts.project is None:
            return facts
        return facts.model_copy(update={"project": project.model_copy(update=changes)})

    return restrict


def with_facts(**changes: Any) -> Callable[[Facts], Facts]:
    return lambda facts: facts.model_copy(update=changes)


def weaker_walls(facts: Facts) -> Facts:
    weaker = {Isolation.BUBBLEWRAP: Isolation.SEATBELT}.get(facts.isolation, Isolation.NONE)
    return facts.model_copy(update={"isolation": weaker})


def one_more_objection(facts: Facts) -> Facts:
    council = facts.council.model_copy(update={"objections": facts.council.objections + 1})
    return facts.model_copy(update={"council": council})


RESTRICTIONS: dict[str, Callable[[Facts], Facts]] = {
    "blocked": on_project(blocked=True),
    "protected": on_project(protected=True),
    "skipped": on_project(skipped=True),
    "pull request open": on_project(open_pull_request=True),
    "tainted": with_facts(tainted=True),
    "no session": with_facts(in_session=False),
    "less memory": with_facts(free_memory_bytes=0),
    "less disk": with_facts(free_disk_bytes=0),
    "more spent": less_room,
    "weaker walls": weaker_walls,
    "more objections": one_more_objection,
    "just done": with_facts(same_action_at=NOW, same_project_at=NOW),
    "spin": with_facts(spin=9),
    "no contract": with_facts(contract=None),
    "writes off": with_facts(contract=policy(allow_autonomous_write_actions=False)),
    "more retries": with_facts(retries_of_cause=9),
    "house full": with_facts(jobs_running=99),
}


@THOROUGH
@given(proposals(), worlds(), st.sampled_from(sorted(RESTRICTIONS)))
def test_a_restriction_never_lets_more_happen(proposal: Proposal, facts: Facts, name: str) -> None:
    if name == "writes off":
        assume(facts.contract is not None and facts.contract == FACTS.contract)
    assert judge(proposal, RESTRICTIONS[name](facts)).outcome.reach <= judge(proposal, facts).outcome.reach


@THOROUGH
@given(proposals(), worlds())
def test_every_verdict_has_reasons_from_the_catalogue(proposal: Proposal, facts: Facts) -> None:
    verdict = judge(proposal, facts)
    assert verdict.reasons
    assert all(reason.code in TEXT and reason.text for reason in verdict.reasons)
    assert len({reason.code for reason in verdict.reasons}) == len(verdict.reasons)


@THOROUGH
@given(proposals(), worlds())
def test_whoever_is_asked_knows_until_when_and_what_silence_means(proposal: Proposal, facts: Facts) -> None:
    verdict = judge(proposal, facts)
    asks = verdict.outcome is GateOutcome.ASK_FIRST
    assert asks == (verdict.deadline_minutes is not None) == bool(verdict.silence)


@THOROUGH
@given(proposals(), worlds())
def test_the_same_question_gets_the_same_answer_even_from_the_record(proposal: Proposal, facts: Facts) -> None:
    again = judge(
        Proposal.model_validate_json(proposal.model_dump_json()), Facts.model_validate_json(facts.model_dump_json())
    )
    assert judge(proposal, facts) == again == Verdict.model_validate_json(again.model_dump_json())


@THOROUGH
@given(proposals(), worlds(), st.text(max_size=30), st.text(max_size=30))
def test_the_gate_never_reads_prose(proposal: Proposal, facts: Facts, words: str, more: str) -> None:
    retold = proposal.model_copy(update={"reason": words, "message": more, "prompt": words + more})
    assert judge(retold, facts) == judge(proposal, facts)


@THOROUGH
@given(
    proposal=st.builds(
        Proposal,
        kind=kinds,
        project=st.text(max_size=5),
        target=st.text(max_size=5),
        tool=st.text(max_size=5),
        effect=st.text(max_size=5),
        paths=st.lists(st.text(max_size=8), max_size=3).map(tuple),
        writes=st.booleans(),
    ),
    facts=worlds(),
    naive=st.datetimes(),
    job_age=st.none() | st.datetimes(),
)
def test_the_gate_always_answers(proposal: Proposal, facts: Facts, naive: datetime, job_age: datetime | None) -> None:
    odd = facts.model_copy(update={"same_action_at": naive, "same_project_at": job_age})
    assert judge(proposal, odd).reasons


def test_when_nobody_says_yes_the_answer_is_no() -> None:
    assert judge(easy(ActKind.SKIP), FACTS, conditions=()).outcome is GateOutcome.REFUSE


def test_the_order_of_conditions_decides_between_equal_answers() -> None:
    facts = FACTS.model_copy(
        update={"project": ProjectFacts(id="p", blocked=True, skipped=True), "free_memory_bytes": 0}
    )
    codes = [reason.code for reason in judge(easy(ActKind.START), facts).reasons]
    assert codes == ["gate.blocked", "gate.skipped", "gate.memory_short"]
    turned = judge(easy(ActKind.START), facts, conditions=tuple(reversed(CONDITIONS)))
    assert turned.first.code == "gate.memory_short"


def test_an_execute_verdict_names_level_and_act() -> None:
    verdict = judge(easy(ActKind.START_RUN), FACTS)
    assert verdict.reasons[0].text == "At full, start run is done."
