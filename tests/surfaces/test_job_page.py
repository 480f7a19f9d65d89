"""One job's page over a real house, and its log as it grows."""

import re
from pathlib import Path

from midwatch.surfaces.queries.logs import CHUNK, read_on
from midwatch.surfaces.web.pages.job_log import TAIL_LINES, follow, read_tail
from midwatch.terms.jobs import JobState
from midwatch.terms.records import JobRow
from tests.surfaces.test_live_page import a_night, reader, seqs


async def test_a_job_shows_where_it_stands_what_it_did_and_its_log(tmp_path: Path) -> None:
    async with a_night(tmp_path) as house, reader(house.house) as web:
        waiting = (await web.get("/jobs/1")).text
        assert "Its plan needs your approval." in waiting
        assert re.search(r'aria-current="step"><span>approve', waiting)
        assert "/log/stream?after=" in waiting
        await house.to_the_brief()
        over = (await web.get("/jobs/1")).text
        assert "/log/stream" not in over
        assert "sample/greet.py" in over
        assert "Approved by" in over
        stones = seqs(over)
        told = {one.seq: one for one in await house.house.journal.entries(limit=1000)}
        kinds = {told[seq].event.kind for seq in stones}
        assert {"job.created", "job.planned", "ask.opened", "ask.expired", "job.verified", "job.ended"} <= kinds
        assert "round.called" not in kinds
        assert (await web.get("/jobs/9")).status_code == 404


async def standing_over() -> tuple[str, bool]:
    return "done", True


async def told(path: Path, place: int) -> list[str]:
    return [one async for one in follow(path, place, standing_over)]


async def test_a_log_is_followed_in_whole_lines_and_resumed_where_it_was_left(tmp_path: Path) -> None:
    path = tmp_path / "agent.log"
    path.write_bytes(b'one\n{"type": "message", "text": "two"}\n\xc3')
    first = await told(path, 0)
    assert "<div>one</div><div>two</div>" in first[0]
    assert first[1] == "event: ended\ndata: yes\n\n"
    place = int(re.findall(r"^id: (\d+)", first[0])[0])
    with path.open("ab") as file:
        file.write(b"\xa4hre\rbar\r\n")
    again = await told(path, place)
    assert "<div>ähre</div><div>bar</div>" in again[0]
    assert "one" not in again[0]
    assert again[0].count("\n") == 3


async def test_a_long_log_comes_in_bounded_pieces_and_a_page_keeps_its_tail(tmp_path: Path) -> None:
    path = tmp_path / "agent.log"
    path.write_text("".join(f"line {number}\n" for number in range(40_000)))
    place, tail = read_tail(path)
    assert place == path.stat().st_size
    assert tail.count("<div>") == TAIL_LINES
    assert tail.endswith("<div>line 39999</div>")
    pieces = await told(path, 0)
    assert len(pieces) > 5
    assert "".join(pieces).count("<div>") == 40_000
    path.write_bytes(b"x" * (2 * CHUNK))
    assert read_on(path, 0) == (CHUNK, "x" * CHUNK)
    path.write_text("anew\n")
    assert read_on(path, 900) == (5, "anew\n")


async def test_the_log_stream_says_when_the_job_moves_and_ends_with_it(tmp_path: Path) -> None:
    async with a_night(tmp_path) as house, reader(house.house) as web:
        await house.to_the_brief()
        (job,) = await house.house.records.find(JobRow)
        assert job.state is JobState.DONE
        answer = await web.get("/jobs/1/log/stream", headers={"Last-Event-ID": "0"})
        assert answer.headers["content-type"].startswith("text/event-stream")
        assert answer.text.endswith("event: ended\ndata: yes\n\n")
        size = house.house.workshop.rooms.log(job.id, "agent").stat().st_size
        resumed = await web.get("/jobs/1/log/stream?after=0", headers={"Last-Event-ID": str(size)})
        assert resumed.text == "event: ended\ndata: yes\n\n"

        states = iter([("a", False), ("a", False), ("b", True), ("b", True)])

        async def moving() -> tuple[str, bool]:
            return next(states)

        pieces = [one async for one in follow(house.house.workshop.rooms.log(job.id, "agent"), size, moving)]
        assert pieces == ["event: moved\ndata: yes\n\n", "event: ended\ndata: yes\n\n"]
