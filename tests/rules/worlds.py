"""Worlds for the gate: an easy one in which things happen, and strategies that make it harder in a few places."""

from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

from midwatch.terms.acts import ActKind, External, Proposal, Proposer, Source
from midwatch.terms.contract import AuthorityPolicy, Constraints, RunContract, ToolPolicy, ToolScope
from midwatch.terms.facts import Budget, Budgets, CouncilFacts, Facts, GateLimits, ProjectFacts, RunningJob
from midwatch.terms.trust import Authority, Isolation, Level

NOW = datetime(2026, 3, 1, 2, 0, tzinfo=UTC)
GIB = 1024**3
OLD_JOB = RunningJob(id="job_1", started_at=NOW - timedelta(hours=2), running=True)
YOUNG_JOB = RunningJob(id="job_1", started_at=NOW - timedelta(minutes=3), running=True)
FAILED_JOB = RunningJob(id="job_1", started_at=NOW - timedelta(hours=2), running=False, in_error=True)

CONTRACT = RunContract(
    project_id="p",
    mission_id="m",
    objective="mend",
    constraints=Constraints(
        tool_policy=ToolPolicy(
            allowed_tools=("repo_read", "repo_write_pr", "careful"),
            denied_tools=("prod_deploy", "shell"),
            scopes={
                "repo_write_pr": ToolScope(allowed_paths=("src/**",)),
                "careful": ToolScope(requires_approval="always"),
            },
        ),
        do_not_touch=("src/secret/**",),
    ),
    peers=("friend",),
)
FACTS = Facts(
    now=NOW,
    level=Level.FULL,
    authority=Authority.AUTONOMOUS_LIMITED,
    in_session=True,
    contract=CONTRACT,
    project=ProjectFacts(id="p"),
)
BUSY = FACTS.model_copy(update={"project": ProjectFacts(id="p", job=OLD_JOB, jobs_running=1), "jobs_running": 1})


def easy(kind: ActKind, **changes: Any) -> Proposal:
    """A proposal of this kind that nothing in the easy world stands against."""
    fields: dict[str, Any] = {"kind": kind, "project": "p", "source": Source.REPO, "peer": "friend", "confidence": 0.8}
    if kind in {ActKind.RESOLVE, ActKind.UPDATE_WORK_ITEM, ActKind.MERGE}:
        fields["target"] = "thing"
    return Proposal(**(fields | changes))


def world_for(kind: ActKind, **changes: Any) -> Facts:
    """The easy world, with a job running where the act needs one."""
    start = BUSY if kind in {ActKind.STOP, ActKind.RESTART} else FACTS
    return start.model_copy(update=changes)


def contract(**changes: Any) -> RunContract:
    return CONTRACT.model_copy(update=changes)


def policy(**changes: Any) -> RunContract:
    return contract(authority_policy=AuthorityPolicy(**changes))


def project(**changes: Any) -> ProjectFacts:
    return ProjectFacts(**({"id": "p"} | changes))


THOROUGH = settings(max_examples=max(300, settings().max_examples))
"""For laws over whole worlds; a sweep may ask for more."""

levels = st.sampled_from(Level)
kinds = st.sampled_from(ActKind)

_ago = st.none() | st.integers(0, 20).map(lambda minutes: NOW - timedelta(minutes=minutes))
_budget = st.builds(
    Budget, spent=st.integers(0, 10), reserved=st.integers(0, 5), limit=st.none() | st.sampled_from([0, 5, 10, 100])
)
_job = st.none() | st.builds(
    RunningJob,
    id=st.sampled_from(["job_1", "job_2"]),
    started_at=st.integers(-5, 120).map(lambda minutes: NOW - timedelta(minutes=minutes)),
    running=st.booleans(),
    in_error=st.booleans(),
)
_path = st.sampled_from(["src/a.py", "src/secret/k", "docs/a.md", "../x", "/etc/passwd", "", "src//a", "src/**", "**"])

