"""Queued work as rows: one is inserted with its entry, marked when a worker claims it, and deleted when it is done."""

import json
from collections.abc import Collection, Sequence
from typing import NamedTuple

import sqlalchemy as sa
from pydantic import JsonValue

CHANNEL = "midwatch_work"
"""Where PostgreSQL announces queued work; it merges what a transaction announces and does so once, at its commit."""
Args = dict[str, JsonValue]

# The engine's own view of the table the store migrates: siblings do not import each other.
queued_work = sa.table("queued_work", *map(sa.column, ("seq", "work", "args", "executor", "error")))

PUT = """
INSERT INTO queued_work (seq, work, args, executor, error) VALUES (:seq, :work, :args, '', '')
ON CONFLICT (seq, work) DO NOTHING"""
PUT_AND_NOTIFY = f"WITH put AS ({PUT}) SELECT pg_notify('{CHANNEL}', '')"
"""PostgreSQL takes both in one round trip."""
CLAIM = """
UPDATE queued_work SET executor = :executor
WHERE (seq, work) IN (SELECT seq, work FROM queued_work WHERE executor = '' ORDER BY seq LIMIT :room {skip_locked})
RETURNING work, args, seq"""
FINISH = sa.text("DELETE FROM queued_work WHERE seq = :seq AND work = :work AND executor = :executor")
FAIL = sa.text("UPDATE queued_work SET error = :error WHERE seq = :seq AND work = :work AND executor = :executor")
"""What failed stays for inspection, and is not claimed again."""
REQUEUE = sa.text("""
UPDATE queued_work SET executor = ''
WHERE executor IN :executors AND error = '' AND work || '-' || seq NOT IN :running""").bindparams(
    *(sa.bindparam(name, expanding=True, type_=sa.Text) for name in ("executors", "running"))
)
NOTIFY = sa.text(f"SELECT pg_notify('{CHANNEL}', '')")


class ClaimedWork(NamedTuple):
    """One piece of work that this process has claimed."""

    name: str
    args: Args
    seq: int

    @property
    def id(self) -> str:
        return f"{self.name}-{self.seq}"


class FinishedWork(NamedTuple):
    """How one piece of work ended; without an error, well."""

    work: ClaimedWork
    error: str = ""


class QueueRows:
    """The statements for one database."""

    def __init__(self, engine: sa.Engine) -> None:
        self.notifies = engine.dialect.name == "postgresql"
        self._put = sa.text(PUT_AND_NOTIFY if self.notifies else PUT)
        self._claim = sa.text(CLAIM.format(skip_locked="FOR UPDATE SKIP LOCKED" if self.notifies else ""))

    def put(self, tx: sa.Connection, work: str, args: Args, seq: int) -> None:
        """Queue the work that entry `seq` asks for; twice in its transaction makes no difference."""
        tx.execute(self._put, {"seq": seq, "work": work, "args": json.dumps(args, ensure_ascii=False)})

    def claim(self, tx: sa.Connection, *, executor: str, room: int) -> list[ClaimedWork]:
        """Claim the oldest queued work, as much as there is room for."""
        rows = tx.execute(self._claim, {"executor": executor, "room": room}).all()
        return sorted((ClaimedWork(work, json.loads(args), seq) for work, args, seq in rows), key=lambda one: one.seq)

    def finish(self, tx: sa.Connection, done: Sequence[FinishedWork], *, executor: str) -> None:
        """Write down how work ended, unless another worker has taken it over."""
        names = [{"seq": one.work.seq, "work": one.work.name, "executor": executor} for one in done]
        well = [name for name, one in zip(names, done, strict=True) if not one.error]
        badly = [name | {"error": one.error} for name, one in zip(names, done, strict=True) if one.error]
        if well:
            tx.execute(FINISH, well)
        if badly:
            tx.execute(FAIL, badly)

    def requeue(self, tx: sa.Connection, executors: Collection[str], *, running: Collection[str] = ()) -> None:
        """Put back what these workers claimed and never finished, except what is running here."""
        tx.execute(REQUEUE, {"executors": list(executors), "running": list(running)})
        if self.notifies:
            tx.execute(NOTIFY)
