"""Answers given under an idempotency key, so that a request sent twice is carried out once.

Its own module: only `compose` imports an implementation of a port.
"""

from datetime import timedelta

import sqlalchemy as sa

from midwatch.ports.journal import StoredAnswer
from midwatch.store.reader import DatabaseReader
from midwatch.store.schema.tables import answers
from midwatch.store.writer import DatabaseWriter

KEPT = timedelta(days=2)


class SqlAnswers:
    """The answers of the last days."""

    def __init__(self, writer: DatabaseWriter, reader: DatabaseReader) -> None:
        self._writer = writer
        self._reader = reader

    async def claim(self, answer: StoredAnswer) -> StoredAnswer | None:
        """Reserve a key for a request about to be carried out; returns the existing record if the key is taken."""

        def claimed(tx: sa.Connection) -> StoredAnswer | None:
            tx.execute(answers.delete().where(answers.c.at < answer.at - KEPT))
            there = tx.execute(sa.select(answers).where(answers.c.id == answer.id)).mappings().first()
            if there is not None:
                return StoredAnswer.model_validate(dict(there))
            tx.execute(answers.insert().values(**answer.model_dump()))
            return None

        return await self._writer.write(claimed)

    async def settle(self, answer: StoredAnswer) -> None:
        values = answer.model_dump(include={"status", "kind", "body"})
        settled = answers.update().where(answers.c.id == answer.id).values(**values)
        await self._writer.write(lambda tx: tx.execute(settled).rowcount)

    async def release(self, name: str) -> None:
        """Free a key: nothing was carried out."""
        await self._writer.write(lambda tx: tx.execute(answers.delete().where(answers.c.id == name)).rowcount)
