"""Credentials, kept as hashes: passwords, tokens, one-time links, and who is signed in where."""

from datetime import datetime

import sqlalchemy as sa

from midwatch.store.reader import DatabaseReader
from midwatch.store.schema.tables import credentials, logins
from midwatch.store.writer import DatabaseWriter
from midwatch.terms.people import Credential, KeyKind, Login


class SqlKeys:
    """The two tables that cannot be rebuilt from the journal, because it holds no secrets."""

    def __init__(self, writer: DatabaseWriter, reader: DatabaseReader) -> None:
        self._writer = writer
        self._reader = reader

    async def keep(self, credential: Credential) -> None:
        values = credential.model_dump() | {"kind": credential.kind.value}

        def kept(tx: sa.Connection) -> None:
            tx.execute(credentials.delete().where(credentials.c.id == credential.id))
            tx.execute(credentials.insert().values(**values))

        await self._writer.write(kept)

    async def find(self, kind: KeyKind, name: str) -> Credential | None:
        query = sa.select(credentials).where(credentials.c.id == name, credentials.c.kind == kind.value)
        row = await self._reader.first(query)
        return None if row is None else Credential.model_validate(row._asdict())

    async def use_up(self, kind: KeyKind, name: str) -> bool:
        def used(tx: sa.Connection) -> bool:
            gone = credentials.delete().where(credentials.c.id == name, credentials.c.kind == kind.value)
            return tx.execute(gone).rowcount == 1

        return await self._writer.write(used)

    async def forget(self, subject: str) -> None:
        def forgotten(tx: sa.Connection) -> None:
            tx.execute(credentials.delete().where(credentials.c.subject == subject))
            tx.execute(logins.delete().where(logins.c.person == subject))

        await self._writer.write(forgotten)

    async def withdraw_links(self) -> None:
        links = credentials.delete().where(credentials.c.kind == KeyKind.LINK.value)
        await self._writer.write(lambda tx: tx.execute(links).rowcount)

    async def sign_in(self, login: Login) -> None:
        """Store a login, and delete those that have expired."""

        def signed(tx: sa.Connection) -> None:
            tx.execute(logins.delete().where(logins.c.expires_at < login.seen_at))
            tx.execute(logins.insert().values(**login.model_dump()))

        await self._writer.write(signed)

    async def login(self, name: str) -> Login | None:
        row = await self._reader.first(sa.select(logins).where(logins.c.id == name))
        return None if row is None else Login.model_validate(row._asdict())

    async def seen(self, name: str, at: datetime) -> None:
        await self._writer.write(
            lambda tx: tx.execute(logins.update().where(logins.c.id == name).values(seen_at=at)).rowcount
        )

    async def sign_out(self, name: str) -> None:
        await self._writer.write(lambda tx: tx.execute(logins.delete().where(logins.c.id == name)).rowcount)

    async def sign_out_everywhere(self, person: str) -> None:
        await self._writer.write(lambda tx: tx.execute(logins.delete().where(logins.c.person == person)).rowcount)
