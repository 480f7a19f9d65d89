"""Snapshots are a cache: with or without them, a view is the same."""

import asyncio

import pytest

from midwatch.journal.entry import Entry
from midwatch.journal.events.session import MessageSaid
from midwatch.store import folds
from midwatch.store.folds import Fold
from midwatch.store.schema.tables import snapshots
from midwatch.terms.term import Term
from tests.store import scenes
from tests.store.opened import Store

MANY = 35


class Heard(Term):
    """What was said, in order, and how often this was folded from an entry."""

    words: tuple[str, ...] = ()
    last: int = 0


def hear(state: Heard, entry: Entry) -> Heard:
    said = (entry.event.text,) if isinstance(entry.event, MessageSaid) else ()
    return Heard(words=state.words + said, last=entry.seq)


def heard(version: int = 1) -> Fold[Heard]:
    return Fold(name="heard", version=version, state=Heard, start=Heard, apply=hear)


@pytest.fixture(autouse=True)
def short_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folds, "KEEP_EVERY", 10)
    monkeypatch.setattr(folds, "PAGE", 7)


@pytest.fixture
async def full(store: Store) -> Store:
    await store.journal.record(*(scenes.said(str(i)) for i in range(1, MANY + 1)))
    return store


def kept(store: Store) -> list[tuple[int, int]]:
    with store.behind() as connection:
        return [(row.version, row.seq) for row in connection.execute(snapshots.select().order_by(snapshots.c.seq))]


def spoil(store: Store, **values: object) -> None:
    with store.behind() as connection:
        assert connection.execute(snapshots.update().values(**values)).rowcount


WHOLE = Heard(words=tuple(str(i) for i in range(1, MANY + 1)), last=MANY)
SPOILT = '{"words":["lies"],"last":0}'


async def test_a_view_with_and_without_snapshots_is_the_same(full: Store) -> None:
    assert await full.folds.view(heard()) == (WHOLE, MANY)
    assert kept(full) == [(1, MANY)]
    assert await full.folds.view(heard()) == (WHOLE, MANY)
    with full.behind() as connection:
        connection.execute(snapshots.delete())
    assert await full.folds.view(heard()) == (WHOLE, MANY)


async def test_a_snapshot_is_really_used_and_goes_on_from_there(full: Store) -> None:
    await full.folds.view(heard())
    spoil(full, state=SPOILT)
    await full.journal.record(scenes.said("more"))
    state, seq = await full.folds.view(heard())
    assert (state.words, seq) == (("lies", "more"), MANY + 1)


async def test_a_snapshot_of_another_version_is_ignored(full: Store) -> None:
    await full.folds.view(heard())
    spoil(full, state=SPOILT)
    assert await full.folds.view(heard(version=2)) == (WHOLE, MANY)
    assert kept(full) == [(1, MANY), (2, MANY)]


async def test_a_snapshot_with_a_wrong_chain_is_ignored_and_replaced(full: Store) -> None:
    await full.folds.view(heard())
    spoil(full, state=SPOILT, chain="x")
    assert await full.folds.view(heard()) == (WHOLE, MANY)
    spoilt = kept(full)
    assert spoilt == [(1, MANY)]
    assert await full.folds.view(heard()) == (WHOLE, MANY)


async def test_a_view_of_the_past_does_not_see_what_came_later(full: Store) -> None:
    await full.folds.view(heard())
    for upto in (0, 1, 7, 20, MANY):
        state, seq = await full.folds.view(heard(), upto=upto)
        assert (state.words, seq) == (WHOLE.words[:upto], upto)


async def test_a_snapshot_of_the_past_serves_the_present(full: Store) -> None:
    await full.folds.view(heard(), upto=20)
    assert kept(full) == [(1, 20)]
    assert await full.folds.view(heard()) == (WHOLE, MANY)


async def test_those_who_keep_the_same_snapshot_at_once_do_not_quarrel(full: Store) -> None:
    views = await asyncio.gather(*(full.folds.view(heard()) for _ in range(8)))
    assert views == [(WHOLE, MANY)] * 8
    assert kept(full) == [(1, MANY)]
