"""Labels and reviewers of a pull request; a failure here never fails a delivery."""

from dataclasses import dataclass
from typing import Any

from midwatch.errors import MidwatchError
from midwatch.forges.github.addresses import Repository
from midwatch.forges.github.asking import GitHubAnswer, GitHubClient
from midwatch.forges.github.refusals import errors_in
from midwatch.views.text.plain import clean


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the person wants on every pull request of a forge."""

    labels: tuple[str, ...] = ()
    reviewers: tuple[str, ...] = ()
    """People, or teams as `organisation/team`."""
    draft: bool = False


async def dress(client: GitHubClient, repository: Repository, pull: dict[str, Any], wishes: Wishes) -> tuple[str, ...]:
    """Add what is missing; return what was refused."""
    number, has = str(pull["number"]), {str(one.get("name")) for one in pull.get("labels") or ()}
    labels = tuple(label for label in wishes.labels if label not in has)
    asked = {str(one.get("login")) for one in pull.get("requested_reviewers") or ()}
    asked |= {str(one.get("slug")) for one in pull.get("requested_teams") or ()}
    reviewers = tuple(name for name in wishes.reviewers if name.rpartition("/")[2] not in asked)
    try:
        remarks = await _label(client, repository, number, labels) if labels else ()
        for reviewer in reviewers:  # one by one: GitHub refuses all together if it refuses one
            remarks += await _invite(client, repository, number, reviewer)
    except MidwatchError as error:
        return (f"Labels and reviewers may be missing: {error.message}",)
    return remarks


async def _label(client: GitHubClient, repository: Repository, number: str, labels: tuple[str, ...]) -> tuple[str, ...]:
    """Add labels; a missing one that the host does not create is created first."""
    path, body = repository.at("issues", number, "labels"), {"labels": list(labels)}
    answer = await client.ask("POST", path, body)
    if not answer.good:
        for label in labels:
            await client.ask("POST", repository.at("labels"), {"name": label})
        answer = await client.ask("POST", path, body)
    return () if answer.good else (f"{client.name} refused the labels {', '.join(labels)}: {_why(answer)}.",)


async def _invite(client: GitHubClient, repository: Repository, number: str, reviewer: str) -> tuple[str, ...]:
    team, name = "/" in reviewer, reviewer.rpartition("/")[2]
    body = {"team_reviewers": [name]} if team else {"reviewers": [name]}
    answer = await client.ask("POST", repository.at("pulls", number, "requested_reviewers"), body)
    return () if answer.good else (f"{client.name} refused {reviewer} as reviewer: {_why(answer)}.",)


def _why(answer: GitHubAnswer) -> str:
    return "; ".join(errors_in(answer.body)) or clean(answer.message).rstrip(".") or str(answer.status)
