"""Reads GitHub's JSON about a pull request and its checks; missing or malformed values count as empty."""

from collections.abc import Sequence
from typing import Any, Final

from midwatch.errors import Away
from midwatch.terms.forges import Checks, PullRequestSeen
from midwatch.terms.projects import COMMIT_ID

GOOD = frozenset({"success", "neutral", "skipped"})
FAILED = frozenset({"failure", "error"})
LARGEST_NUMBER: Final = 2**31 - 1
LONGEST: Final = 2000


def pull_in(forge: str, body: object) -> dict[str, Any]:
    """Return the pull request in a response; raise if there is none."""
    number = body.get("number") if isinstance(body, dict) else None
    if not isinstance(body, dict) or type(number) is not int or not 0 < number <= LARGEST_NUMBER:
        raise Away(f"{forge} returned something that is not a pull request.", hint="It is tried again.")
    return body


def commit_in(body: object, field: str) -> str:
    """Read a commit id, which people may have to type; empty if it is not one."""
    said = body.get(field) if isinstance(body, dict) else None
    return said if isinstance(said, str) and COMMIT_ID.fullmatch(said) else ""


def seen(pull: dict[str, Any], checks: Checks = "none", remarks: tuple[str, ...] = ()) -> PullRequestSeen:
    merged = bool(pull.get("merged") or pull.get("merged_at"))
    state = "merged" if merged else "closed" if pull.get("state") == "closed" else "open"
    by = pull.get("merged_by")
    return PullRequestSeen.model_validate(
        {
            "state": state,
            "number": pull["number"],
            "url": _text(pull, "html_url"),
            "draft": bool(pull.get("draft", False)),
            "checks": checks,
            "merged_sha": commit_in(pull, "merge_commit_sha") if merged else "",
            "by": _text(by, "login"),
            "remarks": remarks,
        }
    )


def head_of(pull: dict[str, Any]) -> str:
    return commit_in(pull.get("head"), "sha")


def branch_of(pull: object) -> str:
    return _text(pull.get("head"), "ref") if isinstance(pull, dict) else ""


def text_of(comment: object) -> str:
    said = comment.get("body") if isinstance(comment, dict) else None
    return said if isinstance(said, str) else ""


def _text(body: object, field: str) -> str:
    said = body.get(field) if isinstance(body, dict) else None
    return said.encode(errors="replace").decode()[:LONGEST] if isinstance(said, str) else ""


def judged(runs: Sequence[Any], combined: object) -> Checks:
    """Combine check runs and statuses: red before pending, pending before green."""
    said = [_run(run) for run in runs if isinstance(run, dict)]
    statuses = combined.get("statuses") if isinstance(combined, dict) else None
    listed = statuses if isinstance(statuses, list) else []
    said += [_status(_text(one, "state")) for one in listed if isinstance(one, dict)]
    order: tuple[Checks, ...] = ("red", "pending", "green")
    return next((one for one in order if one in said), "none")


def _run(run: dict[str, Any]) -> Checks:
    if run.get("status") != "completed":
        return "pending"
    return "green" if _text(run, "conclusion") in GOOD else "red"


def _status(state: str) -> Checks:
    if state in FAILED:
        return "red"
    return "green" if state == "success" else "pending"
