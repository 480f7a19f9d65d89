"""One job's page over a real house, and its log as it grows."""

import json
import re
from pathlib import Path

import pytest

from midwatch.errors import Misuse
from midwatch.surfaces.queries.agent_streams import TAIL_LINES
from midwatch.surfaces.queries.jobs import job_log
from midwatch.surfaces.queries.logs import CHUNK, LONGEST_LINE, read_lines, read_on
from midwatch.surfaces.web.pages.job_log import follow, raw_from, raw_tail
from midwatch.terms.jobs import JobState
from midwatch.terms.records import JobRow
from tests.surfaces.test_live_page import a_night, reader, seqs
from tests.surfaces.visitor import still_reads


async def test_a_job_shows_where_it_stands_what_it_did_and_its_log(tmp_path: Path) -> None:
    async with a_night(tmp_path) as house, reader(house.house) as web:
        waiting = (await web.get("/jobs/1")).text
        assert "May job 1 go ahead?" in waiting
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
    return [one async for one in follow(raw_from(path, place), standing_over, still_reads)]


async def test_a_raw_log_is_followed_in_whole_lines_and_resumed_where_it_was_left(tmp_path: Path) -> None:
    path = tmp_path / "agent.log"
    path.write_bytes(b"one\ntwo <b>\n\xc3")
    first = await told(path, 0)
    assert "<div>one</div><div>two &lt;b&gt;</div>" in first[0]
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
    place, tail = raw_tail(path)
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


def test_a_message_is_never_cut_and_one_that_is_too_long_is_only_counted(tmp_path: Path) -> None:
    path = tmp_path / "agent.log"
    whole, endless = b"x" * (3 * CHUNK), b"y" * (LONGEST_LINE + CHUNK)
    path.write_bytes(b"a\r\n" + whole + b"\n" + endless)
    assert read_lines(path, 0) == (3, [b"a"], False)
    place, lines, _ = read_lines(path, 3)
    assert (place, [line.rstrip() for line in lines if isinstance(line, bytes)]) == (4 + len(whole), [whole])
    assert read_lines(path, place) == (place, [], True), "it may still be written"
    assert read_lines(path, place, ended=True) == (place + len(endless), [len(endless)], False)
    assert read_lines(path, path.stat().st_size) == (path.stat().st_size, [], True)
    assert read_lines(tmp_path / "none", 7) == (7, [], True)


async def test_the_log_stream_says_when_the_job_moves_and_ends_with_it(tmp_path: Path) -> None:
    async with a_night(tmp_path) as house, reader(house.house) as web:
        await house.to_the_brief()
        (job,) = await house.house.records.find(JobRow)
        assert job.state is JobState.DONE
        answer = await web.get("/jobs/1/log/stream", headers={"Last-Event-ID": "not a place"})
        assert answer.headers["content-type"].startswith("text/event-stream")
        assert answer.text.endswith("event: ended\ndata: yes\n\n")
        assert '<div class="did did-said">' in answer.text
        place = re.findall(r"^id: (\d+\.\d+)$", answer.text, re.MULTILINE)[-1]
        resumed = await web.get("/jobs/1/log/stream", headers={"Last-Event-ID": place})
        assert resumed.text == "event: ended\ndata: yes\n\n"
        path = house.house.workshop.rooms.log(job.id, "agent")
        raw = await web.get(f"/jobs/1/log/stream?raw=true&after={path.stat().st_size}")
        assert raw.text == "event: ended\ndata: yes\n\n"
        for wrong in ("1.2.3", "-1", "9" * 30, "x"):
            assert (await web.get(f"/jobs/1/log/stream?after={wrong}")).status_code == 422

        states = iter([("a", False), ("a", False), ("b", True), ("b", True)])

        async def moving() -> tuple[str, bool]:
            return next(states)

        pieces = [one async for one in follow(raw_from(path, path.stat().st_size), moving, still_reads)]
        assert pieces == ["event: moved\ndata: yes\n\n", "event: ended\ndata: yes\n\n"]


async def test_hostile_output_is_readable_on_page_and_in_text_and_raw_only_on_request(tmp_path: Path) -> None:
    async with a_night(tmp_path) as house, reader(house.house) as web:
        await house.to_the_brief()
        (job,) = await house.house.records.find(JobRow)
        said = json.dumps({"type": "message", "text": "<b>bold</b>\x1b]0;owned\x07\u202egnp\n</p><script>x</script>"})
        odd = (b"\xff\xfe broken", b"\x1b[2Jcleared", b"[" * 5000, b'{"type": "assistant", "message": 7}', b"half")
        long = b"z" * (LONGEST_LINE + 1)
        path = house.house.workshop.rooms.log(job.id, "agent")
        path.write_bytes(b"\n".join([long, said.encode(), *odd]))

        page = (await web.get("/jobs/1")).text
        assert "&lt;b&gt;bold&lt;/b&gt;gnp<br>&lt;/p&gt;&lt;script&gt;" in page
        assert not any(mark in page for mark in ("\x1b", "\u202e", "owned", "<script>x"))
        text = (await job_log(house.house, "1")).text
        assert text.lstrip().startswith(f"[midwatch: a line of {len(long) + 1:,} bytes is only in the raw log]\n")
        assert "said      <b>bold</b>gnp\n" in text
        assert "cleared\n" in text
        assert text.endswith("half\n")
        assert "z" * 1000 not in text
        assert not any(mark in text for mark in ("\x1b", "\u202e"))
        raw = (await job_log(house.house, "1", raw=True)).text
        assert raw.startswith("z" * 1000)
        assert '{"type": "message", "text": "<b>bold' in raw
        assert "<div>cleared</div>" in (await web.get("/jobs/1?raw=true")).text
        with pytest.raises(Misuse, match="Only the raw log is read from a byte"):
            await job_log(house.house, "1", offset=0)