PROPOSAL_CHANGES: dict[str, st.SearchStrategy[Any]] = {
    "project": st.sampled_from(["", "p", "other"]),
    "target": st.sampled_from(["", "thing", "job_1", "semantic/x", "Strategic"]),
    "priority": st.integers(1, 5),
    "confidence": st.floats(0, 1),
    "tier": st.integers(1, 4),
    "source": st.none() | st.sampled_from(Source),
    "domain": st.sampled_from(["code", "docs"]),
    "agent": st.sampled_from(["housekeeper", "claude"]),
    "tool": st.sampled_from(["", "repo_read", "repo_write_pr", "prod_deploy", "careful", "odd"]),
    "paths": st.lists(_path, max_size=2).map(tuple),
    "ordered": st.booleans(),
    "external": st.sampled_from(External),
    "effect": st.sampled_from(["", "pull_request", "email", "comment"]),
    "peer": st.sampled_from(["", "friend", "stranger"]),
    "estimated_usd_micros": st.integers(-3, 12),
    "tainted": st.booleans(),
}
FACT_CHANGES: dict[str, st.SearchStrategy[Any]] = {
    "authority": st.sampled_from(Authority),
    "in_session": st.booleans(),
    "contract": st.sampled_from(
        [
            None,
            CONTRACT,
            policy(allow_autonomous_write_actions=False),
            contract(project_id="q"),
            contract(paths=("lib",)),
        ]
    ),
    "project": st.none()
    | st.builds(
        ProjectFacts,
        id=st.sampled_from(["p", "other"]),
        known=st.booleans(),
        protected=st.booleans(),
        blocked=st.booleans(),
        skipped=st.booleans(),
        job=_job,
        jobs_running=st.integers(0, 2),
        open_pull_request=st.booleans(),
        retries_in_a_row=st.integers(0, 4),
    ),
    "target_exists": st.booleans(),
    "target_for_person": st.booleans(),
    "same_action_at": _ago,
    "same_project_at": _ago,
    "jobs_running": st.integers(0, 6),
    "free_memory_bytes": st.sampled_from([0, GIB, 2 * GIB, 64 * GIB]),
    "free_disk_bytes": st.sampled_from([0, 4 * GIB, 5 * GIB, 64 * GIB]),
    "budgets": st.builds(
        Budgets, usd_micros=_budget, tokens=_budget, seconds=_budget, rounds=_budget, attention=_budget
    ),
    "quiet_hours": st.booleans(),
    "isolation": st.sampled_from(Isolation),
    "tainted": st.booleans(),
    "retries_of_cause": st.integers(0, 4),
    "spin": st.integers(0, 4),
    "council": st.builds(CouncilFacts, support=st.integers(0, 4), objections=st.integers(0, 4)),
    "limits": st.builds(GateLimits, jobs_per_project=st.integers(1, 2), forced_isolation=st.booleans()),
}


@st.composite
def proposals(draw: st.DrawFn, by: Proposer | None = None) -> Proposal:
    """Any act, odd in at most four ways: oddities all at once would refuse everything and prove nothing."""
    changed = draw(st.lists(st.sampled_from(sorted(PROPOSAL_CHANGES)), max_size=4, unique=True))
    changes = {name: draw(PROPOSAL_CHANGES[name]) for name in changed}
    if draw(st.booleans()):
        changes = {"tool": "repo_write_pr", "paths": ("src/a.py",), "writes": True} | changes
    return easy(draw(kinds), **({"by": by or draw(st.sampled_from(Proposer))} | changes))


@st.composite
def worlds(draw: st.DrawFn) -> Facts:
    """The easy world at any level, made harder in at most three places."""
    changed = draw(st.lists(st.sampled_from(sorted(FACT_CHANGES)), max_size=3, unique=True))
    changes = {name: draw(FACT_CHANGES[name]) for name in changed}
    return draw(st.sampled_from([FACTS, BUSY])).model_copy(update={"level": draw(levels)} | changes)
