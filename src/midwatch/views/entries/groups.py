"""Events in small groups, so that a reader can go through one kind after the other and the type checker can count."""

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
"""What the house knows and what is to be done."""

Standing = SettingsProposed | SettingsApplied | SettingsDiscarded | LevelChanged
"""What holds until somebody changes it."""

Briefing = SessionOpened | OrdersChanged | OrdersSigned | SessionStarted
"""From a draft to a night under way."""

Course = SessionPaused | SessionResumed | SessionDebriefing | SessionEnded | MessageSaid | CheckInMade
"""The session's own course."""

Thinking = RoundCalled | RoundPlanned | CouncilSpoke | ActJudged | ActEnded | RoundEnded
"""The loop."""

Asking = AskOpened | AskAnswered | AskExpired | AskWithdrawn
"""What needed a person."""

Reaching = NoticeRaised | NoticeSent | ToolCalled | ToolFinished
"""What left the house."""

Setting = MissionCreated | RunStarted | RunFinished | JobCreated | JobClaimed | JobMirrored | JobPrepared
"""Work is set going, and kept going."""

Holding = JobStumbled | JobWaits | JobWoken | JobGranted
"""Work that was held up, and goes on."""

Making = JobPlanned | PlanReturned | JobApproved | JobExecuted | JobRepaired
"""What an agent means to do, and says it did."""

Proving = JobBundled | JobQuarantined | JobVerified | JobDelivered
"""What really came of it."""

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
"""What can be looked up again."""

Reviewing = ReportWritten | RunScored | ReviewSubmitted | ReviewTimedOut
"""What the morning is made of."""
