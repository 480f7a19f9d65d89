"""GitHub's own ways: what it is told, what it sees, and what becomes of each of its refusals."""

import asyncio
import logging
from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from midwatch.engine.clocks import SystemClock
from midwatch.errors import Away, Limited, Locked, MidwatchError, Misuse, Refused, Stale, Unavailable
from midwatch.forges.github.addresses import repository_of
from midwatch.forges.github.asking import GitHubClient
from midwatch.forges.github.dressing import Wishes
from midwatch.forges.github.forge import GitHubForge
from tests.forges.github_door import Watched
from tests.forges.github_fake import Hosted, merge
from tests.forges.stands import BRANCH, JOB, PROJECT, TOKEN, Stand, github_stand
from tests.workshop.repository import Repository

WISHES = Wishes(labels=("midwatch", "night"), reviewers=("bo", "shop/keepers"))


@pytest.fixture
async def stand(watched: Watched, person: Repository, home: Path) -> AsyncIterator[Stand]:
    made = github_stand(watched, person, home, WISHES)
    assert made.hosted is not None
    made.hosted.collaborators = {"bo", "keepers"}
    yield made
    assert made.client is not None
    await made.client.close()


def hosted(stand: Stand) -> Hosted:
    assert stand.hosted is not None
    return stand.hosted


async def delivered(stand: Stand) -> str:
    head = await stand.work({"src/app.py": "x = 2\n"})
    await stand.deliver(head)
    return head


async def test_a_pull_request_says_what_it_was_told_with_labels_and_reviewers(stand: Stand) -> None:
    head = await delivered(stand)
    opened = await stand.forge.open(stand.draft(head, draft=True))
    made = hosted(stand).pulls[0]
    assert (made.title, made.body, made.head, made.base) == ("Greet the visitor", "**Why.** Ordered.", BRANCH, "main")
    assert (made.labels, made.reviewers) == (["midwatch", "night"], ["bo", "keepers"])
    assert opened.url == "https://github.example/ada/shop/pull/1"
    assert (opened.number, opened.draft, opened.remarks) == (1, True, ())


async def test_the_same_comment_twice_is_one_comment(stand: Stand) -> None:
    head = await delivered(stand)
    await stand.forge.open(stand.draft(head))
    for text in ("Merge after #2.", "Merge after #3.", "Merge after #2."):
        await stand.forge.comment(stand.place(head), text)
    said = [text.partition("\n")[0] for text in hosted(stand).pulls[0].comments]
    assert said == ["Merge after #2.", "Merge after #3."]


async def test_what_is_no_draft_there_and_who_is_no_reviewer_is_told_and_nothing_fails(stand: Stand) -> None:
    hosted(stand).drafts, hosted(stand).makes_labels, hosted(stand).collaborators = False, False, {"keepers"}
    head = await delivered(stand)
    opened = await stand.forge.open(stand.draft(head, draft=True))
    assert not opened.draft
    assert [remark.split(":")[0] for remark in opened.remarks] == [
        "github does not support drafts in ada/shop, so this one is not a draft.",
        "github refused bo as reviewer",
    ]
    assert hosted(stand).pulls[0].labels == ["midwatch", "night"], "labels nobody had were made"


async def test_checks_and_statuses_are_read_together_the_worst_first(stand: Stand) -> None:
    head = await delivered(stand)
    await stand.forge.open(stand.draft(head))
    there, seen = hosted(stand), []
    cases: tuple[tuple[list[dict[str, str | None]], list[str]], ...] = (
        ([], []),
        ([{"status": "completed", "conclusion": "success"}], []),
        ([{"status": "completed", "conclusion": "success"}, {"status": "in_progress", "conclusion": None}], []),
        ([{"status": "completed", "conclusion": "skipped"}], ["success"]),
        ([{"status": "completed", "conclusion": "success"}], ["pending"]),
        ([{"status": "in_progress", "conclusion": None}], ["failure"]),
        ([{"status": "completed", "conclusion": "timed_out"}], ["success"]),
    )
    for runs, statuses in cases:
        there.runs, there.statuses = runs, statuses
        seen.append((await stand.forge.look(stand.place(head))).checks)
    assert seen == ["none", "green", "pending", "green", "pending", "red", "red"]


