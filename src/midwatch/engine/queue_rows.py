"""Queued work as rows in DBOS's tables, written and claimed by statements that are built once.

DBOS builds its statements for every call, in three transactions for each piece of work. That costs more than the work.
"""

import json
from collections.abc import Collection, Sequence
from typing import NamedTuple

import sqlalchemy as sa
from dbos import DBOSClient
from pydantic import JsonValue

NAME = "midwatch"
SCHEMA = "engine"
QUEUE = "work"
WORKFLOW = "midwatch_work"
VERSION = "1"
CHANNEL = "midwatch_work"
"""Where PostgreSQL announces queued work; it merges what a transaction announces and does so once, at its commit."""
Args = dict[str, JsonValue]

PUT = """
INSERT INTO {schema}workflow_status
  (workflow_uuid, status, name, queue_name, recovery_attempts, priority, serialization, application_name)
VALUES (:id, 'ENQUEUED', :workflow, :queue, 0, 0, :serialization, :app) ON CONFLICT (workflow_uuid) DO NOTHING"""
PUT_INPUT = """
INSERT INTO {schema}workflow_input (workflow_uuid, inputs)
VALUES (:id, :inputs) ON CONFLICT (workflow_uuid) DO NOTHING"""
PUT_AND_NOTIFY = f"WITH status AS ({PUT}), input AS ({PUT_INPUT}) SELECT pg_notify('{CHANNEL}', '')"
"""PostgreSQL takes all of it in one round trip."""
CLAIM = """
UPDATE {schema}workflow_status
SET status = 'PENDING', owner_xid = :owner, executor_id = :executor, application_version = :version,
  recovery_attempts = recovery_attempts + 1, started_at_epoch_ms = {now}, updated_at = {now}
WHERE workflow_uuid IN (
  SELECT workflow_uuid FROM {schema}workflow_status
  WHERE queue_name = :queue AND status = 'ENQUEUED' AND status IN ('ENQUEUED', 'PENDING')
  ORDER BY priority, created_at LIMIT :room {skip_locked})
RETURNING workflow_uuid,
  (SELECT inputs FROM {schema}workflow_input AS given WHERE given.workflow_uuid = workflow_status.workflow_uuid)"""
"""The double condition on the status makes SQLite use the index of unfinished work, however long the history."""
FINISH = """
UPDATE {schema}workflow_status SET status = :status, owner_xid = NULL, updated_at = {now}, completed_at = {now}
WHERE workflow_uuid IN :ids AND status = 'PENDING' AND owner_xid = :owner RETURNING workflow_uuid"""
FINISH_OUTPUT = """
INSERT INTO {schema}workflow_output (workflow_uuid, output, error) VALUES (:id, :output, :error)
ON CONFLICT (workflow_uuid) DO UPDATE SET output = excluded.output, error = excluded.error"""
REQUEUE = """
UPDATE {schema}workflow_status SET status = 'ENQUEUED', owner_xid = NULL, started_at_epoch_ms = NULL, updated_at = {now}
WHERE status = 'PENDING' AND queue_name = :queue AND executor_id IN :executors AND workflow_uuid NOT IN :running"""
NOTIFY = sa.text(f"SELECT pg_notify('{CHANNEL}', '')")
NOW = {
    "sqlite": "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)",
    "postgresql": "(EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::bigint",
}


class ClaimedWork(NamedTuple):
    """One piece of work that this process has claimed."""

    id: str
    name: str
    args: Args
    seq: int


class FinishedWork(NamedTuple):
    """How one piece of work ended."""

    id: str
    output: str | None
    error: str | None


class QueueRows:
    """The statements for one database."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        self.notifies = engine.dialect.name == "postgresql"
        words = {
            "schema": f"{SCHEMA}." if self.notifies else "",
            "now": NOW[engine.dialect.name],
            "skip_locked": "FOR UPDATE SKIP LOCKED" if self.notifies else "",
        }
        puts = (PUT_AND_NOTIFY,) if self.notifies else (PUT, PUT_INPUT)
        self._puts = [sa.text(one.format(**words)) for one in puts]
        self._claim = sa.text(CLAIM.format(**words))
        self._finish = sa.text(FINISH.format(**words)).bindparams(_several("ids"))
        self._output = sa.text(FINISH_OUTPUT.format(**words))
        self._requeue = sa.text(REQUEUE.format(**words)).bindparams(_several("executors"), _several("running"))

    def bring_into_shape(self) -> None:
        """Create or migrate DBOS's tables."""
        client = DBOSClient(system_database_engine=self._engine, dbos_system_schema=SCHEMA, lazy=True)
        client._sys_db.run_migrations()  # noqa: SLF001  the public way opens a connection of its own, with other pragmas

    def put(self, tx: sa.Connection, work: str, args: Args, seq: int) -> None:
        """Queue the work that entry `seq` asks for; twice makes no difference."""
        values = {
            "id": f"{work}-{seq}",
            "workflow": WORKFLOW,
            "queue": QUEUE,
            "serialization": "portable_json",
            "app": NAME,
            "inputs": _json({"namedArgs": {}, "positionalArgs": [work, args, seq]}),
        }
        for statement in self._puts:
            tx.execute(statement, values)

    def claim(self, tx: sa.Connection, *, executor: str, owner: str, room: int) -> list[ClaimedWork]:
        """Claim the oldest queued work, as much as there is room for."""
        values = {"queue": QUEUE, "executor": executor, "owner": owner, "version": VERSION, "room": room}
        rows = tx.execute(self._claim, values).all()
        claimed = [ClaimedWork(one, *json.loads(inputs)["positionalArgs"]) for one, inputs in rows]
        return sorted(claimed, key=lambda one: one.seq)

    def finish(self, tx: sa.Connection, done: Sequence[FinishedWork], *, owner: str) -> None:
        """Write down how work ended, unless another worker has taken it over."""
        for status, some in (
            ("SUCCESS", [one for one in done if one.error is None]),
            ("ERROR", [one for one in done if one.error is not None]),
        ):
            if some:
                values = {"status": status, "ids": [one.id for one in some], "owner": owner}
                ours = set(tx.execute(self._finish, values).scalars())
                outputs = [one._asdict() for one in some if one.id in ours]
                if outputs:
                    tx.execute(self._output, outputs)

    def requeue(self, tx: sa.Connection, executors: Collection[str], *, running: Collection[str] = ()) -> None:
        """Put back what these workers claimed and never finished, except what is running here."""
        tx.execute(self._requeue, {"queue": QUEUE, "executors": list(executors), "running": list(running)})
        if self.notifies:
            tx.execute(NOTIFY)


def finished(work: ClaimedWork, error: BaseException | None = None) -> FinishedWork:
    """Describe how work ended, in DBOS's portable form."""
    if error is None:
        return FinishedWork(work.id, _json({"done": work.name}), None)
    return FinishedWork(work.id, None, _json({"name": type(error).__name__, "message": str(error)}))


def _json(value: JsonValue) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def _several(name: str) -> sa.BindParameter[Sequence[str]]:
    return sa.bindparam(name, expanding=True, type_=sa.Text)
