"""Whatever strangers and agents write, wherever it is shown: it stays text and changes no page's shape."""

import asyncio
import html
import json
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import pytest
import pytest_asyncio
from fastapi.routing import APIRoute

from midwatch.errors import Misuse
from midwatch.evening import accounts as door
from midwatch.journal.entry import Entry
from midwatch.journal.events import Event, jobs, session
from midwatch.surfaces.queries.replay import every_entry
from midwatch.surfaces.web.pages.tonight_forms import without
from midwatch.surfaces.web.site.app import Site
from midwatch.terms.people import Role
from midwatch.terms.records import AskRow
from midwatch.views.text.plain import harmless
from tests.journal.samples import KINDS
from tests.nights.house import TestHouse, a_house
from tests.patience import PATIENCE
from tests.surfaces.hostile import (
    CORE,
    DRAFT,
    Day,
    Words,
    a_day,
    a_house_of,
    after_a_night,
    at_work,
    beside_a_night,
    payload,
    reviewed,
)
from tests.surfaces.payloads import ALL
from tests.surfaces.shapes import Shape, assert_nothing_is_raw, differences
from tests.surfaces.test_routes import walk
from tests.surfaces.viewers import HTMX, PROGRAM
from tests.surfaces.visitor import HERE, PASSWORD, PORT, Visitor, visiting, welcome

pytestmark = pytest.mark.asyncio(loop_scope="module")

NEVER_TOLD = {
    "job.repaired",
    "review.timed_out",
    "settings.applied",
    "person.removed",
    "project.removed",
    "project.tool_taken_back",
    *("ask.postponed", "job.boxed", "job.warned", "plan.returned", "pull_request.changed", "push.begun", "push.failed"),
    *("signal.answered", "signal.passed", "signal.seen", "signing.asked", "signing.dropped", "stack.commented"),
    *("stack.undone", "pull_request.reopened"),
}
"""Kinds no house here takes; tests/views/test_describe.py says them with hostile words."""
PARTS = ("goals", "work", "limits", "permissions", "text", "sign", "estimate", "wont")
PAGES = (
    *("/", "/live", "/tonight", "/morning", "/morning?night=1", "/morning/diff/1", "/jobs/1", "/jobs/1/now", "/login"),
    *("/jobs/1/kept", "/jobs/1/prompts/1", "/jobs/1/steps/3", "/tonight/ready", "/tonight/sheet", "/morning/stack/1"),
    *("/welcome?key=", "/healthz", "/readyz", "/favicon.ico", "/tonight/level", "/tonight/level/edit"),
    "/tonight/orders/text/example",
    *(f"/tonight/orders/{part}" for part in PARTS),
    *(f"/tonight/orders/{part}/edit" for part in PARTS),
    *("/tonight/orders/work/edit?item=0", "/tonight/orders/work/edit?item=1", "/tonight/orders/work/edit?item=new"),
)
LISTS = (
    *("asks", "asks/1", "doctor/invariants", "doctor/queue", "doctor/verify"),
    *("entries", "forges", "goals", "jobs", "jobs/1", "level", "me"),
    *("morning", "orders", "orders/example", "people", "projects", "projects/sample", "pull_requests", "rehearse"),
    *("replay", "runs", "sessions", "sessions/1", "settings", "settings/proposals", "settings/proposals/1/diff"),
    *("status", "tokens", "why/5", "work", "jobs/1/log", "jobs/1/log?raw=true&from=0", "jobs/1/stream"),
    *("jobs/1/steps", "jobs/1/plans", "stacks", "stacks/newest", "stacks/1", "channels", "preflight", "preflight/1"),
    *("jobs/1/connections", "jobs/1/checkouts", "jobs/1/errands", "jobs/1/prompts/1", "agents"),
)
HOUSES = ("under way", "at work", "told", "reviewed")
RAW = ("jobs/1/diff",)
"""What a person gives to git: bytes as they are, as text/plain that no browser guesses about."""
FIELDS = (
    *("goals", "success_criteria", "notes", "title", "project", "agent", "checks", "paths", "was", "toml", "minutes"),
    *("rounds", "usd", "tokens", "until", "zone", "level", "tools", "external", "domains", "do_not_touch", "reason"),
    *("path", "name", "purpose", "priority", "flag", "on", "statement", "horizon", "answer", "text", "shown_hash"),
    *(
        "setup",
        "force",
        "shown",
        "usefulness",
        "trust",
        "brevity",
        "night",
        "key",
        "next",
        "password",
        "outcome-1",
        "reason-1",
    ),
)


