"""What became of each pair, and what a person saw of the night."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tests.tryout.stand import Pair, Stand


@dataclass(frozen=True)
class Outcome:
    """One pair: delivered and proven, or why not."""

    pair: Pair
    why: str = ""
    """Nothing where it was delivered and proven."""
    checks: str = "no checks"
    questions: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    """Tool calls that were denied."""
    minutes: float = 0.0

    @property
    def delivered(self) -> bool:
        return not self.why and not self.questions


def outcomes(stand: Stand, pairs: Sequence[Pair]) -> list[Outcome]:
    """Read what became of every pair."""
    asks = stand.read("/asks", all="true")
    jobs: dict[str, list[dict[str, Any]]] = {}
    for job in stand.read("/jobs"):
        jobs.setdefault(job["project_name"], []).append(job)
    return [outcome(stand, pair, jobs.get(pair.project, []), asks) for pair in pairs]


def outcome(stand: Stand, pair: Pair, jobs: list[dict[str, Any]], asks: list[dict[str, Any]]) -> Outcome:
    """Read what became of one pair."""
    mine = [ask for ask in asks if ask["project_name"] == pair.project]
    questions = tuple(ask["question"] for ask in mine if ask["kind"] != "approve_plan")
    if not jobs:
        return Outcome(pair, "no job was started", questions=questions)
    job = stand.read(f"/jobs/{jobs[-1]['id']}")
    calls = [call for errand in stand.read(f"/jobs/{job['id']}/errands") for call in errand.get("calls", ())]
    refused = tuple(call["shown"] for call in calls if call["verdict"] == "deny")
    ended = job["ended_at"] or job["created_at"]
    minutes = (datetime.fromisoformat(ended) - datetime.fromisoformat(jobs[0]["created_at"])).total_seconds() / 60
    return Outcome(pair, why_not(job), checks_of(job), questions, refused, minutes)


def why_not(job: dict[str, Any]) -> str:
    """Say what a delivered and proven pull request lacks; nothing where it lacks nothing."""
    proof = job["proof"] or {}
    if job["state"] != "done":
        return f"{job['state']} at {job['stage']}: {job['why']}"
    if not job["pull_requests"]:
        return f"done without a pull request: {job['why']}"
    if job["pull_requests"][0]["draft"]:
        return "only a draft"
    if proof.get("verdict") != "green":
        return f"delivered, but its proof is {proof.get('verdict')}"
    if proof.get("new_tests") != "fail_on_base":
        return f"delivered, but its new test is {proof.get('new_tests') or 'not tried'}"
    return ""


def checks_of(job: dict[str, Any]) -> str:
    """Say how the checks ended on the branch, and what its new test does without the change."""
    proof = job["proof"] or {}
    runs = proof.get("delivered", ())
    green = sum(run["exit_code"] == 0 for run in runs)
    return (
        f"{green} of {len(runs)} checks green, new test {proof.get('new_tests') or 'not tried'}"
        if runs
        else "no checks"
    )


def said(one: Outcome) -> str:
    """Say one pair in one line."""
    verdict = "delivered" if one.delivered else "FAILED"
    asked = f"{len(one.questions)} questions"
    line = f"{verdict:10}{one.pair.agent:10}{one.pair.tree.name:16}{one.checks}; {asked}; {one.minutes:.1f} min"
    more = [one.why, *(f"asked: {question}" for question in one.questions)]
    more += [f"denied: {call}" for call in one.refused]
    return "\n".join([line, *(f"          {text}" for text in more if text)])


def count(results: Sequence[Outcome]) -> str:
    """Say the sum in one line."""
    delivered = sum(one.delivered for one in results)
    asked = sum(len(one.questions) for one in results)
    denied = sum(len(one.refused) for one in results)
    return f"{len(results)} pairs, {delivered} delivered and proven, {asked} questions asked, {denied} calls denied"


def person_saw(stand: Stand, pairs: Sequence[Pair], results: Sequence[Outcome]) -> str:
    """Say what a person would have seen: notices, asks, the morning's queue, and whether the brief is true."""
    night = stand.read("/sessions")[-1]
    notices = stand.read(f"/sessions/{night['id']}")["notices"]
    asks = stand.read("/asks", all="true")
    morning = stand.read("/morning")
    tiers = Counter(notice["tier"] for notice in notices)
    kinds = Counter(ask["kind"] for ask in asks)
    settled = Counter(ask["answered_by"] or ask["state"] for ask in asks)
    told = ", ".join(f"{many} of tier {tier}" for tier, many in sorted(tiers.items())) or "none"
    asked = ", ".join(f"{many} {kind}" for kind, many in sorted(kinds.items())) or "none"
    by = ", ".join(f"{many} by {who}" for who, many in sorted(settled.items()))
    queue, true = len(morning["recommendations"]), sum(not one.why for one in results)
    return "\n".join(
        [
            f"notices: {told}",
            f"asks: {asked} ({by})",
            f"morning: {morning['brief']['headline']}",
            f"queue: {queue} items for {len(pairs)} jobs, of which {true} delivered",
        ]
    )
