"""The records are derived: dropped and written again from the journal they are the same, row by row."""

from pathlib import Path

import pytest
import sqlalchemy as sa

from midwatch.store.rebuild import fingerprint, rebuild, verify_chain
from midwatch.store.schema.tables import PROJECTED, jobs
from midwatch.terms.projects import SessionState
from midwatch.terms.records import PullRequestRow
from tests.journal.samples import KINDS
from tests.nights.house import a_house, orders, sample_repository
from tests.store import scenes
from tests.store.histories import Walk
from tests.store.opened import Store, opened

STEPS = 560


def rebuilt(store: Store, upto: int | None = None) -> dict[str, str]:
    """What the records would be if they were written again; they stay as they are."""
    with store.behind() as connection:
        rebuild(connection, upto=upto)
        hashes = fingerprint(connection)
        connection.rollback()
    return hashes


async def test_an_empty_journal_makes_empty_records(store: Store) -> None:
    await store.journal.record(scenes.said("a"))
    with store.behind() as connection:
        connection.exec_driver_sql("delete from journal")
        assert rebuild(connection) == 0
        assert set(fingerprint(connection).values()) == {""}


async def test_the_fingerprint_sees_every_table_and_every_change(store: Store) -> None:
    await store.journal.record(*scenes.AT_WORK)
    before = store.everything()
    assert set(before) == {table.name for table in PROJECTED}
    with store.behind() as connection:
        connection.execute(jobs.update().values(why="nobody recorded this"))
        after = fingerprint(connection)
        assert {name for name in before if before[name] != after[name]} == {"jobs"}
    assert rebuilt(store) == before


@pytest.mark.parametrize("seed", [1, 3])
async def test_a_random_legal_history_rebuilds_to_the_same_records(store: Store, seed: int) -> None:
    walk = Walk(store, seed)
    then: dict[int, dict[str, str]] = {}
    for step in range(STEPS):
        head, look = await store.records.head(), step % 50 == 0
        before = store.everything() if look else {}
        if await walk.step():
            assert await store.records.head() == head + 1
            if look:
                then[head + 1] = store.everything()
        else:
            assert await store.records.head() == head
            assert not look or store.everything() == before
    assert len(walk.accepted) > len(KINDS) * 0.8, set(KINDS) - set(walk.accepted)
    assert rebuilt(store) == store.everything()
    for seq, hashes in then.items():
        assert rebuilt(store, upto=seq) == hashes, f"as of {seq}"
    with store.behind() as connection:
        assert verify_chain(connection) == (walk.accepted.total(), "")


@pytest.mark.slow
async def test_a_whole_night_rebuilds_to_the_same_records(tmp_path: Path, database_url: str) -> None:
    source = sample_repository(tmp_path / "sample")
    async with a_house(tmp_path / "home", database_url) as house:
        await house.project(source)
        await house.begin(orders("Tidy up"))
        session = await house.to_the_brief()
        assert session.state is SessionState.DEBRIEF
        assert await house.house.records.find(PullRequestRow)
        head = await house.house.records.head()
    async with opened(database_url) as store:
        assert head > 30
        assert rebuilt(store) == store.everything()
        with store.behind() as connection:
            assert verify_chain(connection) == (head, "")


@pytest.mark.postgres
async def test_the_same_history_gives_the_same_hashes_on_both_databases(sqlite_url: str, postgres_url: str) -> None:
    found = []
    for url in (sqlite_url, postgres_url):
        async with opened(url) as store:
            walk = Walk(store, seed=3)
            for _ in range(150):
                await walk.step()
            with store.behind() as connection:
                chain = connection.execute(sa.text("select chain from journal order by seq desc limit 1")).scalar_one()
            found.append((chain, walk.accepted, walk.refused, store.everything()))
    assert found[0] == found[1]