Twins = tuple[Visitor, Visitor, TestHouse, set[str]]


@dataclass
class Stories:
    """A day told in many houses."""

    day: Day
    folder: Path
    opened: AsyncExitStack
    read: dict[tuple[str, int], Twins] = field(default_factory=dict)
    """Houses that several tests look at and none changes, opened when the first asks for them."""
    explained: set[str] = field(default_factory=set)
    """The kinds of entries whose page was compared, in whichever house had one first."""

    def entries(self, which: str) -> tuple[Sequence[Entry], Sequence[Event]]:
        return {
            "under way": (self.day.until(session.AskExpired), beside_a_night(self.day)),
            "at work": (self.day.until(jobs.JobExecuted), at_work(self.day)),
            "told": (self.day.entries, after_a_night(self.day)),
            "reviewed": (self.day.entries, reviewed(self.day)),
        }[which]

    async def to_read(self, which: str, first: int = 0) -> Twins:
        if (which, first) not in self.read:
            told = twins(self.folder / f"{which} {first}", self, which, first)
            self.read[which, first] = await self.opened.enter_async_context(told)
        return self.read[which, first]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stories(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stories]:
    day = await a_day(tmp_path_factory.mktemp("day"))
    async with AsyncExitStack() as opened:
        yield Stories(day, tmp_path_factory.mktemp("stories"), opened)


@asynccontextmanager
async def twins(folder: Path, stories: Stories, which: str, first: int = 0) -> AsyncIterator[Twins]:
    """Two houses with one story: hostile words in one, harmless words in the other; both with their owner inside."""
    entries, more = stories.entries(which)
    async with AsyncExitStack() as stack:
        found: list[tuple[Visitor, TestHouse, set[str]]] = []
        for hostile in (True, False):
            words = Words(hostile, first)
            opened, taken = await stack.enter_async_context(a_house_of(folder / str(hostile), words, entries, more))
            visitor = await stack.enter_async_context(visiting(opened.house))
            await welcome(opened.house, visitor, name="ann\" onx='1' &amp; {{7*7}}" if hostile else "ann")
            found.append((visitor, opened, taken))
        (visitor, opened, taken), (calm, _, __) = found
        yield visitor, calm, opened, taken


async def compared(hostile: Visitor, calm: Visitor, path: str, **headers: str) -> int:
    """Fetch one page from both and hold the one against the other."""
    one, other = await hostile.get(path, **headers), await calm.get(path, **headers)
    assert one.status_code == other.status_code, (path, one.text[:600], other.text[:600])
    assert one.status_code < 500, (path, one.text[:600])
    assert_nothing_is_raw(one.text)
    if "text/html" in one.headers.get("content-type", ""):
        assert not differences(one.text, other.text, marked_down=path.startswith("/morning")), path
    return one.status_code


@pytest.mark.parametrize("which", HOUSES)
async def test_every_page_has_the_shape_it_has_with_harmless_words(stories: Stories, which: str) -> None:
    hostile, calm, house, _ = await stories.to_read(which, first=150)
    shown = [path for path in PAGES if await compared(hostile, calm, path) == 200]
    assert {"/live", "/tonight", "/morning", "/jobs/1", "/jobs/1/now"} <= set(shown)
    assert "onx=1" in (await hostile.get("/live")).text, "the words never reached the page"
    entries = (await every_entry(house.house))[:-5]  # the last few are how each owner came in
    newest = {entry.event.kind: entry.seq for entry in entries if entry.event.kind not in stories.explained}
    for seq in newest.values():
        assert await compared(hostile, calm, f"/why/{seq}") == 200
    stories.explained.update(newest)


