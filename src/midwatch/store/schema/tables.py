"""The tables. Records are declared once, as terms; their columns follow from the annotations."""

import sqlalchemy as sa

from midwatch.store.schema.columns import Micros, column_type
from midwatch.terms import records as rec
from midwatch.terms.term import Term

meta = sa.MetaData()

journal = sa.Table(
    "journal",
    meta,
    sa.Column("seq", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("at", sa.BigInteger, nullable=False),
    sa.Column("actor", sa.Text, nullable=False),
    sa.Column("key", sa.Text, nullable=False, unique=True),
    sa.Column("because", sa.Text, nullable=False),
    sa.Column("kind", sa.Text, nullable=False, index=True),
    sa.Column("payload", sa.Text),  # canonical JSON; null once redacted, the hash stays
    sa.Column("payload_hash", sa.Text, nullable=False),
    sa.Column("chain", sa.Text, nullable=False),
)

leases = sa.Table(
    "leases",
    meta,
    sa.Column("executor", sa.Text, primary_key=True),
    sa.Column("beat", sa.DateTime(timezone=True), nullable=False),
)
"""Which workers are alive (PostgreSQL). Not a projection: a heartbeat is not history."""

queued_work = sa.Table(
    "queued_work",
    meta,
    sa.Column("seq", sa.BigInteger, primary_key=True, autoincrement=False),  # the entry that asks for it
    sa.Column("work", sa.Text, primary_key=True),
    sa.Column("args", sa.Text, nullable=False),
    sa.Column("executor", sa.Text, nullable=False),  # empty until a worker claims it
    sa.Column("error", sa.Text, nullable=False),
)
"""What is still to be done, and what failed. Not a projection: what is done is deleted."""

credentials = sa.Table(
    "credentials",
    meta,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("subject", sa.Text, nullable=False, index=True),
    sa.Column("secret", sa.Text, nullable=False),
    sa.Column("role", sa.Text, nullable=False),
    sa.Column("expires_at", Micros),
)
"""Credentials as hashes: passwords by person, tokens and one-time links by their own hash. Not history."""

logins = sa.Table(
    "logins",
    meta,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("person", sa.Text, nullable=False, index=True),
    sa.Column("csrf", sa.Text, nullable=False),
    sa.Column("seen_at", Micros, nullable=False),
    sa.Column("expires_at", Micros, nullable=False),
)
"""Who is signed in where, by the hash of the cookie. Not history: losing it means signing in again."""

answers = sa.Table(
    "answers",
    meta,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("request", sa.Text, nullable=False),
    sa.Column("status", sa.BigInteger),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("body", sa.Text, nullable=False),
    sa.Column("at", Micros, nullable=False),
)
"""What was answered under an idempotency key; no status yet means that it is, or was, under way. A cache."""

reservations = sa.Table(
    "reservations",
    meta,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("worker", sa.Text, nullable=False, index=True),
    sa.Column("session", sa.Text, nullable=False, index=True),
    sa.Column("run", sa.Text, nullable=False),
    sa.Column("job", sa.Text, nullable=False),
    sa.Column("usd_micros", sa.BigInteger, nullable=False),
    sa.Column("tokens", sa.BigInteger, nullable=False),
    sa.Column("requests", sa.BigInteger, nullable=False),
)
"""What is set aside for requests under way. Not history: each settled request is an entry."""

RECORDS: dict[type[Term], sa.Table] = {}


def _record(kind: type[Term], name: str, *indexed: str) -> sa.Table:
    columns = []
    for field, info in kind.model_fields.items():
        chosen, empty = column_type(info.annotation)
        columns.append(
            sa.Column(
                field, chosen, primary_key=field == "id", nullable=empty and field != "id", index=field in indexed
            )
        )
    RECORDS[kind] = sa.Table(name, meta, *columns)
    return RECORDS[kind]


projects = _record(rec.ProjectRow, "projects", "name")
goals = _record(rec.GoalRow, "goals", "project")
work_items = _record(rec.WorkRow, "work_items", "project")
settings_versions = _record(rec.SettingsRow, "settings_versions")
standing = _record(rec.StandingRow, "standing")
sessions = _record(rec.SessionRow, "sessions", "state")
messages = _record(rec.MessageRow, "messages", "session")
check_ins = _record(rec.CheckInRow, "check_ins", "session")
rounds = _record(rec.RoundRow, "rounds", "session")
acts = _record(rec.ActRow, "acts", "session")
deliberations = _record(rec.DeliberationRow, "deliberations", "session")
missions = _record(rec.MissionRow, "missions", "session")
runs = _record(rec.RunRow, "runs", "session")
jobs = _record(rec.JobRow, "jobs", "session", "project", "state")
plans = _record(rec.PlanRow, "plans", "job")
steps = _record(rec.StepRow, "steps", "job")
signals = _record(rec.SignalRow, "signals", "job", "project")
connections = _record(rec.ConnectionRow, "connections", "job")
fuel = _record(rec.FuelRow, "fuel")
pull_requests = _record(rec.PullRequestRow, "pull_requests", "project", "job")
asks = _record(rec.AskRow, "asks", "session", "state")
notices = _record(rec.NoticeRow, "notices", "session")
deliveries = _record(rec.DeliveryRow, "deliveries", "notice", "state")
pushes = _record(rec.PushRow, "pushes", "channel", "day")
tool_invocations = _record(rec.InvocationRow, "tool_invocations", "job")
evidence_items = _record(rec.EvidenceRow, "evidence_items", "run")
claims = _record(rec.ClaimRow, "claims", "run")
artifacts = _record(rec.ArtifactRow, "artifacts", "run")
assumptions = _record(rec.AssumptionRow, "assumptions", "run")
stacks = _record(rec.StackRow, "stacks", "session", "project", "state")
reports = _record(rec.ReportRow, "reports", "session")
evaluations = _record(rec.EvaluationRow, "evaluations", "session")
outcomes = _record(rec.OutcomeRow, "recommendation_outcomes", "session")
preflights = _record(rec.PreflightRow, "preflights", "session")
preflight_lines = _record(rec.PreflightLineRow, "preflight_lines", "preflight")
people = _record(rec.PersonRow, "people", "name")
tokens = _record(rec.TokenRow, "tokens", "person")
timers = _record(rec.TimerRow, "timers", "due_at")

PROJECTED = tuple(RECORDS.values())
"""Everything a rebuild drops and writes again."""

RECORDS[rec.PastAct] = acts