async def test_a_second_look_costs_nothing_while_nothing_has_changed(stand: Stand, watched: Watched) -> None:
    head = await delivered(stand)
    await stand.forge.open(stand.draft(head))
    place = stand.place(head).model_copy(update={"number": 1})
    first = await stand.forge.look(place)
    watched.fake.shown.clear()
    assert await stand.forge.look(place) == first
    asked = [line for line in watched.fake.shown if line.lower().startswith("if-none-match:")]
    assert len(asked) == 3, "each of the three questions names the answer we have"
    merge(hosted(stand), hosted(stand).pulls[0])
    assert (await stand.forge.look(place)).state == "merged"


async def test_the_token_is_in_no_argument_url_file_or_log(
    stand: Stand, watched: Watched, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.DEBUG)
    started: list[str] = []
    real = asyncio.create_subprocess_exec

    async def noted(*words: Any, **more: Any) -> Any:
        started.append(" ".join(map(str, words)))
        return await real(*words, **more)

    monkeypatch.setattr(asyncio, "create_subprocess_exec", noted)
    head = await delivered(stand)
    await stand.forge.open(stand.draft(head))
    hosted(stand).hook("pre-receive", "echo no; exit 1")
    with pytest.raises(Refused) as caught:
        await stand.deliver(await stand.work({"b.txt": "2"}, epoch=2, base=head))
    assert any("push" in line for line in started)
    said = [*started, caplog.text, repr(stand.forge), repr(stand.mirrors.git), str(caught.value), caught.value.hint]
    said += [line for line in watched.fake.shown if not line.lower().startswith("authorization:")]
    said += [file.read_text(errors="replace") for file in stand.home.rglob("*") if file.is_file()]
    assert not [text for text in said if TOKEN in text]


async def trouble_at_push(stand: Stand, kind: type[MidwatchError], words: str) -> MidwatchError:
    head = await stand.work({"src/app.py": "x = 2\n"})
    with pytest.raises(kind, match=words) as caught:
        await stand.deliver(head)
    assert stand.kept_in_mirror(head), "the work is kept"
    assert BRANCH not in str(stand.there.refs()), "and nothing arrived"
    assert caught.value.hint
    assert "\n" not in caught.value.message
    return caught.value


async def test_a_hook_of_the_server_that_refuses_is_told_in_its_own_words(stand: Stand) -> None:
    hosted(stand).hook("pre-receive", "echo 'Commits need a ticket.' >&2; exit 1")
    error = await trouble_at_push(stand, Refused, "a hook of the server refused it")
    assert "Commits need a ticket." in error.message
    (stand.there.path / "hooks" / "pre-receive").unlink()
    head = await stand.work({"src/app.py": "x = 2\n"}, epoch=2)
    assert await stand.deliver(head) == BRANCH, "once the hook is content, it goes on"


async def test_a_protected_branch_is_never_written_even_where_the_token_could(stand: Stand) -> None:
    hosted(stand).rules = ["creation"]
    error = await trouble_at_push(stand, Refused, "agent/job_1 is protected in ada/shop on github: no such branch")
    assert "agent/*" in error.hint
    hosted(stand).rules = []
    hosted(stand).hook("update", "echo 'error: GH006: Protected branch update failed for refs/heads/x.' >&2; exit 1")
    await trouble_at_push(stand, Refused, "is protected there")
    (stand.there.path / "hooks" / "update").unlink()
    head = await delivered(stand)
    hosted(stand).protected = {BRANCH}
    with pytest.raises(Refused, match="it is a protected branch"):
        await stand.deliver(head)


async def test_an_archived_repository_is_told_at_push_and_at_opening(stand: Stand) -> None:
    head = await delivered(stand)
    hosted(stand).archived = True
    with pytest.raises(Refused, match="ada/shop is archived on github"):
        await stand.forge.open(stand.draft(head))
    with pytest.raises(Refused, match="the repository is archived") as caught:
        await stand.deliver(await stand.work({"b.txt": "2"}, epoch=2, base=head))
    assert "Unarchive" in caught.value.hint
    assert not (await stand.forge.rehearse(stand.source, PROJECT))[0].good