@pytest.mark.parametrize("which", ["under way", "at work"])
async def test_what_an_agent_wanted_to_run_is_shown_as_text_and_whole(stories: Stories, which: str) -> None:
    hostile, calm, _, __ = await stories.to_read(which)
    page = (await hostile.get("/jobs/1")).text
    calls = page[page.index('id="agent-head"') : page.index('id="reach-head"')]
    assert calls.count('<pre class="exactly"') == 16, "fifteen calls, and what it was told"
    assert calls.count("⟨U+202E⟩") >= 15, "what hides is shown"
    live = (await hostile.get("/live")).text
    assert live.count('<pre class="exactly"') == 1
    told = await hostile.get("/jobs/1/prompts/1")
    assert told.status_code == 200
    assert "⟨U+202E⟩" in told.text
    assert not Shape(told.text).seen
    for path in ("/jobs/1", "/live", "/jobs/1/prompts/1"):
        assert await compared(hostile, calm, path) == 200


async def test_hosts_an_agent_made_up_are_shown_as_text(stories: Stories) -> None:
    hostile, calm, _, __ = await stories.to_read("at work")
    for path in ("/jobs/1", "/jobs/1/now"):
        page = (await hostile.get(path)).text
        tried = page[page.index('id="tried-head"') :]
        assert tried.count("<b onx=1>") == 0
        assert tried.count("&lt;b onx=1&gt;") >= 24, "twelve hosts, each with its reason"
        assert await compared(hostile, calm, path) == 200


async def test_every_payload_on_the_pages_of_a_night_that_is_over(stories: Stories) -> None:
    for first in range(0, len(ALL), 150):
        hostile, calm, _, __ = await stories.to_read("told", first)
        for path in ("/live", "/tonight", "/morning", "/jobs/1"):
            await compared(hostile, calm, path)


@pytest.mark.parametrize("which", ["under way", "told", "reviewed"])
async def test_programs_get_the_words_as_they_are_in_plain_ascii(stories: Stories, which: str) -> None:
    hostile, calm, _, __ = await stories.to_read(which)
    for path in LISTS:
        one, other = await hostile.api("GET", f"/{path}"), await calm.api("GET", f"/{path}")
        assert one.status_code == other.status_code, (path, one.text)
        assert one.status_code < 500, (path, one.text)
        assert_nothing_is_raw(one.text.replace("<", ""))
    for path in RAW:
        one = await hostile.api("GET", f"/{path}")
        assert one.headers["x-content-type-options"] == "nosniff"
        assert one.headers["content-type"].startswith(("text/plain", "application/json"))
    said = (await hostile.api("GET", "/work")).json()
    assert any("\u202e" in one["title"] for one in said), "nothing may be lost on the way to a program"


async def streamed(site: Site, visitor: Visitor, path: str, accept: str, until: str) -> str:
    """Read a stream until a word comes."""
    told, enough = bytearray(), asyncio.Event()
    cookie = "; ".join(f"{name}={value}" for name, value in visitor.http.cookies.items())
    given = {"host": urlsplit(HERE).netloc, "accept": accept, "cookie": cookie}
    where, _, query = path.partition("?")
    scope = {
        "type": "http",
        "method": "GET",
        "path": where,
        "query_string": query.encode(),
        "headers": [(name.encode(), value.encode()) for name, value in given.items()],
        "client": ("203.0.113.7", 1),
        "scheme": "http",
        "http_version": "1.1",
    }

    async def receive() -> Any:
        await enough.wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        told.extend(message.get("body", b""))
        if until.encode() in told:
            enough.set()

    async with asyncio.timeout(PATIENCE), asyncio.TaskGroup() as group:
        running = group.create_task(site.feed.run())
        await site.guarded(scope, receive, send)
        running.cancel()
    return told.decode()


