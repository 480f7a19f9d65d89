"""The Live page over a real house: what it shows, what one can do on it, and what the stream brings."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import cache
from html import unescape
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, Response

from midwatch.compose.house import House
from midwatch.errors import MidwatchError
from midwatch.journal.entry import Entry
from midwatch.journal.events.session import CheckInMade, CouncilSpoke
from midwatch.night.commands import steering
from midwatch.night.commands.code_command import Commanded
from midwatch.surfaces.api.access import Caller, WithState
from midwatch.surfaces.web.pages import live
from midwatch.surfaces.web.stream.live_regions import REGIONS, Painter, changed
from midwatch.terms.asks import AskState
from midwatch.terms.people import Role
from midwatch.terms.projects import SessionState
from midwatch.terms.records import AskRow, JobRow, MessageRow, SessionRow
from midwatch.views.text.plain import clean
from tests.nights.house import TestHouse, a_house, orders, sample_repository
from tests.nights.test_commands import commanded
from tests.surfaces.visitor import still_reads

FORM = {"Content-Type": "application/x-www-form-urlencoded", "HX-Request": "true"}
HOSTILE = "<script>alert(1)</script> \x1b[8mhidden\x1b[0m \u202eesrever <hx-partial hx-target='#main'>x</hx-partial>"


def site(house: House, role: Role) -> WithState:
    """The pages with a reader already at the door."""
    caller = Caller("ann", role, role.scopes, "login", "secret-csrf")
    return WithState(
        pages(), house=house, painter=Painter(house), caller=caller, still=still_reads, nonce="secret-nonce"
    )


@cache
def pages() -> FastAPI:
    app = FastAPI()
    app.include_router(live.router)

    @app.exception_handler(MidwatchError)
    async def told(_: Request, error: MidwatchError) -> Response:
        return JSONResponse({"message": error.message}, status_code=error.status)

    return app


def reader(house: House, role: Role = Role.OWNER) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(site(house, role)), base_url="http://localhost")


@asynccontextmanager
async def a_night(folder: Path, *titles: str) -> AsyncIterator[TestHouse]:
    """A night whose first plan waits for a person."""
    async with a_house(folder / "home") as house:
        await house.project(sample_repository(folder / "sample"))
        await house.begin(orders(*titles))
        await house.settle()
        yield house


async def the_ask(house: TestHouse) -> AskRow:
    return (await house.house.records.find(AskRow))[0]


async def the_night(house: TestHouse) -> SessionRow:
    return (await house.house.records.find(SessionRow))[-1]


def seqs(html: str) -> list[int]:
    return [int(found) for found in re.findall(r'data-seq="(\d+)"', html)]


async def test_what_waits_for_a_person_is_shown_with_what_silence_means(tmp_path: Path) -> None:
    async with a_night(tmp_path) as house, reader(house.house) as web:
        ask = await the_ask(house)
        html = (await web.get("/live")).text
        assert "Night 1 is under way" in html
        assert "May job 1 go ahead? Tidy up" in html
        assert re.search(r"If you do not answer within.*countdown.*</b>, it counts as approved\.", html)
        assert f'value="{ask.shown_hash}"' in html
        assert "<code>sample/greet.py</code>" in html
        assert html.index('id="asks"') < html.index('id="timeline"') < html.index('id="feed"')


async def test_the_page_begins_where_the_stream_goes_on(tmp_path: Path) -> None:
    async with a_night(tmp_path) as house, reader(house.house) as web:
        html = (await web.get("/live")).text
        head = await house.house.records.head()
        assert seqs(html) == list(range(head, max(0, head - 60), -1))
        assert f'hx-sse:connect="/events?after={head}"' in html


async def test_page_and_stream_together_miss_nothing_and_repeat_nothing(tmp_path: Path) -> None:
    async with a_night(tmp_path) as house, reader(house.house) as web:
        before = seqs((await web.get("/live")).text)
        painter = Painter(house.house)
        await house.pass_time(minutes=30)
        new = await house.house.journal.entries(after=before[0])
        brought: list[int] = []
        for start in range(0, len(new), 7):
            part = seqs(await painter.paint(new[start : start + 7]))
            assert part == sorted(part, reverse=True)
            brought = part + brought
        assert brought + before == list(range(new[-1].seq, before[-1] - 1, -1))


async def test_what_the_stream_draws_is_what_the_page_would_show(tmp_path: Path) -> None:
    async with a_night(tmp_path) as house, reader(house.house) as web:
        early = Painter(house.house)
        await early.draw()
        await house.pass_time(minutes=30)
        new = await house.house.journal.entries(after=0, limit=1000)
        message = await early.paint(new[-40:])
        page = (await web.get("/live")).text
        rows = re.findall(r"<li id=.*?</li>", message)
        assert rows
        assert all(row in page for row in rows)
        assert "Job 2" not in page


async def test_the_newest_check_in_is_pinned_and_each_voice_is_quoted(tmp_path: Path) -> None:
    """S6, C5."""
    async with a_night(tmp_path) as house, reader(house.house) as web:
        (session,) = await house.house.records.find(SessionRow)
        for text in ("One hour has gone.", "Two hours have gone."):
            await house.house.journal.record(
                CheckInMade(session=session.id, type="progress", trigger="time", text=text)
            )
            house.clock.jump_to(house.clock.now() + timedelta(hours=1))
        page = (await web.get("/live")).text
        assert re.findall(r"(?s)<b>Last check-in</b>.*?</time> (.*?)</p>", page) == ["Two hours have gone."]
        council = await house.house.journal.entries(kinds=("council.spoke",))
        (last,) = [one.event for one in council[-1:] if isinstance(one.event, CouncilSpoke)]
        assert len(last.opinions) == 4
        shown = page[page.index('<dl class="voices">') :]
        quoted = [unescape(one) for one in re.findall("<dd>(.*?)</dd>", shown)][:4]
        assert quoted == [clean(one.words) for one in last.opinions]


async def test_a_command_beside_a_night_leaves_its_course_on_the_page(tmp_path: Path) -> None:
    """S6, A1: milestones, picture and decisions of the night stay, for a page that was open and for a new one."""
    async with a_night(tmp_path) as house:
        await house.project(sample_repository(tmp_path / "other"), name="other")
        painter = Painter(house.house)
        before = await painter.draw(("council", "timeline"))
        await commanded(house, Commanded(sentence="Tidy up the other", projects=("other",)))
        await house.settle()
        for one in (painter, Painter(house.house)):
            drawn = await one.draw(("council", "timeline"))
            assert drawn["council"] == before["council"]
            assert drawn["timeline"].count("<rect") >= before["timeline"].count("<rect") > 0


async def test_a_fragment_knows_nothing_of_its_reader(tmp_path: Path) -> None:
    async with a_night(tmp_path) as house:
        message = await Painter(house.house).paint(await house.house.journal.entries(limit=1000))
        assert set(re.findall(r'hx-target="#(\w+)"', message)) == {"feed", *REGIONS}
        assert "secret" not in message
        assert "style=" not in message
        assert "<script" not in message


async def test_entries_redraw_only_what_they_may_have_changed(tmp_path: Path) -> None:
    async with a_night(tmp_path) as house:
        entries = await house.house.journal.entries(limit=1000)

    def touched(kind: str) -> frozenset[str]:
        return changed([next(one for one in entries if one.event.kind == kind)])

    assert touched("project.added") == frozenset()
    assert touched("session.started") == frozenset(REGIONS)
    assert touched("ask.opened") == {"asks", "gauges", "counts", "timeline"}
    assert touched("job.claimed") == {"counts", "timeline"}
    assert touched("round.planned") == {"banner", "gauges", "timeline"}


async def test_pressing_a_button_answers_and_the_ask_is_gone(tmp_path: Path) -> None:
    async with a_night(tmp_path) as house, reader(house.house, Role.APPROVER) as web:
        ask = await the_ask(house)
        given = {"answer": "yes", "shown_hash": ask.shown_hash, "text": "go on"}
        answer = await web.post(f"/asks/{ask.id}/answer", data=given, headers=FORM)
        assert answer.status_code == 200
        assert 'hx-target="#asks"' in answer.text
        assert "data-ask" not in answer.text
        settled = await the_ask(house)
        assert (settled.state, settled.answer, settled.answered_by) == (AskState.ANSWERED, "yes", "ann")
        assert settled.answer_text == "go on"
        again = await web.post(f"/asks/{ask.id}/answer", data=given, headers=FORM)
        assert again.status_code >= 400


@pytest.mark.parametrize(
    ("given", "status"), [({"answer": "yes", "shown_hash": "another"}, 403), ({"answer": "maybe"}, 400), ({}, 400)]
)
async def test_an_answer_to_something_else_is_refused(tmp_path: Path, given: dict[str, str], status: int) -> None:
    async with a_night(tmp_path) as house, reader(house.house) as web:
        ask = await the_ask(house)
        answer = await web.post(f"/asks/{ask.id}/answer", data=given, headers=FORM)
        assert answer.status_code == status
        assert (await the_ask(house)).state is AskState.OPEN


async def test_the_night_can_be_paused_told_something_resumed_and_stopped(tmp_path: Path) -> None:
    async with a_night(tmp_path) as house, reader(house.house) as web:
        paused = await web.post("/live/pause", headers=FORM)
        assert "Night 1 is paused" in paused.text
        assert "Paused by ann" in paused.text
        assert "/live/resume" in paused.text
        said = await web.post("/live/say", data={"text": "Leave the readme alone"}, headers=FORM)
        assert said.status_code == 200
        (message,) = await house.house.records.find(MessageRow)
        assert (message.text, message.by) == ("Leave the readme alone", "ann")
        resumed = await web.post("/live/resume", headers=FORM)
        assert "/live/pause" in resumed.text
        stopped = await web.post("/live/stop", headers=FORM)
        assert "Night 1 is over." in stopped.text
        assert (await the_night(house)).state is SessionState.DEBRIEF
        assert (await web.post("/live/pause", headers=FORM)).status_code == 403


@pytest.mark.parametrize(
    "path", ["/live/pause", "/live/resume", "/live/stop", "/live/say", "/asks/1/answer", "/jobs/1/stop"]
)
async def test_a_viewer_looks_and_changes_nothing(tmp_path: Path, path: str) -> None:
    async with a_night(tmp_path) as house, reader(house.house, Role.VIEWER) as web:
        before = await house.house.records.head()
        page = (await web.get("/live")).text
        assert '<body data-can="read"' in page
        refused = await web.post(path, data={"answer": "yes", "text": "x"}, headers=FORM)
        assert refused.status_code == 403
        assert await house.house.records.head() == before


async def test_every_control_says_what_it_needs(tmp_path: Path) -> None:
    """A viewer gets the same bytes; the class is what hides a button."""
    async with a_night(tmp_path) as house, reader(house.house, Role.VIEWER) as web:
        drawn = await Painter(house.house).draw(("asks", "controls"))
        job = (await web.get("/jobs/1")).text
        for html in (*drawn.values(), job):
            parts = re.split(r'<(?:section|form|div|details) class="[^"]*needs-(?:answer|operate)[^"]*"', html)
            assert len(parts) > 1
            assert "hx-post" not in re.sub(r'<form class="needs-answer" hx-post', "", parts[0])


async def test_a_house_without_a_night_says_what_to_do(tmp_path: Path) -> None:
    async with a_house(tmp_path / "home") as house, reader(house.house) as web:
        html = (await web.get("/live")).text
        assert "No night is under way." in html
        assert 'href="/tonight">Prepare tonight' in html
        assert "<meter" not in html
        assert (await web.get("/")).headers["location"] == "/tonight"


async def test_the_first_page_is_the_one_that_fits(tmp_path: Path) -> None:
    async with a_night(tmp_path) as house, reader(house.house) as web:
        assert (await web.get("/")).headers["location"] == "/live"
        await house.to_the_brief()
        await house.settle()
        assert (await web.get("/")).headers["location"] == "/morning"
        html = (await web.get("/live")).text
        assert "Night 1 is over." in html
        assert "Review the results" in html
        assert "How the night went" in html


async def test_why_leads_back_to_the_signature(tmp_path: Path) -> None:
    async with a_night(tmp_path) as house, reader(house.house) as web:
        entries = await house.house.journal.entries(limit=1000)

        def seq_of(kind: str) -> int:
            return next(one.seq for one in entries if one.event.kind == kind)

        html = (await web.get(f"/why/{seq_of('ask.opened')}")).text
        assert f'href="/why/{seq_of("job.planned")}"' in html
        assert f'href="/why/{seq_of("orders.signed")}"' in html
        for wrong in ("0", "999999", "x", "9" * 40, "²"):
            assert (await web.get(f"/why/{wrong}")).status_code == 404


async def test_hostile_words_neither_run_nor_hide(tmp_path: Path) -> None:
    async with a_night(tmp_path, HOSTILE) as house, reader(house.house) as web:
        await steering.pause(house.house.journal, await the_night(house), by="ann", why=HOSTILE)
        (job,) = await house.house.records.find(JobRow)
        house.house.workshop.rooms.log(job.id, "agent").write_text(f"{HOSTILE}\n")
        message = await Painter(house.house).paint(await house.house.journal.entries(limit=1000))
        for html in (message, (await web.get("/live")).text, (await web.get("/jobs/1")).text):
            assert "alert(1)" in html
            assert "<script>" not in html
            assert "&lt;hx-partial" in html
            assert not set("\x1b\u202e") & set(html)


async def test_a_night_that_ends_redraws_the_whole_page(tmp_path: Path) -> None:
    async with a_night(tmp_path) as house:
        painter = Painter(house.house)
        before: tuple[Entry, ...] = await house.house.journal.entries(limit=1000)
        await house.to_the_brief()
        message = await painter.paint(await house.house.journal.entries(after=before[-1].seq, limit=1000))
        assert "Night 1 is over." in message
        assert "hx-post" not in message
