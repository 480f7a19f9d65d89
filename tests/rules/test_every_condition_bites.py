"""Every condition of the gate decides something that no other condition decides: without it a witness walks through."""

from datetime import timedelta
from typing import Any

import pytest

from midwatch.rules.gate.gate import CONDITIONS, judge
from midwatch.terms.acts import ActKind, External, Proposal, Proposer
from midwatch.terms.facts import Budget, Budgets, CouncilFacts, Facts, GateLimits
from midwatch.terms.trust import Authority, GateOutcome, Isolation, Level
from tests.rules.worlds import (
    CONTRACT,
    FACTS,
    FAILED_JOB,
    NOW,
    OLD_JOB,
    YOUNG_JOB,
    contract,
    easy,
    policy,
    project,
    world_for,
)

Witness = tuple[Proposal, Facts, GateOutcome, GateOutcome]
NO, SAY, ASK, TELL, DO = (
    GateOutcome.REFUSE,
    GateOutcome.SAY_ONLY,
    GateOutcome.ASK_FIRST,
    GateOutcome.EXECUTE_AND_TELL,
    GateOutcome.EXECUTE,
)
EMPTY = Budget(spent=10, limit=10)


def brain(
    kind: ActKind,
    facts: dict[str, Any] | None = None,
    *,
    held: GateOutcome = NO,
    freed: GateOutcome = DO,
    **changes: Any,
) -> Witness:
    return easy(kind, **changes), world_for(kind, **(facts or {})), held, freed


def write(**changes: Any) -> dict[str, Any]:
    return {"tool": "repo_write_pr", "paths": ("src/a.py",), "writes": True} | changes


def ago(minutes: float) -> Any:
    return NOW - timedelta(minutes=minutes)


def allowing(*tools: str) -> Any:
    tool_policy = CONTRACT.constraints.tool_policy.model_copy(update={"allowed_tools": tools})
    return contract(constraints=CONTRACT.constraints.model_copy(update={"tool_policy": tool_policy}))


START, STOP, RESTART = ActKind.START, ActKind.STOP, ActKind.RESTART

WITNESSES: dict[str, Witness] = {
    # Without this one the level's table still refuses; a person has no such table.
    "forbidden_kind": brain(ActKind.PAY, by=Proposer.PERSON),
    "external_high": brain(START, external=External.HIGH),
    "forbidden_action": brain(
        START, {"contract": contract(external_effects=("email",))}, external=External.LOW, effect="email"
    ),
    "project_unknown": brain(START, {"project": project(known=False)}),
    "target_unknown": brain(ActKind.UPDATE_WORK_ITEM, {"target_exists": False}),
    "blocked": brain(START, {"project": project(blocked=True)}),
    "protected": brain(START, {"project": project(protected=True)}),
    "skipped": brain(START, {"project": project(skipped=True)}),
    "resolve_personal": brain(ActKind.RESOLVE, {"target_for_person": True}),
    "contract_missing": brain(START, {"contract": None}, **write()),
    "contract_elsewhere": brain(START, {"contract": contract(project_id="q")}, **write()),
    "effect_unnamed": brain(START, external=External.LOW, effect="comment"),
    "peer_unnamed": brain(ActKind.DELEGATE, peer="stranger"),
    "tool_unnamed": brain(START, writes=True),
    "tool_denied": brain(START, {"contract": allowing("shell")}, tool="shell"),
    "tool_unlisted": brain(START, tool="odd"),
    "path_outside": brain(START, **write(paths=("src/a.py", "src/../b.py"))),
    "do_not_touch": brain(START, **write(paths=("src/secret/key",))),
    "writes_off": brain(START, {"contract": policy(allow_autonomous_write_actions=False)}, **write()),
    "unordered_write": brain(START, {"authority": Authority.ASSERT}, held=SAY, **write(ordered=False)),
    "tainted_delegate": brain(ActKind.DELEGATE, {"tainted": True}),
    "tainted_memory": brain(ActKind.NOTE, tainted=True, target="Strategic/direction"),
    "tainted_project": brain(ActKind.CREATE_PROJECT, {"tainted": True}, freed=TELL),
    "agent_uncontained": brain(START, {"isolation": Isolation.NONE}, agent="claude", by=Proposer.PERSON),
    "running_already": brain(
        START,
        {"project": project(job=OLD_JOB, jobs_running=1), "limits": GateLimits(jobs_per_project=2)},
        target="job_1",
    ),
    "busy": brain(START, {"project": project(jobs_running=1)}),
    "crowded": brain(START, {"jobs_running": 5}),
    "memory_short": brain(START, {"free_memory_bytes": 2 * 1024**3 - 1}),
    "disk_short": brain(START, {"free_disk_bytes": 5 * 1024**3 - 1}),
    "nothing_to_stop": brain(STOP, {"project": project(job=FAILED_JOB)}),
    "nothing_to_restart": brain(
        RESTART, {"project": project(job=FAILED_JOB.model_copy(update={"in_error": False})), "jobs_running": 0}
    ),
    "budget_usd": brain(
        START, {"budgets": Budgets(usd_micros=Budget(spent=5, reserved=3, limit=10))}, estimated_usd_micros=3
    ),
    "budget_tokens": brain(START, {"budgets": Budgets(tokens=EMPTY)}, agent="claude"),
    "budget_seconds": brain(START, {"budgets": Budgets(seconds=EMPTY)}),
    "budget_rounds": brain(START, {"budgets": Budgets(rounds=EMPTY)}),
    "young_job": brain(STOP, {"project": project(job=YOUNG_JOB, jobs_running=1)}),
    "pull_request_open": brain(START, {"project": project(open_pull_request=True)}, ordered=False),
    "retries_of_cause": brain(RESTART, {"retries_of_cause": 3}),
    "retries_of_project": brain(START, {"project": project(retries_in_a_row=3)}),
    "cooldown_action": brain(START, {"same_action_at": ago(4.9)}),
    "cooldown_project": brain(START, {"same_project_at": ago(9.9)}),
    "spin": brain(ActKind.REPORT, {"spin": 3}),
    "outside_session": brain(START, {"in_session": False}, held=SAY),
    "write_unlevelled": brain(ActKind.NOTE, {"level": Level.OBSERVE}, held=SAY, **write()),
    "attention_spent": brain(ActKind.ASK_USER, {"budgets": Budgets(attention=EMPTY)}, held=SAY),
    "approval_always": brain(START, held=ASK, tool="careful"),
    "council_objects": brain(START, {"council": CouncilFacts(support=2, objections=2, silent=0)}, held=ASK),
    "uncertain": brain(START, held=ASK, confidence=0.39),
    "isolation_caps": brain(STOP, {"isolation": Isolation.LANDLOCK}, held=ASK, agent="claude"),
    "by_level": brain(ActKind.SKIP, held=DO, freed=NO),
    "by_command": brain(START, held=DO, freed=NO, by=Proposer.PERSON),
    "notice_urgency": brain(ActKind.NOTIFY, {"level": Level.OBSERVE}, held=SAY, tier=2),
}