@pytest.mark.parametrize("which", ["under way", "told"])
async def test_the_streams_bring_nothing_raw_and_only_their_own_elements(stories: Stories, which: str) -> None:
    hostile, calm, house, _ = await stories.to_read(which, first=300)
    last = await house.house.records.head()
    site = Site(house.house, port=PORT)
    words = await streamed(site, hostile, "/events?after=0", PROGRAM, f'"seq":{last},')
    assert_nothing_is_raw(words.replace("<", ""))
    assert len([json.loads(line[6:]) for line in words.splitlines() if line.startswith("data: ")]) > last
    drawn = await streamed(Site(house.house, port=PORT), hostile, "/events?after=0", HTMX, f"id: {last}\n")
    assert_nothing_is_raw(drawn)
    assert "event: unpainted" not in drawn
    parts = re.findall(r"^data: (.*)$", drawn, re.MULTILINE)
    shape = Shape("\n".join(parts[1:])).seen  # the first is the greeting
    ours = Shape((await calm.get("/live")).text).seen
    assert {one[0] for one in shape} <= {one[0] for one in ours} | {"hx-partial", "a", "b"}
    assert {one[:2] for one in shape if one[0] != "hx-partial"} <= {one[:2] for one in ours}


async def test_the_log_of_an_agent_is_lines_and_nothing_else(stories: Stories) -> None:
    hostile, _, __, ___ = await stories.to_read("told")
    log = (await hostile.get("/jobs/1/log/stream?after=0")).text
    assert_nothing_is_raw(log)
    told = "".join(re.findall(r"^data: (<hx-partial.*)$", log, re.MULTILINE))
    assert {one[0] for one in Shape(told).seen} <= {"hx-partial", "div", "span", "time", "b", "p", "br", "small"}
    raw = (await hostile.get("/jobs/1/log/stream?raw=true")).text
    assert_nothing_is_raw(raw)
    lines = "".join(re.findall(r"^data: (<hx-partial.*)$", raw, re.MULTILINE))
    assert {one[0] for one in Shape(lines).seen} == {"hx-partial", "div"}
    assert lines.count("<div>") == len(ALL) + 1
    assert [told.count(f"did did-{one}") for one in ("printed", "said")] == [len(ALL), 1]
    assert re.findall(r"^(?!id: |data: <hx-partial).+$", log, re.MULTILINE) == ["event: ended", "data: yes"]


async def test_an_error_that_quotes_what_was_sent_quotes_it_as_text(stories: Stories) -> None:
    asked = (
        "/why/{}",
        "/jobs/{}",
        "/jobs/{}/now",
        "/jobs/{}/kept",
        "/morning?night={}",
        "/morning/diff/{}",
        "/welcome?key={}",
    )
    more = ("/login?next=/{}", "/nothing/{}", "/tonight/orders/{}", "/tonight/orders/work/edit?item={}", "/static/{}")
    other = ("/api/v1/jobs/{}", "/api/v1/why/{}", "/api/v1/entries?after={}", "/api/v1/sessions/{}", "/api/v1/{}")
    hostile, calm, _, __ = await stories.to_read("told")
    for number, path in enumerate((*asked, *more, *other) * 4):
        text = payload(number * 13).replace("\x00", "").replace("/", "")
        for headers in ({}, {"hx-request": "true"}):
            one = await hostile.get(path.format(quote(text, safe="")), **headers)
            two = await calm.get(path.format("calm"), **headers)
            assert one.status_code == two.status_code, (path, one.text)
            assert_nothing_is_raw(one.text)
            if "text/html" in one.headers.get("content-type", ""):
                assert not differences(one.text, two.text, marked_down=False), path


PATTERNS = {"paths": "src", "do_not_touch": "src"}


