"""record() writes once, in order, with its reasons; it tells whoever listens, and nobody else can write."""

from functools import partial

import pytest
import sqlalchemy as sa

from midwatch.errors import Stale
from midwatch.journal.entry import Entry
from midwatch.journal.events import Event, projects
from midwatch.journal.follows import QueuedWork
from midwatch.store.projectors.rows import PROJECTORS
from midwatch.store.schema.tables import journal
from midwatch.terms.jobs import JobState
from midwatch.terms.records import JobRow, MessageRow, SettingsRow
from tests.journal.samples import KINDS
from tests.store import scenes
from tests.store.opened import Store

TABLES = ("journal", "jobs", "messages")


class Kept:
    """A queue that only remembers."""

    def __init__(self) -> None:
        self.work: list[tuple[QueuedWork, int]] = []
        self.woken = 0

    def put(self, connection: object, work: QueuedWork, *, seq: int) -> None:
        assert isinstance(connection, sa.Connection)
        self.work.append((work, seq))

    def committed(self) -> None:
        self.woken += 1


def test_every_kind_of_event_has_a_projector() -> None:
    assert set(PROJECTORS) == set(KINDS.values())


async def test_one_record_appends_projects_and_queues(store: Store) -> None:
    queue = Kept()
    store.journal.queue = queue
    first, second = await store.journal.record(scenes.said("hello"), scenes.job(), key="k", actor="ann", because=[7, 3])
    assert [(entry.seq, entry.key, entry.actor, entry.because) for entry in (first, second)] == [
        (1, "k", "ann", (7, 3)),
        (2, "k#1", "ann", (7, 3)),
    ]
    assert (await store.records.find(JobRow))[0].state is JobState.QUEUED
    assert [(work.name, seq) for work, seq in queue.work] == [("stage", 2)]
    assert queue.woken == 1, "once for all that was queued, after the commit"
    assert await store.journal.entries() == (first, second)
    assert await store.records.head() == 2


async def test_the_same_key_again_changes_nothing_and_returns_what_was_written(store: Store) -> None:
    queue, heard = Kept(), list[Entry]()
    store.journal.queue = queue
    store.journal.listeners.append(heard.extend)
    first = await store.journal.record(scenes.said("hello"), scenes.job(), key="k")
    before = store.everything(), store.counts(*TABLES), list(queue.work)
    again = await store.journal.record(scenes.said("hello"), scenes.job(), key="k", actor="another", because=[9])
    assert again == first
    assert (store.everything(), store.counts(*TABLES), queue.work) == before
    assert heard == list(first)


OTHER: dict[str, tuple[Event, ...]] = {
    "other content": (scenes.said("other", "msg_a"), scenes.said("b")),
    "fewer": (scenes.said("a"),),
    "more": (scenes.said("a"), scenes.said("b"), scenes.said("c")),
    "other order": (scenes.said("b"), scenes.said("a")),
}


async def test_the_same_key_for_something_else_is_refused(store: Store, subtests: pytest.Subtests) -> None:
    await store.journal.record(scenes.said("a"), scenes.said("b"), key="k")
    before = store.everything(), store.counts(*TABLES)
    for how, other in OTHER.items():
        with subtests.test(how):
            with pytest.raises(Stale, match="used before") as refused:
                await store.journal.record(*other, key="k")
            assert refused.value.hint
            assert (store.everything(), store.counts(*TABLES)) == before


async def test_two_kinds_that_look_alike_inside_are_not_the_same(store: Store) -> None:
    await store.journal.record(projects.SettingsProposed(proposal="set_1", changes={"a": 1}))
    await store.journal.record(projects.SettingsApplied(proposal="set_1"), key="k")
    with pytest.raises(Stale):
        await store.journal.record(projects.SettingsDiscarded(proposal="set_1"), key="k")
    assert (await store.records.find(SettingsRow))[0].state == "applied"


async def test_a_key_that_is_redacted_still_counts_as_used(store: Store) -> None:
    (first,) = await store.journal.record(scenes.said("secret"), key="k")
    with store.behind() as connection:
        connection.execute(journal.update().values(payload=None))
    assert await store.journal.record(scenes.said("secret"), key="k") == (first,)
    with pytest.raises(Stale):
        await store.journal.record(scenes.said("other"), key="k")


async def test_without_a_key_the_same_event_is_written_twice(store: Store) -> None:
    for number in (1, 2):
        await store.journal.record(scenes.said("again", f"msg_{number}"))
    assert len(await store.records.find(MessageRow, text="again")) == 2


async def test_known_finds_an_entry_by_its_key(store: Store) -> None:
    (entry,) = await store.journal.record(scenes.said("a"), key="k", because=(4,))
    assert await store.journal.known("k") == entry
    assert await store.journal.known("nobody") is None


async def test_entries_are_read_by_place_number_and_kind(store: Store) -> None:
    await store.journal.record(*(scenes.said(str(i)) for i in range(5)), scenes.job())
    assert [entry.seq for entry in await store.journal.entries(after=2, limit=3)] == [3, 4, 5]
    assert [entry.seq for entry in await store.journal.entries(kinds=("job.created",))] == [6]


async def test_the_second_event_refused_takes_the_first_with_it(store: Store) -> None:
    await store.journal.record(scenes.job("job_1"))
    before, queue = store.everything(), Kept()
    store.journal.queue = queue
    with pytest.raises(Stale):
        await store.journal.record(scenes.said("a"), scenes.job("job_2"))
    assert store.everything() == before
    assert await store.records.head() == 1


async def test_text_with_nul_is_kept_alike_on_both_databases(store: Store) -> None:
    await store.journal.record(scenes.said("a\x00b", "msg_1"))
    assert (await store.records.find(MessageRow))[0].text == "a\ufffdb"
    (entry,) = await store.journal.entries()
    assert entry.event == scenes.said("a\x00b", "msg_1")


async def test_readers_cannot_write(store: Store) -> None:
    await store.journal.record(scenes.said("a"))
    for statement in (journal.delete(), sa.text("create table sneaky (id integer)")):
        with pytest.raises(sa.exc.DBAPIError, match=r"read-?only"):
            await store.reader.read(partial(sa.Connection.execute, statement=statement))
    assert store.counts("journal") == (1,)
