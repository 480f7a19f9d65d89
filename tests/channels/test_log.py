"""The log has each notice once, whoever writes it and however many come together."""

import asyncio
import json
from pathlib import Path

from midwatch.channels.log import LogChannel
from midwatch.terms.records import NoticeRow
from tests.journal.samples import THEN


def notice(number: int) -> NoticeRow:
    text = f'words, and "id": "ntc_{number + 1}" in them'
    where = {"session": "", "subject": "", "sent_by": "", "sent_at": None}
    return NoticeRow.model_validate({"id": f"ntc_{number}", "tier": 1, "text": text, "created_at": THEN, **where})


async def test_each_notice_is_one_line_although_several_channels_write_the_same(tmp_path: Path) -> None:
    file = tmp_path / "notices.log"
    one, other = LogChannel(file), LogChannel(file)
    await one.send(notice(0))
    await other.send(notice(0))
    await asyncio.gather(*(one.send(notice(number)) for number in [*range(20), *range(20)]))
    await other.send(notice(20))
    await one.send(notice(20))
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert [line["id"] for line in lines] == [f"ntc_{number}" for number in range(21)]


async def test_a_cancelled_sender_takes_no_other_notice_with_it(tmp_path: Path) -> None:
    file = tmp_path / "notices.log"
    channel = LogChannel(file)
    senders = [asyncio.create_task(channel.send(notice(number))) for number in range(5)]
    await asyncio.sleep(0)
    senders[0].cancel()
    await asyncio.gather(*senders, return_exceptions=True)
    await channel.send(notice(0))
    lines = [json.loads(line)["id"] for line in file.read_text().splitlines()]
    assert sorted(lines) == [f"ntc_{number}" for number in range(5)]
