"""What is written holds no secret: not the entry, not the records made from it, not what follows, not a blob."""

from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from pydantic import JsonValue

from midwatch.errors import Broken, Stale
from midwatch.gateway.redaction.journal_entries import EntryRedactor
from midwatch.gateway.redaction.redactor import Redactor
from midwatch.journal.entry import Entry
from midwatch.journal.events.session import MessageSaid
from midwatch.store.blobs import FolderBlobs
from midwatch.store.journal import SqlJournal
from midwatch.store.rebuild import verify_chain
from midwatch.store.redaction import LARGE
from midwatch.store.schema.tables import journal, meta
from midwatch.terms.records import MessageRow
from tests.journal.samples import KINDS, sample
from tests.store import scenes
from tests.store.opened import CountedIds, Store

VALUE = "the-owl-flies-at-0400"


def scrubbing(store: Store, redactor: Redactor) -> SqlJournal:
    scrub = EntryRedactor(redactor)
    return SqlJournal(store.writer, store.reader, url=store.url, clock=store.clock, ids=CountedIds(), scrub=scrub)


def everything(store: Store) -> str:
    with store.behind() as connection:
        return str([connection.execute(sa.select(table)).all() for table in meta.tables.values()])


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


async def test_entry_records_listeners_and_chain_know_only_what_was_written(store: Store) -> None:
    clean, heard = scrubbing(store, Redactor({"owl": VALUE})), list[Entry]()
    clean.listeners.append(heard.extend)
    (entry,) = await clean.record(scenes.said(f"say {VALUE}", "msg_1"), key=f"k:{VALUE}", actor=f"bot {VALUE}")
    assert (entry.actor, entry.key) == ("bot [secret:owl]", "k:[secret:owl]")
    assert isinstance(entry.event, MessageSaid)
    assert entry.event.text == "say [secret:owl]"
    assert await clean.entries() == (entry,) == tuple(heard)
    assert (await store.records.find(MessageRow))[0].text == "say [secret:owl]"
    assert VALUE not in everything(store)
    with store.behind() as connection:
        assert verify_chain(connection) == (1, "")


async def test_a_retry_with_the_same_key_finds_what_was_written(store: Store) -> None:
    redactor = Redactor()
    clean = scrubbing(store, redactor)
    redactor.know({"owl": VALUE})
    first = await clean.record(scenes.said(f"say {VALUE}", "msg_1"), key=f"k:{VALUE}")
    assert await clean.record(scenes.said(f"say {VALUE}", "msg_1"), key=f"k:{VALUE}") == first
    assert await clean.known(f"k:{VALUE}") == first[0]
    with pytest.raises(Stale):
        await clean.record(scenes.said("something else", "msg_1"), key=f"k:{VALUE}")
    assert store.counts("journal") == (1,)


async def test_a_retry_matches_though_the_secret_became_known_in_between(store: Store) -> None:
    redactor = Redactor()
    clean = scrubbing(store, redactor)
    await clean.record(scenes.said(f"say {VALUE}", "msg_1"), key="k")
    redactor.know({"owl": VALUE})
    (again,) = await clean.record(scenes.said(f"say {VALUE}", "msg_1"), key="k")
    assert VALUE not in str(again)
    assert store.counts("journal") == (1,)
    with pytest.raises(Stale):
        await clean.record(scenes.said("say nothing", "msg_1"), key="k")


async def test_what_cannot_be_taken_out_is_not_written_and_not_repeated(store: Store) -> None:
    clean = scrubbing(store, Redactor({"unlucky": "tech_debt"}))
    with pytest.raises(Broken) as refused:
        await clean.record(scenes.said("fine", "msg_1"), sample(KINDS["work.added"], type="tech_debt"), key="k")
    assert "work.added" in refused.value.message
    assert "tech_debt" not in f"{refused.value.message} {refused.value.hint} {refused.value.__cause__}"
    assert store.counts("journal", "messages") == (0, 0)


async def test_a_large_text_is_cleaned_as_well(store: Store) -> None:
    clean = scrubbing(store, Redactor({"owl": VALUE}))
    text = "words and " * LARGE
    await clean.record(scenes.said(text + VALUE, "msg_1"))
    assert (await store.records.find(MessageRow))[0].text == f"{text}[secret:owl]"


async def test_what_is_clean_is_written_as_it_is(store: Store) -> None:
    plain = await store.journal.record(scenes.said("a b", "msg_1"), scenes.job(), key="k")
    with store.behind() as connection:
        before = connection.execute(sa.select(journal.c.payload, journal.c.payload_hash)).all()
    store.empty()
    clean = scrubbing(store, Redactor({"owl": VALUE}))
    again = await clean.record(scenes.said("a b", "msg_1"), scenes.job(), key="k")
    with store.behind() as connection:
        assert connection.execute(sa.select(journal.c.payload, journal.c.payload_hash)).all() == before
    assert [entry.event for entry in again] == [entry.event for entry in plain]


async def test_a_scrub_is_asked_about_everything(store: Store) -> None:
    asked: list[tuple[str, JsonValue]] = []

    def remember(kind: str, value: JsonValue) -> JsonValue:
        asked.append((kind, value))
        return value

    one: Any = SqlJournal(
        store.writer, store.reader, url=store.url, clock=store.clock, ids=CountedIds(), scrub=remember
    )
    await one.record(scenes.said("a", "msg_1"), scenes.job(), key="k", actor="ann")
    assert {kind for kind, _ in asked} == {"", "message.said", "job.created"}
    assert {str(value) for kind, value in asked if not kind} == {"k", "ann"}


async def test_a_blob_is_named_by_what_is_left_of_it(tmp_path: Path) -> None:
    blobs = FolderBlobs(tmp_path, scrub=Redactor({"owl": VALUE}).redact_bytes)
    name = await blobs.keep(f"+say {VALUE}\n".encode())
    assert await blobs.fetch(name) == b"+say [secret:owl]\n"
    assert name == await FolderBlobs(tmp_path).keep(b"+say [secret:owl]\n")
    assert [blobs.path(name)] == files(tmp_path)
