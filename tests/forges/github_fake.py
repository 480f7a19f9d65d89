"""A GitHub on this machine: real repositories, and a REST side that remembers what was done."""

import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote

from tests.forges.github_words import Reply, Words, complaint, invalid
from tests.workshop.repository import Repository


@dataclass
class Token:
    """What one token may do."""

    who: str = "ada"
    expired: bool = False
    push: bool = True
    pulls: bool = True


@dataclass
class Pull:
    """One pull request; where its branch stands is asked of git each time."""

    number: int
    title: str
    body: str
    head: str
    base: str
    draft: bool
    state: str = "open"
    merged_sha: str = ""
    stood: str = ""
    """Where its branch stood when it was deleted."""
    labels: list[str] = field(default_factory=list)
    reviewers: list[str] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)


@dataclass
class Hosted:
    """One repository with all that GitHub knows about it."""

    full_name: str
    git: Repository
    pulls: list[Pull] = field(default_factory=list)
    archived: bool = False
    moved: bool = False
    drafts: bool = True
    makes_labels: bool = True
    labels: set[str] = field(default_factory=set)
    collaborators: set[str] = field(default_factory=set)
    rules: list[str] = field(default_factory=list)
    """Kinds of rules that hold for agent/*."""
    protected: set[str] = field(default_factory=set)
    runs: list[dict[str, str | None]] = field(default_factory=list)
    statuses: list[str] = field(default_factory=list)

    def hook(self, name: str, script: str) -> None:
        """Let the server's own hook look at a push."""
        file = self.git.path / "hooks" / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"#!/bin/sh\n{script}\n")
        file.chmod(0o755)

    def tip(self, branch: str) -> str:
        """The newest commit of a branch; nothing, where there is none."""
        return self.git.refs().get(f"refs/heads/{branch}", "")