BINDS_A_PERSON = frozenset(
    [
        "forbidden_kind",
        "external_high",
        "forbidden_action",
        "project_unknown",
        "target_unknown",
        "blocked",
        "contract_missing",
        "contract_elsewhere",
        "effect_unnamed",
        "peer_unnamed",
        "tool_unnamed",
        "tool_denied",
        "tool_unlisted",
        "path_outside",
        "do_not_touch",
        "agent_uncontained",
        "running_already",
        "busy",
        "crowded",
        "memory_short",
        "disk_short",
        "nothing_to_stop",
        "nothing_to_restart",
        "budget_usd",
        "budget_tokens",
        "budget_seconds",
        "budget_rounds",
    ]
)


@pytest.mark.parametrize("name", WITNESSES)
def test_a_person_is_bound_by_scopes_budgets_room_and_walls_and_by_nothing_else(name: str) -> None:
    proposal, facts, *_ = WITNESSES[name]
    commanded = judge(proposal.model_copy(update={"by": Proposer.PERSON}), facts)
    assert commanded.outcome is (NO if name in BINDS_A_PERSON else DO)


def test_every_condition_has_a_witness() -> None:
    assert set(WITNESSES) == {condition.name for condition in CONDITIONS}
    assert len(CONDITIONS) == len(WITNESSES)


@pytest.mark.parametrize("name", WITNESSES)
def test_without_this_condition_its_witness_is_judged_differently(name: str) -> None:
    proposal, facts, held, freed = WITNESSES[name]
    without = tuple(condition for condition in CONDITIONS if condition.name != name)
    assert judge(proposal, facts).outcome is held
    assert judge(proposal, facts, conditions=without).outcome is freed


