"""The pages at forty jobs: counted, grouped, one ask open, each update small (B12)."""

import re
from pathlib import Path

import pytest

from midwatch.journal.events import Event
from midwatch.journal.events.jobs import JobClaimed, JobEnded, JobExecuted
from midwatch.journal.events.session import AskAnswered, CheckInMade
from midwatch.surfaces.cli.night.status import show_status
from midwatch.surfaces.web.stream.live_regions import Painter
from midwatch.terms.jobs import Done, Stage
from midwatch.terms.records import AskRow, JobRow
from tests.nights.house import a_house
from tests.surfaces.doings import called, decided
from tests.surfaces.forty import CHECKED_IN, forty_jobs
from tests.surfaces.test_live_page import reader, seqs
from tests.surfaces.visitor import visiting, welcome

SHORT, LONG = 4_000, 50_000
"""Bytes: for an entry of a running job, and for one that moves jobs or asks about."""


def words(html: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


async def test_forty_jobs_are_counted_on_top_and_listed_once_by_what_they_need(tmp_path: Path) -> None:
    async with a_house(tmp_path / "home") as house, reader(house.house) as web:
        await forty_jobs(house, tmp_path)
        html = (await web.get("/live")).text
        drawn = await Painter(house.house).draw()
        assert words(drawn["counts"]) == "15 need you 6 at work 2 wait 19 of 40 done 9 not done 4 not started"
        places = [html.index(f'id="{name}"') for name in ("counts", "controls", "checkin", "asks", "timeline", "jobs")]
        assert places == sorted(places)
        assert CHECKED_IN in words(drawn["checkin"])
        group = r'<details class="jobs-group" id="([\w-]+)"( data-opens open)?>(.*?)</details>'
        groups = re.findall(group, html, re.DOTALL)
        listed = {name: (bool(is_open), len(re.findall(r'<li id="job-', rows))) for name, is_open, rows in groups}
        assert listed == {"at-work": (True, 8), "not-done": (True, 9), "done": (False, 19), "earlier": (False, 6)}
        numbers = [int(one) for one in re.findall(r'<li id="job-(\d+)"', html)]
        assert sorted(numbers) == list(range(1, 43))
        assert html.count("Wrote a test that fails on main</p>") == 6  # the last line of each that runs
        asks = re.findall(r'<details class="ask" id="ask-\d+" data-ask="\d+" name="ask"( open)?>', html)
        assert asks == [" open"] + [""] * 14
        for voice in ("Polaris", "Aurora", "Vega", "Sol"):
            assert len(re.findall(rf"<dt>{voice} <span>(?:for|against|no opinion)</span></dt><dd>\w", html)) == 3
        rows = re.findall(r'<li id="e\d+"( class="engine")? data-seq="(\d+)"', html)
        assert len([seq for engine, seq in rows if not engine]) == 60  # older milestones too
        assert seqs(html) == sorted(seqs(html), reverse=True)


async def test_a_status_has_a_line_for_each_of_many_questions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with a_house(tmp_path / "home") as house, visiting(house.house) as visitor:
        await forty_jobs(house, tmp_path)
        await welcome(house.house, visitor)
        show_status((await visitor.api("GET", "/status")).json())
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "15 questions are for you. Read them: midwatch asks"
    assert len([line for line in said if line.startswith("Ask ")]) == 15
    assert said[16].startswith("Night 1 · autonomous · "), "one line each, whatever they ask"
    assert said[1].startswith("Ask 1 (silence means approved in "), said[1]


async def test_at_forty_jobs_an_entry_sends_what_it_changed_and_little_more(tmp_path: Path) -> None:
    async with a_house(tmp_path / "home") as house:
        session = await forty_jobs(house, tmp_path)
        painter, find = Painter(house.house), house.house.records.find
        job = next(row for row in await find(JobRow) if row.stage is Stage.EXECUTE and not row.state.over)
        ask = (await find(AskRow))[5]
        done = Done(summary="Done.", base="", head="")
        short: tuple[Event, ...] = (
            decided(job, "allow", "$ python -m pytest -q").model_copy(update={"epoch": 2}),
            called(job, usd=0.1, tokens=1000, epoch=2),
            CheckInMade(session=session.id, type="progress", trigger="time", text="All is well."),
            JobExecuted(job=job.id, epoch=2, done=done),
            JobClaimed(job=job.id, stage=Stage.BUNDLE, attempt=1, epoch=3, worker="w"),
        )
        long: tuple[Event, ...] = (
            AskAnswered(ask=ask.id, answer="line", by="ann"),
            JobEnded(job=job.id, epoch=3, state="failed", why="x"),
        )
        for event in (*short, *long):
            message = await painter.paint(await house.house.journal.record(event))
            assert len(message.encode()) < (SHORT if event in short else LONG), event.kind
            touched = set(re.findall(r'hx-target="#([\w-]+)"', message))
            assert event.kind == "checkin.made" or touched & {"jobs", "asks", f"job-{job.number}"}, event.kind
            assert ("jobs" in touched) == (event.kind == "job.ended")
