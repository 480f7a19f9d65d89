"""What a job reached, wrote and left on disk: told by the API and the page, resumed or thrown away by a person."""

import html
import re
from pathlib import Path

import pytest

from midwatch.errors import Misuse
from midwatch.evening import projects as by_day
from midwatch.journal.events.workshop import ConnectionSeen
from midwatch.night.commands import steering
from midwatch.surfaces.web.pages.job import Doings
from midwatch.terms.jobs import JobState
from midwatch.terms.people import Role
from midwatch.terms.records import JobRow, ProjectRow
from tests.nights.house import TestHouse
from tests.surfaces.test_live_page import FORM, a_night, reader
from tests.surfaces.visitor import Visitor, visiting, welcome


def seen(job: JobRow, host: str, verdict: str = "refused", **more: object) -> ConnectionSeen:
    usual = {"job": job.id, "epoch": job.epoch, "host": host, "port": 443, "verdict": verdict, "why": "not on the list"}
    return ConnectionSeen.model_validate(usual | more)


async def the_job(house: TestHouse) -> JobRow:
    return (await house.house.records.find(JobRow))[0]


async def stopped(house: TestHouse) -> JobRow:
    """A job stopped in a night that goes on."""
    await steering.stop_job(house.house.books, house.house.workshop.rooms, await the_job(house), by="ann", why="enough")
    return await the_job(house)


def there(tree: Path) -> bool:
    return tree.is_dir()


async def tree_of(visitor: Visitor) -> Path:
    return Path((await visitor.api("GET", "/jobs/1/checkouts")).json()[-1]["tree"])


async def test_a_script_follows_a_log_by_its_offsets(tmp_path: Path) -> None:
    async with a_night(tmp_path) as house, visiting(house.house) as ann:
        await welcome(house.house, ann)
        job = await the_job(house)
        path = house.house.workshop.rooms.log(job.id, "agent")
        path.write_bytes("one\nzwölf\x1b[31m\nthr".encode())
        first = await ann.api("GET", "/jobs/1/log?raw=true&from=0")
        assert first.text == "one\nzwölf\n"
        assert first.headers["midwatch-over"] == "no"
        place = first.headers["midwatch-next"]
        assert int(place) == len("one\nzwölf\x1b[31m\n".encode())
        with path.open("ab") as file:
            file.write(b"ee\nlast words")
        assert (await ann.api("GET", f"/jobs/1/log?raw=true&from={place}")).text == "three\n"
        await stopped(house)
        rest = await ann.api("GET", f"/jobs/1/log?raw=true&from={int(place) + 6}")
        assert rest.text.startswith("last words")
        end = await ann.api("GET", f"/jobs/1/log?raw=true&from={rest.headers['midwatch-next']}&wait=20")
        assert (end.text, end.headers["midwatch-over"]) == ("", "yes")
        whole = await ann.api("GET", "/jobs/1/log?raw=true")
        assert whole.text.startswith("one\n")
        assert int(whole.headers["midwatch-next"]) == path.stat().st_size


async def test_connections_are_listed_in_order_and_in_pages(tmp_path: Path) -> None:
    async with a_night(tmp_path) as house, visiting(house.house) as ann:
        await welcome(house.house, ann)
        job = await the_job(house)
        for number in range(12):
            await house.house.journal.record(seen(job, f"h{number}.example"))
        hosts: list[str] = []
        path = "/jobs/1/connections?limit=5"
        while path:
            page = await ann.api("GET", path)
            hosts += [row["host"] for row in page.json()]
            link = page.headers.get("link", "")
            path = link[1 : link.index(">")].removeprefix("/api/v1") if link else ""
        assert hosts == [f"h{number}.example" for number in range(12)]


async def test_work_that_is_nowhere_else_is_told_and_lost_only_by_force(tmp_path: Path) -> None:
    async with a_night(tmp_path) as house, visiting(house.house) as ann:
        await welcome(house.house, ann)
        await house.to_the_brief()
        *_, kept = (await ann.api("GET", "/jobs/1/checkouts")).json()
        assert kept["branch"] == f"agent/{(await the_job(house)).id}"
        assert kept["head"]
        assert kept["bytes"] > 0
        assert kept["unique"] == []
        tree = Path(kept["tree"])
        (tree / "thought.txt").write_text("unfinished\n")
        refused = await ann.api("POST", "/jobs/1/discard", {"force": False})
        assert refused.status_code == 403
        assert "1 new file (thought.txt)" in refused.json()["error"]["because"]
        assert there(tree)
        done = (await ann.api("POST", "/jobs/1/discard", {"force": True})).json()
        assert done["freed_bytes"] > 0
        assert not there(tree)
        assert (await ann.api("GET", "/jobs/1/checkouts")).json() == []


