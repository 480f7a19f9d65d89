"""Midwatch's records as rows: projectors write them, every package may read them."""

from midwatch.terms.records.house import GoalRow, ProjectRow, SettingsRow, StandingRow, WorkRow
from midwatch.terms.records.morning import (
    ArtifactRow,
    AssumptionRow,
    ClaimRow,
    EvaluationRow,
    EvidenceRow,
    OutcomeRow,
    ReportRow,
)
from midwatch.terms.records.night import (
    ActRow,
    AskRow,
    CheckInRow,
    DeliberationRow,
    DeliveryRow,
    InvocationRow,
    MessageRow,
    NoticeRow,
    PastAct,
    PushRow,
    RoundRow,
    SessionRow,
    TimerRow,
)
from midwatch.terms.records.people import PersonRow, TokenRow
from midwatch.terms.records.preflight import PreflightLineRow, PreflightRow
from midwatch.terms.records.signals import SignalRow
from midwatch.terms.records.stack import StackRow
from midwatch.terms.records.work import (
    ConnectionRow,
    FuelRow,
    JobRow,
    MissionRow,
    PlanRow,
    PullRequestRow,
    RunRow,
    StepRow,
)

__all__ = [
    "ActRow",
    "ArtifactRow",
    "AskRow",
    "AssumptionRow",
    "CheckInRow",
    "ClaimRow",
    "ConnectionRow",
    "DeliberationRow",
    "DeliveryRow",
    "EvaluationRow",
    "EvidenceRow",
    "FuelRow",
    "GoalRow",
    "InvocationRow",
    "JobRow",
    "MessageRow",
    "MissionRow",
    "NoticeRow",
    "OutcomeRow",
    "PastAct",
    "PersonRow",
    "PlanRow",
    "PreflightLineRow",
    "PreflightRow",
    "ProjectRow",
    "PullRequestRow",
    "PushRow",
    "ReportRow",
    "RoundRow",
    "RunRow",
    "SessionRow",
    "SettingsRow",
    "SignalRow",
    "StackRow",
    "StandingRow",
    "StepRow",
    "TimerRow",
    "TokenRow",
    "WorkRow",
]