async def test_a_token_that_may_only_read_is_told_what_it_lacks(stand: Stand, watched: Watched) -> None:
    watched.fake.tokens[TOKEN].push = False
    error = await trouble_at_push(stand, Refused, "may read but not write")
    assert "write access" in error.hint
    watched.fake.tokens[TOKEN].push, watched.fake.tokens[TOKEN].pulls = True, False
    head = await delivered(stand)
    with pytest.raises(Refused, match="Resource not accessible by personal access token") as caught:
        await stand.forge.open(stand.draft(head))
    assert "pull_requests=write" in caught.value.hint
    lines = await stand.forge.rehearse(stand.source, PROJECT)
    assert [line.good for line in lines] == [True, False, True]
    assert "pull_requests=write" in lines[1].fix


async def test_an_expired_token_holds_the_night_and_is_fetched_anew(stand: Stand, watched: Watched) -> None:
    head = await stand.work({"src/app.py": "x = 2\n"})
    watched.fake.tokens[TOKEN].expired = True
    with pytest.raises(Locked, match="github refused the token") as caught:
        await stand.deliver(head)
    assert "[forges.github]" in caught.value.hint
    assert stand.kept.refusals == 1
    assert isinstance(stand.forge, GitHubForge)
    with pytest.raises(Locked, match="was refused"):
        await stand.forge.pusher.deliver(stand.source, PROJECT, JOB, head)
    with pytest.raises(Locked):
        await stand.mirrors.refresh(PROJECT, stand.source)
    stand.kept.gone = True
    with pytest.raises(Unavailable, match="command for the secret"):
        await stand.deliver(head)
    stand.kept.gone, watched.fake.tokens[TOKEN].expired = False, False
    assert await stand.deliver(head) == BRANCH


async def test_a_repository_that_is_gone_or_has_moved_is_told(stand: Stand, watched: Watched) -> None:
    head = await stand.work({"src/app.py": "x = 2\n"})
    hosted(stand).moved = True
    near = GitHubClient(
        "github", stand.kept, SystemClock(), watched.fake.address
    )  # Prism would follow the redirect itself
    with pytest.raises(Refused, match="has moved to another name") as caught:
        await near.ask("GET", "/repos/ada/shop")
    await near.close()
    assert "midwatch project add" in caught.value.hint
    watched.fake.hosted.clear()
    with pytest.raises(Refused, match="there is no such repository, or the credential cannot access it"):
        await stand.deliver(head)
    with pytest.raises(Refused, match="ada/shop is no longer on github"):
        await stand.forge.open(stand.draft(head))
    assert stand.kept_in_mirror(head)


async def test_a_host_that_is_away_is_tried_again(stand: Stand, watched: Watched) -> None:
    head = await delivered(stand)
    watched.fake.trouble("GET .*/pulls", 502, "Server Error")
    with pytest.raises(Away, match="github answered 502"):
        await stand.forge.open(stand.draft(head))
    assert isinstance(stand.forge, GitHubForge)
    nobody = GitHubClient("github", stand.kept, SystemClock(), "http://127.0.0.1:1")
    with pytest.raises(Away, match="cannot be reached"):
        await nobody.ask("GET", "/")
    await nobody.close()
    with pytest.raises(Away, match="cannot be reached"):
        await stand.forge.pusher.deliver("http://127.0.0.1:1/ada/shop.git", PROJECT, JOB, head)
    assert (await stand.forge.open(stand.draft(head))).state == "open"


@pytest.mark.parametrize(
    ("status", "message", "headers", "seconds"),
    [
        (403, "You have exceeded a secondary rate limit.", {"Retry_After": "90"}, 90),
        (429, "Too many", {"Retry_After": "7"}, 7),
        (403, "API rate limit exceeded for user.", {"X_RateLimit_Remaining": "0"}, None),
    ],
)
async def test_a_limit_is_waited_out(
    stand: Stand, watched: Watched, status: int, message: str, headers: dict[str, str], seconds: int | None
) -> None:
    head = await delivered(stand)
    watched.fake.trouble("POST .*/pulls$", status, message, **headers)
    before = SystemClock().now()
    with pytest.raises(Limited, match="is limiting requests") as caught:
        await stand.forge.open(stand.draft(head))
    if seconds is None:
        assert caught.value.until is None
    else:
        assert _about(caught.value.until, before + timedelta(seconds=seconds))
    assert (await stand.forge.open(stand.draft(head))).number == 1