async def test_a_stopped_job_is_resumed_once_and_a_finished_one_never(tmp_path: Path) -> None:
    async with a_night(tmp_path) as house, visiting(house.house) as ann:
        await welcome(house.house, ann)
        assert (await ann.api("POST", "/jobs/1/resume")).status_code == 403
        before = await stopped(house)
        new = (await ann.api("POST", "/jobs/1/resume")).json()
        assert new["retry_of"] == before.id
        await house.to_the_brief()
        assert (await house.house.records.get(JobRow, "2")).state is JobState.DONE
        assert (await ann.api("POST", "/jobs/2/resume")).status_code == 403


async def test_the_page_shows_the_walls_what_it_may_reach_and_what_it_tried(tmp_path: Path) -> None:
    async with a_night(tmp_path) as house, reader(house.house) as web:
        quiet = (await web.get("/jobs/1")).text
        assert "Nothing: " in quiet
        assert "No connections yet." in quiet
        mark = {"bubblewrap": "walled", "landlock": "half-walled", "none": "no walls"}[
            house.house.workshop.rooms.isolation
        ]
        assert f"<b>{mark}</b>" in quiet
        assert f"<b>{mark}</b>" in (await web.get("/live")).text
        job = await the_job(house)
        for number in range(12):
            await house.house.journal.record(seen(job, f"h{number}.example"))
        await house.house.journal.record(seen(job, "ok.example", "allowed", bytes_out=2048), seen(job, "h11.example"))
        told = (await web.get("/jobs/1/now")).text
        assert "1 connection allowed" in told
        assert "2.0 KiB out" in told
        places = re.findall(r"<code>(h\d+)\.example:443", told)
        assert places == [f"h{number}" for number in reversed(range(12))]
        assert "<summary>2 more</summary>" in told
        assert "2 times" in told
        stones = told[told.index("stones-head") :]
        assert "h3.example" not in stones[: stones.index("</ol>")], "connections would hide the milestones"


async def test_the_page_of_a_running_job_moves_when_it_reaches_out(tmp_path: Path) -> None:
    async with a_night(tmp_path) as house:
        job = await the_job(house)
        reaching = Doings(house.house, job.id, await house.house.records.head())
        assert await reaching.count() == 0
        await house.house.journal.record(seen(job, "a.example"), seen(job.model_copy(update={"id": "other"}), "b"))
        assert await reaching.count() == 1
        assert await reaching.count() == 1


async def test_a_kept_checkout_is_shown_and_discarded_with_a_second_look(tmp_path: Path) -> None:
    async with a_night(tmp_path) as house, visiting(house.house) as ann:
        await welcome(house.house, ann)
        assert 'id="kept"' not in (await ann.get("/jobs/1")).text
        assert (await ann.get("/jobs/1/kept")).text.strip() == ""
        await house.to_the_brief()
        assert 'hx-get="/jobs/' in (await ann.get("/jobs/1")).text
        tree = await tree_of(ann)
        kept = (await ann.get("/jobs/1/kept")).text
        assert str(tree) in html.unescape(kept)
        assert "the mirror has all of it" in kept
        assert "Resume" not in kept
        (tree / "<b>th\u202eou\x1b[2Kght").write_text("x")
        again = (await ann.get("/jobs/1/kept")).text
        assert "This would be lost: 1 new file (&lt;b&gt;thought)" in again
        refused = await ann.post("/jobs/1/discard", {}, **FORM)
        assert refused.status_code == 403
        assert "holds work that exists only there" in refused.text
        assert there(tree)
        gone = await ann.post("/jobs/1/discard", {"force": "yes"}, **FORM)
        assert "It was deleted;" in gone.text
        assert not there(tree)
        assert (await ann.get("/jobs/1/kept")).text.strip() == ""


async def test_a_stopped_job_is_resumed_from_its_page(tmp_path: Path) -> None:
    async with a_night(tmp_path) as house, visiting(house.house) as ann, visiting(house.house) as vera:
        await welcome(house.house, ann)
        await welcome(house.house, vera, "vera", Role.VIEWER)
        await stopped(house)
        assert "Resume this work" in (await ann.get("/jobs/1/kept")).text
        assert (await vera.post("/jobs/1/resume", {}, **FORM)).status_code == 403
        answer = await ann.post("/jobs/1/resume", {}, **FORM)
        assert answer.headers["hx-redirect"] == "/jobs/2"
        assert "Resume this work" not in (await ann.get("/jobs/1/kept")).text


async def test_a_setup_is_one_command_that_a_person_sets_and_takes_away(tmp_path: Path) -> None:
    async with a_night(tmp_path) as house, visiting(house.house) as ann:
        await welcome(house.house, ann)
        changed = await ann.api("PATCH", "/projects/sample", {"setup": " ./prepare "})
        assert changed.json()["setup"] == "./prepare"
        assert (await ann.api("PATCH", "/projects/sample", {"purpose": "x"})).json()["setup"] == "./prepare"
        assert "./prepare" in (await ann.get("/tonight")).text
        assert (await ann.api("PATCH", "/projects/sample", {"setup": ""})).json()["setup"] == ""
        with pytest.raises(Misuse):
            await by_day.change_project(house.house.books, "sample", by="ann", setup="one\ntwo")
        assert (await house.house.records.get(ProjectRow, "sample")).setup == ""
