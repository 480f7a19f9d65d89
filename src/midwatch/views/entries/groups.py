"""Events in small groups, so that a reader can go through one group after the other and the type checker can count."""

from midwatch.journal.events.jobs import (
    JobApproved,
    JobBundled,
    JobClaimed,
    JobCreated,
    JobDelivered,
    JobEnded,
    JobExecuted,
    JobGranted,
    JobMirrored,
    JobPlanned,
    JobPrepared,
    JobQuarantined,
    JobRepaired,
    JobStopRequested,
    JobStumbled,
    JobVerified,
    JobWaits,
    JobWoken,
    MissionCreated,
    PlanReturned,
    PullRequestChanged,
    PullRequestClosed,
    PullRequestMerged,
    PullRequestOpened,
    PullRequestReworded,
    RunFinished,
    RunStarted,
)
from midwatch.journal.events.morning import (
    ArtifactKept,
    AssumptionMade,
    ClaimMade,
    EvidenceFound,
    ReportWritten,
    ReviewSubmitted,
    ReviewTimedOut,
    RunScored,
)
from midwatch.journal.events.projects import (
    GoalClosed,
    GoalSet,
    LevelChanged,
    ProjectAdded,
    ProjectChanged,
    ProjectRemoved,
    SettingsApplied,
    SettingsDiscarded,
    SettingsProposed,
    WorkAdded,
    WorkChanged,
)
from midwatch.journal.events.session import (
    ActEnded,
    ActJudged,
    AskAnswered,
    AskExpired,
    AskOpened,
    AskWithdrawn,
    CheckInMade,
    CouncilSpoke,
    MessageSaid,
    NoticeRaised,
    NoticeSent,
    OrdersChanged,
    OrdersSigned,
    RoundCalled,
    RoundEnded,
    RoundPlanned,
    SessionDebriefing,
    SessionEnded,
    SessionOpened,
    SessionPaused,
    SessionResumed,
    SessionStarted,
    ToolCalled,
    ToolFinished,
)

Books = ProjectAdded | ProjectChanged | ProjectRemoved | GoalSet | GoalClosed | WorkAdded | WorkChanged
"""Projects, goals and work."""

Standing = SettingsProposed | SettingsApplied | SettingsDiscarded | LevelChanged
"""Values that apply until they are changed."""

Briefing = SessionOpened | OrdersChanged | OrdersSigned | SessionStarted
"""From a draft to a night under way."""

Course = SessionPaused | SessionResumed | SessionDebriefing | SessionEnded | MessageSaid | CheckInMade
"""The course of a session."""

Thinking = RoundCalled | RoundPlanned | CouncilSpoke | ActJudged | ActEnded | RoundEnded
"""The loop."""

Asking = AskOpened | AskAnswered | AskExpired | AskWithdrawn
"""Asks and notices."""

Reaching = NoticeRaised | NoticeSent | ToolCalled | ToolFinished
"""Effects outside Midwatch."""

Setting = MissionCreated | RunStarted | RunFinished | JobCreated | JobClaimed | JobMirrored | JobPrepared
"""Work is started and kept running."""

Holding = JobStumbled | JobWaits | JobWoken | JobGranted
"""Work that waited, and resumes."""

Making = JobPlanned | PlanReturned | JobApproved | JobExecuted | JobRepaired
"""What an agent plans, and what it reports as done."""

Proving = JobBundled | JobQuarantined | JobVerified | JobDelivered
"""The verified result."""

Closing = (
    JobStopRequested
    | JobEnded
    | PullRequestOpened
    | PullRequestReworded
    | PullRequestMerged
    | PullRequestClosed
    | PullRequestChanged
)
"""How the work ended."""

Receipts = EvidenceFound | ClaimMade | ArtifactKept | AssumptionMade
"""Evidence."""

Reviewing = ReportWritten | RunScored | ReviewSubmitted | ReviewTimedOut
"""The parts of the morning."""