def _about(until: datetime | None, wanted: datetime) -> bool:
    return until is not None and wanted <= until <= wanted + timedelta(minutes=5)


async def test_an_opening_whose_answer_was_lost_is_found_and_not_done_twice(stand: Stand, watched: Watched) -> None:
    head = await delivered(stand)
    await stand.forge.open(stand.draft(head))
    hosted(stand).pulls[0].labels.clear()
    # The list is behind: it does not have the new one yet, and the second opening is refused.
    watched.fake.trouble("GET .*/pulls[?]", 200, "")
    watched.fake.troubles[-1][1].body = []
    again = await stand.forge.open(stand.draft(head))
    assert (again.number, len(hosted(stand).pulls)) == (1, 1)
    assert hosted(stand).pulls[0].labels == ["midwatch", "night"], "what a crash left off is put on"


async def test_a_closed_pull_request_is_told_and_none_is_opened_beside_it(stand: Stand) -> None:
    head = await delivered(stand)
    await stand.forge.open(stand.draft(head))
    await stand.forge.close(stand.place(head))
    assert (await stand.forge.look(stand.place(head))).state == "closed"
    with pytest.raises(Refused, match="#1 for agent/job_1 was closed on github"):
        await stand.forge.open(stand.draft(head))
    with pytest.raises(Refused, match="was closed"):
        await stand.forge.merge(PROJECT, stand.source, JOB, head, "main", "Merge")
    assert len(hosted(stand).pulls) == 1


async def test_a_base_that_moved_is_fine_and_one_that_is_gone_is_told(stand: Stand) -> None:
    head = await delivered(stand)
    newer = stand.there.git("commit-tree", "main^{tree}", "-p", "main", "-m", "Meanwhile")
    stand.there.git("update-ref", "refs/heads/main", newer)
    assert (await stand.forge.open(stand.draft(head))).state == "open"
    hosted(stand).pulls.clear()
    with pytest.raises(Refused, match="release is gone from ada/shop on github") as caught:
        await stand.forge.open(stand.draft(head, into="release"))
    assert BRANCH in caught.value.hint


async def test_what_github_will_not_validate_is_told_in_its_words(stand: Stand) -> None:
    head = await delivered(stand)
    stand.there.git("update-ref", "refs/heads/main", head)
    with pytest.raises(Refused, match="No commits between main and agent/job_1"):
        await stand.forge.open(stand.draft(head))


async def test_only_what_the_person_saw_is_merged(stand: Stand) -> None:
    head = await delivered(stand)
    await stand.forge.open(stand.draft(head))
    newer = stand.there.git("commit-tree", f"{BRANCH}^{{tree}}", "-p", BRANCH, "-m", "Slipped in")
    stand.there.git("update-ref", f"refs/heads/{BRANCH}", newer)
    with pytest.raises(Stale, match="has moved on github"):
        await stand.forge.merge(PROJECT, stand.source, JOB, head, "main", "Merge")


@pytest.mark.parametrize(
    ("source", "named"),
    [
        ("https://github.com/ada/shop.git", "ada/shop"),
        ("https://github.com/ada/shop/", "ada/shop"),
        ("git@github.com:ada/shop.git", "ada/shop"),
        ("ssh://git@github.com/ada/sh.op", "ada/sh.op"),
    ],
)
def test_an_address_names_its_repository(source: str, named: str) -> None:
    assert str(repository_of(source)) == named
    assert repository_of(source).at("branches", "agent/x") == f"/repos/{named}/branches/agent%2Fx"


@pytest.mark.parametrize("source", ["https://github.com/ada", "https://github.com/a/b/c", "git@h:../x", "/srv/shop"])
def test_other_addresses_are_refused(source: str) -> None:
    with pytest.raises(Misuse):
        repository_of(source)
