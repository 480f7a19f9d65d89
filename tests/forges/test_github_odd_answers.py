"""Answers that no forge should give: each is somebody away for now, never the end of our looking."""

import json
import threading
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from midwatch.engine.clocks import SystemClock
from midwatch.errors import Away, Limited, MidwatchError, Unknown
from midwatch.forges.github.asking import GitHubClient
from midwatch.forges.github.dressing import Wishes
from midwatch.forges.github.forge import GitHubForge
from midwatch.forges.github.refusals import complains_about, refusal_anywhere
from midwatch.forges.pushing import Pusher
from midwatch.terms.forges import PullRequestPlace
from midwatch.workshop.git.mirrors import GitMirrors
from tests.forges.stands import BRANCH, JOB, PROJECT, Kept

SHA = "a" * 40
NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
SOURCE = "https://github.com/ada/shop.git"


class Odd(BaseHTTPRequestHandler):
    """Says whatever it was told to say, and `{}` to what it was told nothing about."""

    says: dict[str, bytes]

    def do_GET(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        data = self.says.get(f"{self.command} {self.path.partition('?')[0]}", b"{}")
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("ETag", "\xb2")
        self.end_headers()
        self.wfile.write(data)

    do_PUT = do_GET  # noqa: N815

    def log_message(self, format: str, *words: object) -> None:  # noqa: A002 - its name in the standard library
        """Stay silent."""


@pytest.fixture
def says() -> dict[str, bytes]:
    return {}


@pytest.fixture
def address(says: dict[str, bytes]) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Saying", (Odd,), {"says": says}))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
async def forge(address: str, tmp_path: Path) -> AsyncIterator[GitHubForge]:
    client = GitHubClient("github", Kept(), SystemClock(), address)
    yield GitHubForge(client, Pusher(GitMirrors(tmp_path)), Wishes())
    await client.close()


def place(number: int = 1) -> PullRequestPlace:
    return PullRequestPlace(
        source=SOURCE, project=PROJECT, job=JOB, branch=BRANCH, head=SHA, into="main", number=number
    )


@pytest.mark.parametrize(
    "said",
    [
        b"{}",
        b"[]",
        b'"1"',
        b"",
        b'{"number": "1"}',
        b'{"number": true}',
        b'{"number": 99999999999999999999}',
        b'{"number": ' + b"9" * 5000 + b"}",
        b"[" * 100_000,
    ],
    ids=["empty", "list", "text", "nothing", "words", "truth", "large", "endless", "deep"],
)
async def test_what_is_no_pull_request_is_tried_again(forge: GitHubForge, says: dict[str, bytes], said: bytes) -> None:
    says["GET /repos/ada/shop/pulls/1"] = said
    with pytest.raises(Away, match="github returned something that is not"):
        await forge.look(place())


@pytest.mark.parametrize(
    ("said", "kind"),
    [(b'[1, null, {"head": null}, {"head": {"ref": "agent/job_1"}}]', Away), (b'[{"head": []}, []]', Unknown)],
)
async def test_a_list_of_odd_things_is_no_error_of_ours(
    forge: GitHubForge, says: dict[str, bytes], said: bytes, kind: type[MidwatchError]
) -> None:
    says["GET /repos/ada/shop/pulls"] = said
    with pytest.raises(kind):
        await forge.look(place(0))


async def test_odd_parts_of_a_pull_request_count_as_nothing(forge: GitHubForge, says: dict[str, bytes]) -> None:
    pull = {"number": 1, "html_url": ["x"], "head": {"sha": "../../x"}, "merged_by": "ada", "draft": 3}
    says["GET /repos/ada/shop/pulls/1"] = json.dumps(pull).encode()
    for _ in range(2):  # the second time with what the first left behind
        seen = await forge.look(place())
        assert (seen.state, seen.number, seen.url, seen.by, seen.checks) == ("open", 1, "", "", "none")
    says["GET /repos/ada/shop/pulls/1"] = json.dumps(pull | {"html_url": "\ud800", "head": {"sha": SHA}}).encode()
    says[f"GET /repos/ada/shop/commits/{SHA}/check-runs"] = (
        b'{"check_runs": [{"status": "completed", "conclusion": []}]}'
    )
    says[f"GET /repos/ada/shop/commits/{SHA}/status"] = b'{"statuses": 5}'
    seen = await forge.look(place())
    assert (seen.url, seen.checks) == ("?", "red")


@pytest.mark.parametrize("sha", ["x; rm -rf ~", "A" * 40, "a" * 39, f"{SHA}\n", 7, None])
async def test_only_a_commit_goes_into_the_command_that_takes_a_merge_back(
    forge: GitHubForge, says: dict[str, bytes], sha: object
) -> None:
    says["GET /repos/ada/shop/pulls"] = json.dumps([{"number": 1, "head": {"ref": BRANCH}}]).encode()
    says["GET /repos/ada/shop/pulls/1"] = b'{"number": 1, "state": "open"}'
    says["PUT /repos/ada/shop/pulls/1/merge"] = json.dumps({"sha": sha}).encode()
    merged = await forge.merge(PROJECT, SOURCE, JOB, SHA, "main", "Merge")
    assert (merged.sha, merged.undo) == ("", ())
    over = {"number": 1, "state": "closed", "merged": True, "merge_commit_sha": sha}
    says["GET /repos/ada/shop/pulls/1"] = json.dumps(over).encode()
    again = await forge.merge(PROJECT, SOURCE, JOB, SHA, "main", "Merge")
    assert (again.sha, again.undo) == ("", ())


async def test_a_branch_is_one_word_of_the_command_that_takes_a_merge_back(
    forge: GitHubForge, says: dict[str, bytes]
) -> None:
    says["GET /repos/ada/shop/pulls"] = json.dumps([{"number": 1, "head": {"ref": BRANCH}}]).encode()
    says["GET /repos/ada/shop/pulls/1"] = b'{"number": 1, "state": "open"}'
    says["PUT /repos/ada/shop/pulls/1/merge"] = json.dumps({"sha": SHA}).encode()
    merged = await forge.merge(PROJECT, SOURCE, JOB, SHA, "main;$(id)", "Merge")
    assert merged.undo == (f"git fetch origin && git switch 'main;$(id)' && git revert -m 1 {SHA} && git push",)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "²"}, None),
        ({"retry-after": "9" * 5000}, None),
        ({"retry-after": "9" * 12}, 86400),
        ({"x-ratelimit-reset": "²", "date": "Fri, 01 May 2026 12:00:00 GMT"}, None),
        ({"x-ratelimit-reset": "9" * 5000, "date": "Fri, 01 May 2026 12:00:00 GMT"}, None),
        ({"x-ratelimit-reset": "1777636860", "date": "Fri, 01 May 2026 12:00:00 GMT"}, 60),
        ({"x-ratelimit-reset": "1777636860", "date": "Fri, 01 May 0000000000000099999 12:00:00 GMT"}, None),
    ],
)
def test_an_odd_limit_is_a_limit_without_a_time(headers: dict[str, str], seconds: int | None) -> None:
    error = refusal_anywhere("github", 429, headers, "", NOW)
    assert isinstance(error, Limited)
    assert error.until == (None if seconds is None else NOW + timedelta(seconds=seconds))


def test_complaints_of_another_shape_complain_about_nothing() -> None:
    bodies: tuple[Any, ...] = ({"errors": 5}, {"errors": None}, [], None)
    for body in bodies:
        assert not complains_about(body, "base")