async def test_a_form_filled_with_anything_comes_back_as_text(tmp_path: Path, stories: Stories) -> None:
    for which in ("told", "under way"):
        async with twins(tmp_path / which, stories, which) as (hostile, calm, house, _):
            found = walk(Site(house.house, port=PORT).app.routes)
            posts = [path for method, path, _ in found if method == "POST" and not path.startswith(("/api", "/logout"))]
            ends = ("/stop", "/login", "/welcome", "/review", "/start")
            for path in sorted(posts, key=lambda one: one.endswith(ends)):
                for name in ("sample" if "projects" in path else "1", "x"):
                    there = re.sub(
                        r"\{part\}", "goals" if name == "x" else "work", re.sub(r"\{(name|item)\}", name, path)
                    )
                    # Patterns with such characters are refused before anything else is read, so both give a valid one.
                    one, two = [
                        await visitor.post(there, dict.fromkeys(FIELDS, text) | PATTERNS, **{"hx-request": "true"})
                        for visitor, text in ((hostile, CORE), (calm, "calm"))
                    ]
                    refused = await hostile.post(there, dict.fromkeys(FIELDS, CORE), **{"hx-request": "true"})
                    assert refused.status_code < 500, (there, refused.text[:500])
                    assert_nothing_is_raw(refused.text)
                    assert one.status_code == two.status_code, (there, one.text[:500], two.text[:500])
                    assert one.status_code < 500, (there, one.text[:500])
                    assert_nothing_is_raw(one.text)
                    assert not differences(one.text, two.text, marked_down="morning" in there), there


async def test_no_kind_of_entry_and_no_way_to_read_was_left_out(stories: Stories) -> None:
    taken, routes = set[str](), list[Any]()
    for which in HOUSES:
        _, __, house, kinds = await stories.to_read(which)
        taken |= kinds
        routes = list(walk(Site(house.house, port=PORT).app.routes))
    left = sorted(KINDS.keys() - taken - NEVER_TOLD)
    assert not left, " ".join(left)
    visited = {*PAGES, *(f"/api/v1/{path}" for path in (*LISTS, *RAW)), "/events", "/jobs/1/log/stream", "/why/1"}
    bare = {path.partition("?")[0] for path in visited}
    gets = [route for method, _, route in routes if method == "GET" and isinstance(route, APIRoute)]
    paths = [path for method, path, _ in routes if method == "GET"]
    assert gets
    missed = [path for path in paths if not any(re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", path), one) for one in bare)]
    assert not missed, " ".join(missed)


async def test_what_hides_something_can_still_be_answered_and_taken_out(tmp_path: Path, stories: Stories) -> None:
    async with twins(tmp_path / "a", stories, "under way") as (hostile, _, house, __):
        page = (await hostile.get("/live")).text
        form = page[page.index('hx-post="/asks/ask_extra/answer"') :]
        shown = html.unescape(re.findall(r'name="answer" value="([^"]*)"', form)[1])
        bound = re.findall(r'name="shown_hash" value="(\w+)"', form)[0]
        given = {"answer": shown, "shown_hash": bound}
        answer = await hostile.post("/asks/ask_extra/answer", given, **{"hx-request": "true"})
        assert answer.status_code == 200, answer.text
        ask = await house.house.records.get(AskRow, "ask_extra")
        assert ask.answer == ask.options[1]
        assert "\u202e" in ask.answer
    draft = Words(hostile=True).told(DRAFT)
    was = " ".join(harmless(draft.work[1].title).split())
    assert was != draft.work[1].title
    assert without(draft, "1", was).work == draft.work[:1]


UNSEEN_NAMES = ("ann\u3164", "ann\ufe0f", "a\u034fnn", "ann\u200b", "ann" + "\u0300" * 5, "an\u202en")


async def test_nobody_is_called_like_somebody_else_but_for_a_letter_that_is_not_seen(tmp_path: Path) -> None:
    async with a_house(tmp_path / "home") as opened:
        entrance = opened.house.entrance
        key = await door.invite(entrance, Role.OWNER, by="midwatch")
        for name in UNSEEN_NAMES:
            with pytest.raises(Misuse):
                await door.accept(entrance, key, name, PASSWORD)
        person, _ = await door.accept(entrance, key, "Zoë O'Brien", PASSWORD)
        assert person.name == "Zoë O'Brien"
