"""The tables. Records are declared once, as terms; their columns follow from the annotations."""

import sqlalchemy as sa

from midwatch.store.columns import column_type
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

snapshots = sa.Table(
    "snapshots",
    meta,
    sa.Column("fold", sa.Text, primary_key=True),
    sa.Column("version", sa.Integer, primary_key=True),
    sa.Column("seq", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("chain", sa.Text, nullable=False),
    sa.Column("state", sa.Text, nullable=False),
)

leases = sa.Table(
    "leases",
    meta,
    sa.Column("executor", sa.Text, primary_key=True),
    sa.Column("beat", sa.DateTime(timezone=True), nullable=False),
)
"""Which workers live (PostgreSQL). Not a projection: a heartbeat is not history."""

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
pull_requests = _record(rec.PullRequestRow, "pull_requests", "project", "job")
asks = _record(rec.AskRow, "asks", "session", "state")
notices = _record(rec.NoticeRow, "notices", "session")
tool_invocations = _record(rec.InvocationRow, "tool_invocations", "job")
evidence_items = _record(rec.EvidenceRow, "evidence_items", "run")
claims = _record(rec.ClaimRow, "claims", "run")
artifacts = _record(rec.ArtifactRow, "artifacts", "run")
assumptions = _record(rec.AssumptionRow, "assumptions", "run")
reports = _record(rec.ReportRow, "reports", "session")
evaluations = _record(rec.EvaluationRow, "evaluations", "session")
outcomes = _record(rec.OutcomeRow, "recommendation_outcomes", "session")
timers = _record(rec.TimerRow, "timers", "due_at")

PROJECTED = tuple(RECORDS.values())
"""Everything a rebuild drops and writes again."""

RECORDS[rec.PastAct] = acts