EDGES: dict[str, Witness] = {
    "memory exactly enough": brain(START, {"free_memory_bytes": 2 * 1024**3}, held=DO),
    "disk exactly enough": brain(START, {"free_disk_bytes": 5 * 1024**3}, held=DO),
    "the act's cooldown over": brain(START, {"same_action_at": ago(5)}, held=DO),
    "the project's cooldown over": brain(START, {"same_project_at": ago(10)}, held=DO),
    "a looking act has no cooldown": brain(ActKind.SEARCH, {"same_action_at": NOW, "same_project_at": NOW}, held=DO),
    "an estimate that just fits": brain(
        START, {"budgets": Budgets(usd_micros=Budget(spent=5, reserved=3, limit=10))}, held=DO, estimated_usd_micros=2
    ),
    "one retry left": brain(START, {"retries_of_cause": 2, "project": project(retries_in_a_row=2)}, held=DO),
    "spin not reached": brain(START, {"spin": 2}, held=DO),
    "waiting is never spin": brain(ActKind.WAIT, {"spin": 99}, held=DO),
    "one place left": brain(START, {"jobs_running": 4}, held=DO),
    "a young job in error": brain(
        STOP, {"project": project(job=YOUNG_JOB.model_copy(update={"in_error": True}), jobs_running=1)}, held=DO
    ),
    "a job just old enough": brain(
        STOP, {"project": project(job=OLD_JOB.model_copy(update={"started_at": ago(30)}), jobs_running=1)}, held=DO
    ),
    "a running job of unknown age": brain(STOP, {"project": project(jobs_running=1)}),
    "restarting a young job": brain(RESTART, {"project": project(job=YOUNG_JOB, jobs_running=1)}),
    "restarting what failed": brain(RESTART, {"project": project(job=FAILED_JOB)}, held=DO),
    "restarting what failed in a full house": brain(RESTART, {"project": project(job=FAILED_JOB), "jobs_running": 5}),
    "restarting what runs in a full house": brain(RESTART, {"jobs_running": 5}, held=DO),
    "restarting with little memory": brain(RESTART, {"free_memory_bytes": 0}),
    "following up an open pull request": brain(
        START, {"project": project(open_pull_request=True, job=FAILED_JOB)}, held=DO, target="job_1"
    ),
    "a person in a protected project": brain(START, {"project": project(protected=True)}, held=DO, by=Proposer.PERSON),
    "a person in a blocked project": brain(START, {"project": project(blocked=True)}, by=Proposer.PERSON),
    "a person stops in a blocked project": brain(
        STOP, {"project": project(blocked=True, job=YOUNG_JOB, jobs_running=1)}, held=DO, by=Proposer.PERSON
    ),
    "a person merges": brain(ActKind.MERGE, held=DO, by=Proposer.PERSON),
    "a person outside the scope": brain(START, by=Proposer.PERSON, **write(paths=("docs/a.md",))),
    "a person without money": brain(START, {"budgets": Budgets(usd_micros=EMPTY)}, by=Proposer.PERSON, agent="claude"),
    "the housekeeper without money": brain(START, {"budgets": Budgets(usd_micros=EMPTY)}, held=DO),
    "signed work beside an open pull request": brain(
        START, {"project": project(open_pull_request=True)}, held=DO, ordered=True
    ),
    "a named small effect": brain(START, held=DO, external=External.LOW, effect="pull_request"),
    "earned authority the contract does not admit": brain(
        START, {"contract": policy(max_level_this_run=Authority.RECOMMEND)}, held=SAY, **write(ordered=False)
    ),
    "earned authority the contract admits": brain(
        START, {"contract": policy(max_level_this_run=Authority.AUTONOMOUS_LIMITED)}, held=DO, **write(ordered=False)
    ),
    "unasked docs": brain(
        START,
        {"contract": policy(max_level_this_run=Authority.AUTONOMOUS_LIMITED)},
        **write(ordered=False, domain="docs"),
    ),
    "a tainted note of the night": brain(ActKind.NOTE, {"tainted": True}, held=DO, target="episodic"),
    "agreement under one half": brain(START, {"council": CouncilFacts(objections=1, silent=3)}, held=ASK),
    "one objection among support": brain(START, {"council": CouncilFacts(support=3, objections=1)}, held=DO),
    "doubt about a search is nobody's business": brain(ActKind.SEARCH, held=DO, confidence=0.1),
    "a waiting act outside a session": brain(ActKind.SKIP, {"in_session": False}, held=DO),
    "a brain's loud notice by day": brain(ActKind.NOTIFY, held=DO, tier=1),
    "a notice in quiet hours is for channels to hold": brain(ActKind.NOTIFY, {"quiet_hours": True}, held=DO, tier=2),
    "a brain's merge in a protected project": brain(ActKind.MERGE, {"project": project(protected=True)}),
    "a running job the tally has not counted": brain(START, {"project": project(job=OLD_JOB, jobs_running=0)}),
    "a path outside the work's own paths": brain(START, {"contract": contract(paths=("src/lib",))}, **write()),
    "a path inside the work's own paths": brain(START, {"contract": contract(paths=("src",))}, held=DO, **write()),
    "facts about another project": brain(START, {"project": project(id="q")}),
    "nothing named to resolve": brain(ActKind.RESOLVE, target=""),
}


@pytest.mark.parametrize("edge", EDGES)
def test_at_the_edge_the_gate_stands_where_the_rules_say(edge: str) -> None:
    proposal, facts, held, _ = EDGES[edge]
    assert judge(proposal, facts).outcome is held


def test_a_loud_notice_is_lowered_and_says_so() -> None:
    verdict = judge(easy(ActKind.NOTIFY, tier=1), FACTS)
    assert [reason.code for reason in verdict.reasons] == ["gate.allowed", "gate.notice_lowered"]


def test_guidance_on_uncertainty_parks_the_item_after_an_hour() -> None:
    verdict = judge(easy(START, confidence=0.1), FACTS)
    assert (verdict.deadline_minutes, verdict.silence) == (60, "parked")