@dataclass
class GitHubFake:
    """The whole host. `troubles` are answered instead of what was asked, each once, to requests that match."""

    root: Path
    words: Words
    address: str = ""
    hosted: dict[str, Hosted] = field(default_factory=dict)
    tokens: dict[str, Token] = field(default_factory=dict)
    troubles: list[tuple[str, Reply]] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)
    """Every header line and body that arrived: where a token may be, and nowhere else."""

    def host(self, full_name: str, person: Repository) -> Hosted:
        """Put a copy of a person's repository here."""
        place = self.root / f"{full_name}.git"
        shutil.rmtree(place, ignore_errors=True)
        place.parent.mkdir(parents=True, exist_ok=True)
        person.git("clone", "--quiet", "--bare", str(person.path), str(place))
        made = Hosted(full_name, Repository(place))
        made.git.git("config", "http.receivepack", "true")
        self.hosted[full_name] = made
        return made

    def url(self, full_name: str) -> str:
        """Where git finds it."""
        return f"{self.address}/{full_name}.git"

    def trouble(self, pattern: str, status: int, message: str = "", **headers: str) -> None:
        """Answer the next request that matches with this."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.troubles.append((pattern, Reply(status, complaint(message) if message else None, named)))

    def answer(self, method: str, path: str, body: dict[str, Any], token: str) -> Reply:
        """Answer one REST request."""
        self.asked.append(f"{method} {path}")
        for index, (pattern, reply) in enumerate(self.troubles):
            if re.search(pattern, f"{method} {path}"):
                del self.troubles[index]
                return reply
        held = self.tokens.get(token)
        if held is None or held.expired:
            return Reply(401, complaint("Bad credentials"))
        bare, _, query = path.partition("?")
        _, owner, name, *rest = bare.strip("/").split("/")
        there = self.hosted.get(f"{owner}/{name}")
        if there is None:
            return Reply(404, complaint("Not Found"))
        if there.moved:
            return Reply(301, complaint("Moved Permanently"), {"Location": f"{self.address}/repositories/1"})
        for kind, pattern, serve in ROUTES:
            if method == kind and (found := re.fullmatch(pattern, "/".join(rest))):
                values = [unquote(part) for part in found.groups()]
                return serve(self, there, held, values, {**body, "?": parse_qs(query)})
        return Reply(404, complaint("Not Found"))


Serve = Callable[[GitHubFake, Hosted, Token, list[str], dict[str, Any]], Reply]


def _repository(fake: GitHubFake, there: Hosted, held: Token, _v: list[str], _b: dict[str, Any]) -> Reply:
    return Reply(200, fake.words.repository(there.full_name, archived=there.archived, push=held.push))


def _listed(fake: GitHubFake, there: Hosted, _t: Token, _v: list[str], body: dict[str, Any]) -> Reply:
    query = body["?"]
    head = query.get("head", [""])[0].partition(":")[2]
    state = query.get("state", ["open"])[0]
    found = [one for one in there.pulls if one.head == head and state in {"all", one.state}]
    size, page = int(query.get("per_page", ["30"])[0]), int(query.get("page", ["1"])[0])
    newest = list(reversed(found))
    more = {"Link": f'<{fake.address}/next>; rel="next"'} if len(newest) > size * page else {}
    some = newest[size * (page - 1) : size * page]
    return Reply(200, [fake.words.listed(there, one, there.tip(one.head)) for one in some], more)


def _unwritable(there: Hosted, held: Token) -> Reply | None:
    if there.archived:
        return Reply(403, complaint("Repository was archived so is read-only."))
    if not held.pulls:
        lacks = {"X-Accepted-GitHub-Permissions": "pull_requests=write"}
        return Reply(403, complaint("Resource not accessible by personal access token"), lacks)
    return None


def _opened(fake: GitHubFake, there: Hosted, held: Token, _v: list[str], body: dict[str, Any]) -> Reply:
    if refused := _unwritable(there, held):
        return refused
    head, base = body["head"], body["base"]
    gone = [name for name in ("base", "head") if not there.tip(body[name])]
    if gone:
        return invalid("PullRequest", field=gone[0])
    if any(one.head == head and one.base == base and one.state == "open" for one in there.pulls):
        return invalid("PullRequest", message=f"A pull request already exists for {held.who}:{head}.")
    if not there.git.git("rev-list", "--max-count=1", f"{base}..{head}"):
        return invalid("PullRequest", message=f"No commits between {base} and {head}")
    if body.get("draft") and not there.drafts:
        return Reply(422, complaint("Draft pull requests are not supported in this repository."))
    made = Pull(len(there.pulls) + 1, body["title"], body["body"], head, base, bool(body.get("draft")))
    there.pulls.append(made)
    return Reply(201, fake.words.pull(there, made, there.tip(head)))


def _numbered(there: Hosted, number: str) -> Pull | None:
    return next((one for one in there.pulls if one.number == int(number)), None)


def _shown(fake: GitHubFake, there: Hosted, _t: Token, values: list[str], _b: dict[str, Any]) -> Reply:
    pull = _numbered(there, values[0])
    return Reply(200, fake.words.pull(there, pull, there.tip(pull.head))) if pull else Reply(404, complaint("No"))


def _patched(fake: GitHubFake, there: Hosted, held: Token, values: list[str], body: dict[str, Any]) -> Reply:
    pull = _numbered(there, values[0])
    if refused := _unwritable(there, held):
        return refused
    if pull is None:
        return Reply(404, complaint("Not Found"))
    pull.state = body.get("state", pull.state)
    return Reply(200, fake.words.pull(there, pull, there.tip(pull.head)))


def merge(there: Hosted, pull: Pull) -> str:
    """Merge with real git, as the button does; nothing, where it conflicts."""
    base, head = there.tip(pull.base), there.tip(pull.head)
    try:
        tree = there.git.git("merge-tree", "--write-tree", base, head).splitlines()[0]
    except AssertionError:
        return ""
    pull.merged_sha = there.git.git("commit-tree", tree, "-p", base, "-p", head, "-m", f"Merge #{pull.number}")
    there.git.git("update-ref", f"refs/heads/{pull.base}", pull.merged_sha)
    pull.state = "closed"
    return pull.merged_sha


def _merged(_f: GitHubFake, there: Hosted, held: Token, values: list[str], body: dict[str, Any]) -> Reply:
    pull = _numbered(there, values[0])
    if refused := _unwritable(there, held):
        return refused
    if pull is None or pull.state != "open":
        return Reply(405, {"message": "Pull Request is not mergeable"})
    if body.get("sha") not in {None, there.tip(pull.head)}:
        return Reply(409, {"message": "Head branch was modified. Review and try the merge again."})
    made = merge(there, pull)
    if not made:
        return Reply(405, {"message": "Pull Request is not mergeable"})
    return Reply(200, {"sha": made, "merged": True, "message": "Pull Request successfully merged"})


def _labelled(fake: GitHubFake, there: Hosted, held: Token, values: list[str], body: dict[str, Any]) -> Reply:
    pull = _numbered(there, values[0])
    if not held.pulls or pull is None:
        return Reply(404, complaint("Not Found"))
    wanted = body["labels"]
    if not there.makes_labels and not set(wanted) <= there.labels:
        return Reply(404, complaint("Label does not exist"))
    pull.labels += [label for label in wanted if label not in pull.labels]
    return Reply(200, [fake.words.label(name) for name in pull.labels])


def _label_made(fake: GitHubFake, there: Hosted, _t: Token, _v: list[str], body: dict[str, Any]) -> Reply:
    if body["name"] in there.labels:
        return invalid("Label", field="name", code="already_exists")
    there.labels.add(body["name"])
    return Reply(201, fake.words.label(body["name"]))


def _invited(fake: GitHubFake, there: Hosted, _t: Token, values: list[str], body: dict[str, Any]) -> Reply:
    pull, wanted = _numbered(there, values[0]), [*body.get("reviewers", []), *body.get("team_reviewers", [])]
    if pull is None or not set(wanted) <= there.collaborators:
        return Reply(422, complaint("Reviews may only be requested from collaborators."))
    pull.reviewers += wanted
    return Reply(201, fake.words.listed(there, pull, there.tip(pull.head)))


def _commented(fake: GitHubFake, there: Hosted, held: Token, values: list[str], body: dict[str, Any]) -> Reply:
    pull = _numbered(there, values[0])
    if refused := _unwritable(there, held):
        return refused
    if pull is None:
        return Reply(404, complaint("Not Found"))
    pull.comments.append(body["body"])
    return Reply(201, fake.words.comment(body["body"]))


def _spoken(fake: GitHubFake, there: Hosted, _t: Token, values: list[str], _b: dict[str, Any]) -> Reply:
    pull = _numbered(there, values[0])
    if pull is None:
        return Reply(404, complaint("Not Found"))
    return Reply(200, [fake.words.comment(text) for text in pull.comments])


def _runs(fake: GitHubFake, there: Hosted, _t: Token, values: list[str], _b: dict[str, Any]) -> Reply:
    return Reply(200, fake.words.runs(values[0], there.runs))


def _statuses(fake: GitHubFake, there: Hosted, _t: Token, values: list[str], _b: dict[str, Any]) -> Reply:
    return Reply(200, fake.words.statuses(values[0], there.statuses))


def _ruled(fake: GitHubFake, there: Hosted, _t: Token, values: list[str], _b: dict[str, Any]) -> Reply:
    kinds = there.rules if values[0].startswith("agent/") else []
    return Reply(200, [fake.words.rule(kind, there.full_name) for kind in kinds])


def _branch(fake: GitHubFake, there: Hosted, _t: Token, values: list[str], _b: dict[str, Any]) -> Reply:
    tip = there.tip(values[0])
    if not tip:
        return Reply(404, complaint("Branch not found"))
    return Reply(200, fake.words.branch(values[0], tip, protected=values[0] in there.protected))


ROUTES: list[tuple[str, str, Serve]] = [
    ("GET", "", _repository),
    ("GET", "pulls", _listed),
    ("POST", "pulls", _opened),
    ("GET", r"pulls/(\d+)", _shown),
    ("PATCH", r"pulls/(\d+)", _patched),
    ("PUT", r"pulls/(\d+)/merge", _merged),
    ("POST", r"pulls/(\d+)/requested_reviewers", _invited),
    ("POST", r"issues/(\d+)/labels", _labelled),
    ("GET", r"issues/(\d+)/comments", _spoken),
    ("POST", r"issues/(\d+)/comments", _commented),
    ("POST", "labels", _label_made),
    ("GET", r"commits/([^/]+)/check-runs", _runs),
    ("GET", r"commits/([^/]+)/status", _statuses),
    ("GET", r"rules/branches/([^/]+)", _ruled),
    ("GET", r"branches/([^/]+)", _branch),
]
