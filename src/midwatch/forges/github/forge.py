"""GitHub as a forge: the branch by git, the pull request by REST; an existing one is found, never made twice."""

import hashlib
import hmac
import re
import shlex
from collections import OrderedDict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from midwatch.errors import MidwatchError, Refused, Stale, Unknown
from midwatch.forges.github.addresses import Repository, repository_of
from midwatch.forges.github.asking import GitHubAnswer, GitHubClient
from midwatch.forges.github.dressing import Wishes, dress
from midwatch.forges.github.reading import branch_of, commit_in, head_of, judged, pull_in, seen, text_of
from midwatch.forges.github.refusals import complains_about, refusal
from midwatch.forges.github.rehearsing import rehearse, ruled_out
from midwatch.forges.pushing import Pusher, agent_branch
from midwatch.terms.forges import (
    BranchSeen,
    Checks,
    Merged,
    PullRequestDraft,
    PullRequestPlace,
    PullRequestSeen,
    Rehearsed,
)

LONGEST_TITLE, LONGEST_BODY = 250, 60_000
"""GitHub takes 256 and 65536 characters."""


@dataclass(frozen=True, slots=True)
class GitHubForge:
    """Delivers to one GitHub; merges and closes there only when a person asks."""

    client: GitHubClient
    pusher: Pusher
    wishes: Wishes

    @property
    def name(self) -> str:
        return self.client.name

    async def deliver(self, source: Path | str, project: str, job: str, head: str) -> str:
        """Push one commit as `agent/<job>` and nothing else, never by force and never past a protection."""
        repository = repository_of(str(source))
        await self._refuse_protected(repository, agent_branch(job))
        return await self.pusher.deliver(source, project, job, head)

    async def pushed(self, source: Path | str, project: str, job: str, head: str) -> BranchSeen:
        """Return the state of a job's branch; a closed or merged pull request keeps new work off it."""
        there = await self.pusher.pushed(source, project, job, head)
        if there.in_the_way:
            return there
        pull = await self._existing(repository_of(str(source)), agent_branch(job))
        if pull is None or (state := seen(pull).state) == "open":
            return there
        # A branch is often deleted with its merge. The same work again is no second pull request.
        if state == "merged" and (there.head or head_of(pull)) == head:
            return there.model_copy(update={"head": head})
        over = f"had its pull request #{pull['number']} {state} on {self.name}"
        return there.model_copy(update={"in_the_way": over})

    async def open(self, draft: PullRequestDraft) -> PullRequestSeen:
        place, repository = draft.place, repository_of(draft.place.source)
        pull = await self._existing(repository, place.branch)
        remarks: tuple[str, ...] = ()
        if pull is None:
            pull, remarks = await self._create(repository, draft)
        elif seen(pull).state == "closed":
            raise Refused(
                f"Pull request #{pull['number']} for {place.branch} was closed on {self.name}; no new one is opened.",
                hint=f"Reopen it there ({seen(pull).url}), or resume the job for a new one.",
            )
        if seen(pull).state == "open":
            remarks += await dress(self.client, repository, pull, self.wishes)
        return seen(pull, remarks=remarks)

    async def look(self, place: PullRequestPlace) -> PullRequestSeen:
        repository = repository_of(place.source)
        pull = await self._pull(repository, place)
        there = seen(pull)
        return seen(pull, await self._checks(repository, head_of(pull))) if there.state == "open" else there

    async def comment(self, place: PullRequestPlace, text: str) -> None:
        """Comment on the pull request, unless the comment is there already: an earlier try may have been cut off."""
        repository = repository_of(place.source)
        number = place.number or (await self._pull(repository, place))["number"]
        path = repository.at("issues", str(number), "comments")
        mark = f"<!-- midwatch {hashlib.sha256(text.encode(errors='replace')).hexdigest()[:16]} -->"
        before, comments = await self.client.pages(path)
        if not before.good:
            raise refusal(self.name, str(repository), "read the comments of the pull request", before)
        if any(mark in text_of(comment) for comment in comments):
            return
        answer = await self.client.ask("POST", path, {"body": f"{text[:LONGEST_BODY]}\n\n{mark}"})
        if not answer.good:
            raise refusal(self.name, str(repository), "comment on the pull request", answer)

    async def close(self, place: PullRequestPlace) -> None:
        repository = repository_of(place.source)
        pull = await self._pull(repository, place)
        if seen(pull).state != "open":
            return
        answer = await self.client.ask("PATCH", repository.at("pulls", str(pull["number"])), {"state": "closed"})
        if not answer.good:
            raise refusal(self.name, str(repository), "close the pull request", answer)

    async def merge(self, project: str, source: Path | str, job: str, head: str, into: str, title: str) -> Merged:
        """Merge the pull request when a person asks, and only the commit they saw."""
        place = PullRequestPlace(
            source=str(source), project=project, job=job, branch=agent_branch(job), head=head, into=into
        )
        repository = repository_of(place.source)
        pull = await self._pull(repository, place)
        there = seen(pull)
        if there.state != "open":
            return self._merged_already(there, into)
        body = {"sha": head, "commit_title": f"{title[:LONGEST_TITLE]} (#{there.number})", "merge_method": "merge"}
        answer = await self.client.ask("PUT", repository.at("pulls", str(there.number), "merge"), body)
        if answer.status == 409:
            raise Stale(f"{place.branch} has moved on {self.name} since it was delivered.", hint=f"Look: {there.url}")
        if answer.status == 405:
            raise Refused(
                f"{self.name} cannot merge #{there.number}: {answer.message or 'it is not mergeable'}.",
                hint=f"It may conflict with {into}, or wait for a review or a check: {there.url}",
            )
        if not answer.good:
            raise refusal(self.name, str(repository), "merge the pull request", answer)
        merged = commit_in(answer.body, "sha")
        return Merged(sha=merged, undo=_undo(merged, into))

    async def unmerge(self, place: PullRequestPlace, sha: str) -> str:
        """A forge keeps its merges: a revert is a change of its own, which people review there."""
        raise Refused(f"{self.name} keeps merge {sha[:12]}.", hint=f"Revert it there, on {place.into}.")

    async def rehearse(self, source: Path | str, project: str) -> tuple[Rehearsed, ...]:
        return await rehearse(self.client, self.pusher, str(source), project)

    def _merged_already(self, there: PullRequestSeen, into: str) -> Merged:
        if there.state == "closed":
            raise Refused(f"#{there.number} was closed on {self.name}.", hint=f"Reopen it there: {there.url}")
        return Merged(sha=there.merged_sha, undo=_undo(there.merged_sha, into))

    async def _refuse_protected(self, repository: Repository, branch: str) -> None:
        """Refuse a protected branch, even if an administrator's token could write it."""
        if why := await ruled_out(self.client, repository, branch):
            raise Refused(
                f"{branch} is protected in {repository} on {self.name}: {why}.",
                hint="Let agent/* be written (branch protection or rulesets of the repository), then resume the job.",
            )

    async def _existing(self, repository: Repository, branch: str) -> dict[str, Any] | None:
        """Find the branch's pull request: the open one, else the newest."""
        answer, pulls = await self.client.pages(
            repository.at("pulls"), head=f"{repository.owner}:{branch}", state="all"
        )
        if not answer.good:
            raise refusal(self.name, str(repository), "read pull requests", answer)
        ours = [pull_in(self.name, pull) for pull in pulls if branch_of(pull) == branch]
        ours.sort(key=lambda pull: (seen(pull).state == "open", pull["number"]))
        return ours[-1] if ours else None

    async def _pull(self, repository: Repository, place: PullRequestPlace) -> dict[str, Any]:
        if not place.number:
            found = await self._existing(repository, place.branch)
            if found is None:
                raise Unknown(f"{place.branch} has no pull request on {self.name}.", hint="Open one there.")
            place = place.model_copy(update={"number": found["number"]})
        answer = await self.client.ask("GET", repository.at("pulls", str(place.number)))
        if not answer.good:
            raise refusal(self.name, str(repository), "read the pull request", answer)
        return pull_in(self.name, answer.body)

    async def _create(self, repository: Repository, draft: PullRequestDraft) -> tuple[dict[str, Any], tuple[str, ...]]:
        answer = await self._post(repository, draft, draft=draft.draft or self.wishes.draft)
        remarks: tuple[str, ...] = ()
        if answer.status == 422 and "draft" in answer.message.lower():
            remarks = (f"{self.name} does not support drafts in {repository}, so this one is not a draft.",)
            answer = await self._post(repository, draft, draft=False)
        if answer.good:
            return pull_in(self.name, answer.body), remarks
        # Another attempt may have been faster, or its response was lost.
        if answer.status == 422 and (pull := await self._existing(repository, draft.place.branch)):
            return pull, remarks
        raise self._unopened(repository, draft.place, answer)

    async def _post(self, repository: Repository, wanted: PullRequestDraft, *, draft: bool) -> GitHubAnswer:
        body = {
            "title": wanted.title[:LONGEST_TITLE],
            "body": wanted.body[:LONGEST_BODY],
            "head": wanted.place.branch,
            "base": wanted.place.into,
            "draft": draft,
        }
        return await self.client.ask("POST", repository.at("pulls"), body)

    def _unopened(self, repository: Repository, place: PullRequestPlace, answer: GitHubAnswer) -> MidwatchError:
        if answer.status == 422 and complains_about(answer.body, "base"):
            return Refused(
                f"{place.into} is gone from {repository} on {self.name}, so there is nothing to merge into.",
                hint=f"{place.branch} was pushed: open the pull request yourself, or restore {place.into} and resume.",
            )
        return refusal(self.name, str(repository), f"open a pull request for {place.branch}", answer)

    async def _checks(self, repository: Repository, commit: str) -> Checks:
        """Ask both kinds of checks; a token that may not read one kind sees the other."""
        if not commit:
            return "none"
        ran, runs = await self.client.pages(repository.at("commits", commit, "check-runs"), "check_runs")
        combined = await self.client.ask("GET", repository.at("commits", commit, "status"), per_page=100)
        return judged(runs if ran.good else (), combined.body if combined.good else None)


