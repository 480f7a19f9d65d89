"""Reading what GitHub says of a pull request and its checks; whatever is missing or odd counts as nothing."""

from collections.abc import Sequence
from typing import Any

from midwatch.terms.forges import Checks, PullRequestSeen

GOOD = frozenset({"success", "neutral", "skipped"})
FAILED = frozenset({"failure", "error"})


def seen(pull: dict[str, Any], checks: Checks = "none", remarks: tuple[str, ...] = ()) -> PullRequestSeen:
    """Read one pull request."""
    merged = bool(pull.get("merged") or pull.get("merged_at"))
    state = "merged" if merged else "closed" if pull.get("state") == "closed" else "open"
    by = pull.get("merged_by")
    return PullRequestSeen.model_validate(
        {
            "state": state,
            "number": pull["number"],
            "url": str(pull.get("html_url", "")),
            "draft": bool(pull.get("draft", False)),
            "checks": checks,
            "merged_sha": str(pull.get("merge_commit_sha") or "") if merged else "",
            "by": str(by.get("login", "")) if isinstance(by, dict) else "",
            "remarks": remarks,
        }
    )


def head_of(pull: dict[str, Any]) -> str:
    """Tell the commit it stands at there."""
    head = pull.get("head")
    return str(head.get("sha", "")) if isinstance(head, dict) else ""


def judged(runs: Sequence[Any], combined: object) -> Checks:
    """Say what check runs and statuses come to together: red before pending, pending before green."""
    said = [_run(run) for run in runs if isinstance(run, dict)]
    statuses = combined.get("statuses", []) if isinstance(combined, dict) else []
    said += [_status(str(one.get("state", ""))) for one in statuses if isinstance(one, dict)]
    order: tuple[Checks, ...] = ("red", "pending", "green")
    return next((one for one in order if one in said), "none")


def _run(run: dict[str, Any]) -> Checks:
    if run.get("status") != "completed":
        return "pending"
    return "green" if run.get("conclusion") in GOOD else "red"


def _status(state: str) -> Checks:
    if state in FAILED:
        return "red"
    return "green" if state == "success" else "pending"
