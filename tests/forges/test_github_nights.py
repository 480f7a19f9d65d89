"""Nights whose work goes to GitHub: from the orders to the pull request, and whatever becomes of it there."""

import hashlib
import hmac
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import httpx
import pytest

from midwatch.errors import Refused, Unknown
from midwatch.evening import projects as by_day
from midwatch.evening.orders_file import read_orders
from midwatch.forges.github.forge import GitHubForge
from midwatch.morning import pull_requests
from midwatch.night.asks import settlement
from midwatch.night.commands import steering
from midwatch.night.delivery import sibling_updates
from midwatch.rules.people.asks import GO_ON
from midwatch.store.rebuild import audit
from midwatch.surfaces.queries.audit import violations
from midwatch.terms.asks import AskState
from midwatch.terms.forges import PullRequestPlace, PullRequestSeen
from midwatch.terms.jobs import JobState
from midwatch.terms.projects import WorkStatus
from midwatch.terms.records import AskRow, InvocationRow, JobRow, NoticeRow, ProjectRow, PullRequestRow, WorkRow
from tests.forges.github_door import Watched
from tests.forges.github_fake import Hosted, Token, merge
from tests.forges.stands import TOKEN
from tests.nights.house import CHECK, TestHouse, a_house, orders, sample_repository
from tests.nights.scripted import a_scripted_house
from tests.surfaces.visitor import visiting
from tests.workshop.repository import Repository

Opening = Callable[[Path, str], AbstractAsyncContextManager[TestHouse]]
WEBHOOK = "a word that both sides know"


def settled_at_github(watched: Watched, tmp_path: Path) -> tuple[Hosted, Path]:
    """Host a repository there, and write the settings of a data folder that delivers to it."""
    hosted = watched.fake.host("ada/shop", Repository(sample_repository(tmp_path / "sample")))
    watched.fake.tokens[TOKEN] = Token()
    home = tmp_path / "home"
    home.mkdir()
    for name, word in (("token", TOKEN), ("hook", WEBHOOK)):
        (tmp_path / name).write_text(word)
        (tmp_path / name).chmod(0o600)
    (home / "midwatch.toml").write_text(
        f'[secrets]\ngithub = "file:{tmp_path}/token"\nhook = "file:{tmp_path}/hook"\n'
        f'[forges.github]\nsecret = "github"\nwebhook_secret = "hook"\nbase_url = "{watched.api}"\n'
        f'host = "{watched.fake.address.removeprefix("http://")}"\nlabels = ["midwatch"]\nreviewers = ["nobody"]\n'
    )
    return hosted, home


@asynccontextmanager
async def at_github(
    watched: Watched, tmp_path: Path, database_url: str = "", opening: Opening = a_scripted_house
) -> AsyncIterator[tuple[TestHouse, Hosted]]:
    """A house whose one project is on GitHub; after the test everything that must hold does."""
    hosted, home = settled_at_github(watched, tmp_path)
    async with opening(home, database_url) as house:
        await by_day.add_project(
            house.house.evening, watched.fake.url("ada/shop"), by="ann", name="sample", checks=(CHECK,)
        )
        yield house, hosted
        assert await violations(house.house) == ()
        found = audit(house.house.url)
        assert (found.broken, found.differs) == ("", ())
        kept = [file for file in home.rglob("*") if file.is_file() and TOKEN.encode() in file.read_bytes()]
        assert kept == [], "the token is written nowhere"


def mark(word: str, body: bytes) -> str:
    return "sha256=" + hmac.new(word.encode(), body, hashlib.sha256).hexdigest()


async def the_one(house: TestHouse) -> PullRequestRow:
    (row,) = await house.house.records.find(PullRequestRow)
    return row


