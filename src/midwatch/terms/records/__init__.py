"""The house's records as rows: what the projectors write and everyone may read."""

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
    InvocationRow,
    MessageRow,
    NoticeRow,
    PastAct,
    RoundRow,
    SessionRow,
    TimerRow,
)
from midwatch.terms.records.people import PersonRow, TokenRow
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
    "ProjectRow",
    "PullRequestRow",
    "ReportRow",
    "RoundRow",
    "RunRow",
    "SessionRow",
    "SettingsRow",
    "StackRow",
    "StandingRow",
    "StepRow",
    "TimerRow",
    "TokenRow",
    "WorkRow",
]
