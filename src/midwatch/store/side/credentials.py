"""What opens the door, kept as hashes: passwords, tokens, one-time links, and who is signed in where."""

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncEngine

from midwatch.store.schema.tables import credentials, logins
from midwatch.store.writer import Pen
from midwatch.terms.keys import Credential, KeyKind, Login


class SqlKeys:
    """The two tables nobody can rebuild from the journal, because nothing secret is in it."""

    def __init__(self, pen: Pen, reader: AsyncEngine) -> None:
        self._pen = pen
        self._reader = reader

    async def keep(self, credential: Credential) -> None:
        """Keep a credential; one with the same id is replaced."""
        values = credential.model_dump() | {"kind": credential.kind.value}

        def kept(tx: sa.Connection) -> None:
            tx.execute(credentials.delete().where(credentials.c.id == credential.id))
            tx.execute(credentials.insert().values(**values))

        await self._pen.write(kept)

    async def find(self, kind: KeyKind, name: str) -> Credential | None:
        """Look a credential up by its id."""
        query = sa.select(credentials).where(credentials.c.id == name, credentials.c.kind == kind.value)
        async with self._reader.connect() as connection:
            row = (await connection.execute(query)).mappings().first()
        return None if row is None else Credential.model_validate(dict(row))

    async def use_up(self, kind: KeyKind, name: str) -> bool:
        """Take a credential away; only the first who tries succeeds."""

        def used(tx: sa.Connection) -> bool:
            gone = credentials.delete().where(credentials.c.id == name, credentials.c.kind == kind.value)
            return tx.execute(gone).rowcount == 1

        return await self._pen.write(used)

    async def forget(self, subject: str) -> None:
        """Drop everything that opens the door for a person or a token."""

        def forgotten(tx: sa.Connection) -> None:
            tx.execute(credentials.delete().where(credentials.c.subject == subject))
            tx.execute(logins.delete().where(logins.c.person == subject))

        await self._pen.write(forgotten)

    async def sign_in(self, login: Login) -> None:
        """Remember a login, and forget those that are over."""

        def signed(tx: sa.Connection) -> None:
            tx.execute(logins.delete().where(logins.c.expires_at < login.seen_at))
            tx.execute(logins.insert().values(**login.model_dump()))

        await self._pen.write(signed)

    async def login(self, name: str) -> Login | None:
        """Look a login up by its hash."""
        async with self._reader.connect() as connection:
            row = (await connection.execute(sa.select(logins).where(logins.c.id == name))).mappings().first()
        return None if row is None else Login.model_validate(dict(row))

    async def seen(self, name: str, at: datetime) -> None:
        """Note that a login is in use."""
        await self._pen.write(
            lambda tx: tx.execute(logins.update().where(logins.c.id == name).values(seen_at=at)).rowcount
        )

    async def sign_out(self, name: str) -> None:
        """End one login."""
        await self._pen.write(lambda tx: tx.execute(logins.delete().where(logins.c.id == name)).rowcount)

    async def sign_out_everywhere(self, person: str) -> None:
        """End every login of a person."""
        await self._pen.write(lambda tx: tx.execute(logins.delete().where(logins.c.person == person)).rowcount)