async def test_a_night_ends_with_a_pull_request_on_github_that_a_reviewer_can_use(
    watched: Watched, tmp_path: Path, database_url: str
) -> None:
    """A8, X8."""
    async with at_github(watched, tmp_path, database_url, a_house) as (house, hosted):
        await house.begin(orders("Tidy up"))
        await house.to_the_brief()
        (job,) = await house.house.records.find(JobRow)
        assert job.state is JobState.DONE, job.why
        (there,) = hosted.pulls
        row = await the_one(house)
        assert (row.forge, row.there, row.url) == ("github", 1, "https://github.example/ada/shop/pull/1")
        assert (there.head, hosted.tip(there.head), there.labels) == (row.branch, row.head, ["midwatch"])
        assert there.body.splitlines()[0].startswith("**Why.** Ordered for tonight: Tidy up.")
        assert there.body.splitlines()[-1] == f"Midwatch-Job: {job.id}"
        assert {"**What.**", "**Proof.**", "**Undo.**"} <= {line.split(" ")[0] for line in there.body.splitlines()}
        assert row.remarks == ("github refused nobody as reviewer: Reviews may only be requested from collaborators.",)
        (ready,) = [one.text for one in await house.house.records.find(NoticeRow) if "PR ready: " in one.text]
        assert f"· {row.url} ·" in ready
        effects = await house.house.records.find(InvocationRow, job=job.id)
        assert [one.status for one in effects] == ["ok", "ok"], "the branch and the pull request each passed the door"


async def test_what_becomes_of_it_there_is_read_back(watched: Watched, tmp_path: Path) -> None:
    async with at_github(watched, tmp_path) as (house, hosted):
        await house.begin(orders("Tidy up"))
        await house.to_the_brief()
        hosted.runs = [{"status": "in_progress", "conclusion": None}]
        await house.house.forge_watch.look_around()
        assert (await the_one(house)).checks == "pending"
        hosted.runs = [{"status": "completed", "conclusion": "failure"}]
        await house.house.forge_watch.look_around()
        assert (await the_one(house)).checks == "pending", "it is not due yet"
        await house.pass_time(minutes=2)
        await house.house.forge_watch.look_around()
        assert (await the_one(house)).checks == "red"
        sha = merge(hosted, hosted.pulls[0])
        await house.pass_time(minutes=20)
        await house.house.forge_watch.look_around()
        row = await the_one(house)
        assert (row.state, row.merged_sha) == ("merged", sha)
        (item,) = await house.house.records.find(WorkRow)
        assert item.status is WorkStatus.DONE
        asked = len(watched.fake.asked)
        await house.pass_time(hours=1)
        await house.house.forge_watch.look_around()
        assert len(watched.fake.asked) == asked, "what is over is not looked at any more"


