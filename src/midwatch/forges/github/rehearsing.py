"""Tries beforehand what a delivery to GitHub will need: token, repository, rules, and a dry-run push."""

from typing import Any

from midwatch.errors import MidwatchError
from midwatch.forges.github.addresses import Repository, repository_of
from midwatch.forges.github.asking import GitHubAnswer, GitHubClient
from midwatch.forges.github.refusals import refusal
from midwatch.forges.pushing import Pusher, agent_branch
from midwatch.terms.forges import Rehearsed
from midwatch.views.text.plain import clean

FORBIDDING = {
    "creation": "no such branch may be made",
    "update": "no such branch may be moved",
    "pull_request": "such branches are changed by pull requests only",
}
"""Kinds of rules that forbid writing a branch; the others check its content."""


async def rehearse(client: GitHubClient, pusher: Pusher, source: str, project: str) -> tuple[Rehearsed, ...]:
    """Return one line for each thing that is needed, with its fix if it is missing."""
    try:
        repository = repository_of(source)
        lines = await _by_rest(client, repository)
    except MidwatchError as error:
        return (_bad(error),)
    refused = await pusher.rehearse(source, project)
    pushed = _good(f"{source} accepts branches under agent/.") if refused is None else _bad(refused)
    return (*lines, pushed)


async def _by_rest(client: GitHubClient, repository: Repository) -> tuple[Rehearsed, ...]:
    answer = await client.ask("GET", repository.at())
    if not answer.good:
        raise refusal(client.name, str(repository), "read the repository", answer)
    known: dict[str, Any] = answer.body
    if known.get("archived"):
        text = f"{repository} is archived on {client.name}, so nothing can be written to it."
        return (Rehearsed(good=False, text=text, fix="Unarchive it there."),)
    found = [_good(f"{client.name} accepts the token and has {repository}.")]
    branch = agent_branch("midwatch-rehearsal")
    if why := await ruled_out(client, repository, branch):
        fix = "Let agent/* be written: branch protection or rulesets of the repository."
        found.append(Rehearsed(good=False, text=f"agent/* is protected in {repository}: {why}.", fix=fix))
    return (*found, await _may_open(client, repository, str(known.get("default_branch", "main"))))


async def _may_open(client: GitHubClient, repository: Repository, branch: str) -> Rehearsed:
    """Ask for a pull request of a branch into itself: GitHub calls it empty if the token may open one."""
    body = {"title": "Midwatch rehearsal", "head": branch, "base": branch}
    answer = await client.ask("POST", repository.at("pulls"), body)
    if answer.status == 422 or answer.good:
        return _good("The token may open pull requests.")
    return _bad(refusal(client.name, str(repository), "open pull requests", answer))


async def ruled_out(client: GitHubClient, repository: Repository, branch: str) -> str:
    """Return what keeps us from writing a branch, as far as the token can see it; empty if nothing does."""
    answer = await client.ask("GET", repository.at("rules", "branches", branch))
    rules = answer.body if answer.good and isinstance(answer.body, list) else []
    for rule in rules:
        if isinstance(rule, dict) and rule.get("type") in FORBIDDING:
            return f"{FORBIDDING[rule['type']]} by the ruleset {_named(rule)}"
    there = await client.ask("GET", repository.at("branches", branch))
    return "it is a protected branch" if _protected(there) else ""


def _named(rule: dict[str, Any]) -> str:
    return clean(str(rule.get("ruleset_source", "") or "of the repository"))


def _protected(answer: GitHubAnswer) -> bool:
    return answer.good and isinstance(answer.body, dict) and bool(answer.body.get("protected"))


def _good(text: str) -> Rehearsed:
    return Rehearsed(good=True, text=text)


def _bad(error: MidwatchError) -> Rehearsed:
    return Rehearsed(good=False, text=error.message, fix=error.hint)