def _undo(merge: str, into: str) -> tuple[str, ...]:
    return (
        (f"git fetch origin && git switch {shlex.quote(into)} && git revert -m 1 {merge} && git push",) if merge else ()
    )


REMEMBERED: Final = 2000
_SIGNATURE: Final = re.compile(r"sha256=[0-9a-f]{64}")
_NEWS: Final = re.compile(r"pull_request|check_(run|suite)|status")


def signed(signature: str) -> bool:
    """Whether this has the form of a signature; if not, no secret is fetched."""
    return _SIGNATURE.fullmatch(signature) is not None


def is_news(event: str) -> bool:
    """Whether an event may be about a pull request or its checks."""
    return _NEWS.fullmatch(event) is not None


def genuine(word: str, body: bytes, signature: str) -> bool:
    """Whether a body was signed with the shared secret."""
    wanted = "sha256=" + hmac.new(word.encode(), body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(wanted.encode(), signature.encode())


@dataclass(slots=True)
class Deliveries:
    """The last webhooks, to skip repeated ones. They are compared by body, because only the body is signed."""

    _seen: "OrderedDict[str, None]" = field(default_factory=OrderedDict)

    def new(self, forge: str, body: bytes) -> bool:
        name = f"{forge}:{hashlib.sha256(body).hexdigest()}"
        if name in self._seen:
            return False
        self._seen[name] = None
        while len(self._seen) > REMEMBERED:
            self._seen.popitem(last=False)
        return True
