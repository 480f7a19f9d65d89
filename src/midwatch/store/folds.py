"""Long folds made short: the newest snapshot of a view plus what came after it."""

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Generic, TypeVar

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncEngine

from midwatch.journal.entry import Entry, canonical
from midwatch.store.journal import read_entry
from midwatch.store.schema.tables import journal, snapshots
from midwatch.store.writer import Pen
from midwatch.terms.term import Term

S = TypeVar("S", bound=Term)
KEEP_EVERY = 2000
PAGE = 2000


@dataclass(frozen=True, slots=True)
class Fold(Generic[S]):
    """A view: where it starts and how one entry changes it. A new version ignores old snapshots."""

    name: str
    version: int
    state: type[S]
    start: Callable[[], S]
    apply: Callable[[S, Entry], S]


class Folds:
    """Folds views over the journal. Snapshots are a cache: dropping them changes nothing but the time it takes."""

    def __init__(self, pen: Pen, reader: AsyncEngine) -> None:
        self._pen = pen
        self._reader = reader

    async def view(self, fold: Fold[S], *, upto: int | None = None) -> tuple[S, int]:
        """Return the view as of the newest entry, or of `upto`, with the seq it shows."""
        state, seq = await self._nearest(fold, upto)
        began = seq
        while True:
            query = sa.select(journal).where(journal.c.seq > seq, journal.c.payload.is_not(None))
            if upto is not None:
                query = query.where(journal.c.seq <= upto)
            async with self._reader.connect() as connection:
                rows = (await connection.execute(query.order_by(journal.c.seq).limit(PAGE))).all()
            for row in rows:
                state = fold.apply(state, read_entry(row))
                seq = row.seq
            if len(rows) < PAGE:
                break
        if seq - began >= KEEP_EVERY:
            await self._keep(fold, state, seq)
        return state, seq

    async def _nearest(self, fold: Fold[S], upto: int | None) -> tuple[S, int]:
        query = (
            sa.select(snapshots.c.seq, snapshots.c.state)
            .join(journal, (journal.c.seq == snapshots.c.seq) & (journal.c.chain == snapshots.c.chain))
            .where(snapshots.c.fold == fold.name, snapshots.c.version == fold.version)
        )
        if upto is not None:
            query = query.where(snapshots.c.seq <= upto)
        async with self._reader.connect() as connection:
            row = (await connection.execute(query.order_by(snapshots.c.seq.desc()).limit(1))).first()
        return (fold.state.model_validate(json.loads(row.state)), row.seq) if row else (fold.start(), 0)

    async def _keep(self, fold: Fold[S], state: S, seq: int) -> None:
        chain = sa.select(journal.c.chain).where(journal.c.seq == seq).scalar_subquery()
        same = (snapshots.c.fold == fold.name) & (snapshots.c.version == fold.version) & (snapshots.c.seq == seq)
        values = {
            "fold": fold.name,
            "version": fold.version,
            "seq": seq,
            "chain": chain,
            "state": canonical(state.model_dump(mode="json")),
        }

        def keep(tx: sa.Connection) -> None:
            tx.execute(snapshots.delete().where(same))
            tx.execute(snapshots.insert().values(**values))

        # Another process may keep the same snapshot at the same moment; then there is nothing left to do.
        with suppress(sa.exc.IntegrityError):
            await self._pen.write(keep)