async def test_an_error_nobody_thought_of_makes_the_watch_pause_for_that_pull_request_only(
    watched: Watched, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with at_github(watched, tmp_path) as (house, hosted):
        await house.begin(orders("Tidy up"))
        await house.to_the_brief()
        tried = []

        async def odd(_: GitHubForge, place: PullRequestPlace) -> PullRequestSeen:
            tried.append(place.number)
            raise KeyError("number")

        with monkeypatch.context() as patched:
            patched.setattr(GitHubForge, "look", odd)
            await house.pass_time(hours=1)
            tried.clear()
            assert await house.house.forge_watch.look_around() > 0
            await house.house.forge_watch.look_around()
            assert tried == [1], "it is left alone for a while"
        sha = merge(hosted, hosted.pulls[0])
        await house.pass_time(hours=1)
        await house.house.forge_watch.look_around()
        assert (await the_one(house)).merged_sha == sha, "and looked at again"


async def test_a_signed_webhook_makes_us_look_once_and_no_other_does(watched: Watched, tmp_path: Path) -> None:
    async with at_github(watched, tmp_path) as (house, hosted), visiting(house.house) as visitor:
        await house.begin(orders("Tidy up"))
        await house.to_the_brief()
        await house.house.forge_watch.look_around()
        hosted.pulls[0].state = "closed"
        body = b'{"action": "closed", "pull_request": {"merged": true}}'

        async def call(
            word: str, delivery: str, forge: str = "github", data: bytes = body, event: str = "pull_request"
        ) -> httpx.Response:
            headers = {"x-hub-signature-256": mark(word, body), "x-github-delivery": delivery, "x-github-event": event}
            return await visitor.http.post(f"/hooks/github/{forge}", content=data, headers=headers)

        for answer in (await call("another word", "1"), await call(WEBHOOK, "2", data=body + b" ")):
            assert answer.status_code == 401
        assert (await call(WEBHOOK, "3", forge="gitea")).status_code == 404
        assert (await visitor.http.post("/hooks/github/github", content=b"x" * 2_000_000)).status_code == 413
        assert (await call(WEBHOOK, "3", event="ping")).status_code == 200
        await house.house.forge_watch.look_around()
        assert (await the_one(house)).state == "open", "nobody who may ring has rung"
        assert (await call(WEBHOOK, "4")).status_code == 202
        await house.house.forge_watch.look_around()
        row = await the_one(house)
        assert row.state == "closed", "it was closed there; the webhook's own story is not believed"
        assert (await call(WEBHOOK, "5")).status_code == 200, "only the body is signed, so only it makes another"
        (item,) = await house.house.records.find(WorkRow)
        assert (item.status, item.owner) == (WorkStatus.BACKLOG, "human")


async def test_what_is_not_signed_fetches_no_secret_and_what_ails_it_is_told_to_no_stranger(
    watched: Watched, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with at_github(watched, tmp_path) as (house, _), visiting(house.house) as visitor:
        (tmp_path / "hook").unlink()
        house.house.vault.forget("hook")

        async def call(signature: str, forge: str = "github") -> httpx.Response:
            headers = {"x-hub-signature-256": signature, "x-github-event": "pull_request", "accept": "application/json"}
            return await visitor.http.post(f"/hooks/github/{forge}", content=b"{}", headers=headers)

        for odd in ("", "sha256=", f"sha1={'0' * 40}", f"sha256={'0' * 63}", f"sha256={'Z' * 64}"):
            assert (await call(odd)).status_code == 401
        assert "a webhook of github was refused" not in caplog.text, "nobody went for the secret"
        kept, none = await call(f"sha256={'0' * 64}"), await call(f"sha256={'0' * 64}", "nowhere")
        assert (kept.status_code, none.status_code) == (404, 404)
        assert kept.json() == none.json()
        assert "a webhook of github was refused" in caplog.text


async def test_a_forge_that_rings_without_end_is_looked_at_every_ten_seconds(watched: Watched, tmp_path: Path) -> None:
    async with at_github(watched, tmp_path) as (house, hosted):
        await house.begin(orders("Tidy up"))
        await house.to_the_brief()
        await house.pass_time(hours=1)
        watch = house.house.forge_watch
        await watch.look_around()
        await watch.wake_now("github")
        await watch.look_around()
        asked = len(watched.fake.asked)
        for _ in range(20):
            await watch.wake_now("github")
            await watch.look_around()
        assert len(watched.fake.asked) == asked
        sha = merge(hosted, hosted.pulls[0])
        await house.pass_time(seconds=11)
        await watch.look_around()
        assert (await the_one(house)).merged_sha == sha, "the last ring is not lost"


async def test_a_person_merges_there_from_here_and_closes_there_from_here(watched: Watched, tmp_path: Path) -> None:
    async with at_github(watched, tmp_path) as (house, hosted):
        await house.begin(orders("Tidy up"))
        await house.to_the_brief()
        (job,) = await house.house.records.find(JobRow)
        row = await pull_requests.merge(house.house.books, house.house.forges, job, by="ann")
        assert (row.state, row.merged_sha) == ("merged", hosted.tip("main"))
        assert hosted.pulls[0].merged_sha == row.merged_sha


async def test_an_expired_token_holds_the_night_until_it_is_renewed_and_then_there_is_one_pull_request(
    watched: Watched, tmp_path: Path
) -> None:
    async with at_github(watched, tmp_path) as (house, hosted):
        await house.begin(orders("Tidy up"))
        watched.fake.trouble("POST .*/pulls$", 401, "Bad credentials")
        await house.pass_time(minutes=25)
        (ask,) = await house.house.records.find(AskRow, state=AskState.OPEN)
        assert "github refused the token" in ask.question
        assert "midwatch doctor" in ask.question
        (job,) = await house.house.records.find(JobRow)
        assert (job.state, hosted.pulls) == (JobState.WAITING, [])
        await settlement.answer(house.house.books, ask.id, GO_ON, by="ann")
        await house.to_the_brief()
        (job,) = await house.house.records.find(JobRow)
        assert (job.state, len(hosted.pulls)) == (JobState.DONE, 1), job.why


async def test_a_refusal_ends_the_job_with_its_work_kept_and_resuming_delivers_it(
    watched: Watched, tmp_path: Path
) -> None:
    async with at_github(watched, tmp_path) as (house, hosted):
        hosted.hook("pre-receive", "echo 'Commits need a ticket.' >&2; exit 1")
        await house.begin(orders("Tidy up"))
        await house.to_the_brief()
        (job,) = await house.house.records.find(JobRow)
        assert job.state is JobState.FAILED
        assert "a hook of the server refused it. It says: Commits need a ticket." in job.why
        (hosted.git.path / "hooks" / "pre-receive").unlink()
        again = await steering.resume_job(house.house.books, job, by="ann")
        await house.settle()
        again = await house.house.records.get(JobRow, again.id)
        assert again.state is JobState.DONE, again.why
        assert [pull.head for pull in hosted.pulls] == [f"agent/{again.id}"]


async def test_a_counterpart_is_told_once_there_even_if_github_was_away(
    watched: Watched, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """X16, X8."""
    async with at_github(watched, tmp_path) as (house, hosted):
        await house.project(sample_repository(tmp_path / "web"), name="web")
        together = '[[work]]\nprojects = ["sample", "web"]\ntitle = "Tidy up"\n'
        for _ in range(5):
            watched.fake.trouble("GET .*/comments", 503, "We are away.")
        await house.begin(
            read_orders(f'level = "full"\ngoals = ["Tidy up"]\npermissions.silence_approves = true\n{together}')
        )
        await house.to_the_brief()
        await house.settle()
        (there,) = hosted.pulls
        assert (there.comments, len(watched.fake.troubles) < 5) == ([], True), "it was away"
        watched.fake.troubles.clear()
        with monkeypatch.context() as odd:
            odd.setattr(GitHubForge, "comment", None)  # an error nobody thought of
            await sibling_updates.catch_up(house.house.books, house.house.night.outside)
        for _ in range(2):
            await sibling_updates.catch_up(house.house.books, house.house.night.outside)
        (said,) = there.comments
        assert "web: pull request" in said
        mine = [row for row in await house.house.records.find(PullRequestRow) if row.forge == "github"]
        assert "web: pull request" in mine[0].body


async def test_a_limit_is_waited_out_inside_the_night(watched: Watched, tmp_path: Path) -> None:
    async with at_github(watched, tmp_path) as (house, hosted):
        watched.fake.trouble("POST .*/pulls$", 403, "You have exceeded a secondary rate limit.", Retry_After="120")
        await house.begin(orders("Tidy up"))
        await house.to_the_brief()
        (job,) = await house.house.records.find(JobRow)
        assert (job.state, job.waits, len(hosted.pulls)) == (JobState.DONE, 1, 1), job.why


async def test_a_forge_is_chosen_by_address_or_by_name_and_never_a_foreign_one(
    watched: Watched, tmp_path: Path
) -> None:
    async with at_github(watched, tmp_path) as (house, _):
        evening, forges = house.house.evening, house.house.forges
        (there,) = await house.house.records.find(ProjectRow)
        assert forges.of(there).name == "github"
        assert forges.of(await by_day.change_project(evening.books, "sample", by="ann", forge="local")).name == "local"
        assert forges.of(await by_day.change_project(evening.books, "sample", by="ann", forge="")).name == "github"
        here = await by_day.add_project(evening, sample_repository(tmp_path / "here"), by="ann", name="here")
        assert forges.of(here).name == "local"
        with pytest.raises(Refused, match="github hosts repositories at"):
            await by_day.change_project(evening.books, "here", by="ann", forge="github")
        with pytest.raises(Unknown, match="No forge is called gitlab"):
            await by_day.change_project(evening.books, "here", by="ann", forge="gitlab")
