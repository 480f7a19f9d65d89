"""How GitHub says things: its own published examples, with what really happened put in."""

import copy
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.forges.github_fake import Hosted, Pull

DOCS = "https://docs.github.com/rest"
WHEN = "2026-03-02T03:00:00Z"


@dataclass
class Reply:
    """One answer."""

    status: int
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)


def complaint(message: str) -> dict[str, str]:
    """An error as GitHub shapes it."""
    return {"message": message, "documentation_url": DOCS}


def invalid(resource: str, *, field: str = "", message: str = "", code: str = "") -> Reply:
    """A request GitHub understood and will not carry out."""
    error = {"resource": resource, "code": code or ("custom" if message else "invalid")}
    error |= ({"field": field} if field else {}) | ({"message": message} if message else {})
    return Reply(422, {**complaint("Validation Failed"), "errors": [error]})


class Words:
    """GitHub's examples, read from its own description."""

    def __init__(self, description: Path) -> None:
        self._examples = json.loads(description.read_text())["components"]["examples"]

    def _example(self, name: str) -> Any:
        return copy.deepcopy(self._examples[name]["value"])

    def repository(self, full_name: str, *, archived: bool, push: bool) -> Any:
        """A repository."""
        said = self._example("full-repository-default-response")
        for fork in ("source", "parent", "template_repository"):
            said.pop(fork, None)
        permissions = {"admin": False, "push": push, "pull": True}
        return said | {
            "full_name": full_name,
            "archived": archived,
            "permissions": permissions,
            "default_branch": "main",
            "language": None,
        }

    def pull(self, there: "Hosted", pull: "Pull", tip: str) -> Any:
        """A pull request on its own."""
        return self._about(self._example("pull-request"), there, pull, tip) | {
            "merged": bool(pull.merged_sha),
            "merged_by": self._example("pull-request")["user"] if pull.merged_sha else None,
        }

    def listed(self, there: "Hosted", pull: "Pull", tip: str) -> Any:
        """A pull request in a list."""
        return self._about(self._example("pull-request-simple-items")[0], there, pull, tip)

    def _about(self, said: Any, there: "Hosted", pull: "Pull", tip: str) -> Any:
        said["head"] |= {"ref": pull.head, "sha": tip or pull.stood or said["head"]["sha"]}
        said["base"] |= {"ref": pull.base, "sha": there.tip(pull.base) or said["base"]["sha"]}
        user = said["user"]
        return said | {
            "number": pull.number,
            "title": pull.title,
            "body": pull.body,
            "draft": pull.draft,
            "state": pull.state,
            "html_url": f"https://github.example/{there.full_name}/pull/{pull.number}",
            "labels": [self.label(name) for name in pull.labels],
            "requested_reviewers": [user | {"login": name} for name in pull.reviewers],
            "requested_teams": [],
            "merge_commit_sha": pull.merged_sha or None,
            "merged_at": WHEN if pull.merged_sha else None,
            "closed_at": WHEN if pull.state == "closed" else None,
        }

    def label(self, name: str) -> Any:
        """A label."""
        return self._example("label") | {"name": name}

    def comment(self, text: str) -> Any:
        """A comment."""
        return self._example("issue-comment") | {"body": text}

    def runs(self, commit: str, runs: list[dict[str, str | None]]) -> Any:
        """Check runs of a commit."""
        said = self._example("check-run-paginated")
        one = said["check_runs"][0]
        made = [one | {"head_sha": commit, "name": f"run {index}", **run} for index, run in enumerate(runs)]
        return {"total_count": len(made), "check_runs": made}

    def statuses(self, commit: str, states: list[str]) -> Any:
        """The combined status of a commit."""
        said = self._example("combined-commit-status")
        one = said["statuses"][0]
        worst = next((state for state in ("failure", "error", "pending") if state in states), "success")
        return said | {
            "sha": commit,
            "state": worst if states else "pending",
            "total_count": len(states),
            "statuses": [one | {"state": state, "context": f"status {index}"} for index, state in enumerate(states)],
        }

    def rule(self, kind: str, full_name: str) -> Any:
        """A rule that holds for a branch."""
        return {"type": kind, "ruleset_source_type": "Repository", "ruleset_source": full_name, "ruleset_id": 42}

    def branch(self, name: str, tip: str, *, protected: bool) -> Any:
        """A branch."""
        said = self._example("branch-get")
        said["commit"] |= {"sha": tip}
        return said | {"name": name, "protected": protected}
