"""Events in small groups, so that a reader can go through one group after the other and the type checker can count."""

from midwatch.journal.events import jobs, morning, projects, session

Backlog = (
    projects.ProjectAdded
    | projects.ProjectChanged
    | projects.ProjectRemoved
    | projects.GoalSet
    | projects.GoalClosed
    | projects.WorkAdded
    | projects.WorkChanged
)
"""Projects, goals and work."""

Standing = (
    projects.SettingsProposed
    | projects.SettingsApplied
    | projects.SettingsDiscarded
    | projects.LevelChanged
    | projects.ToolAlwaysAllowed
    | projects.ToolTakenBack
)
"""Values that apply until they are changed."""

Briefing = session.SessionOpened | session.OrdersChanged | session.OrdersSigned | session.SessionStarted
"""From a draft to a night under way."""

Course = (
    session.SessionPaused
    | session.SessionResumed
    | session.SessionDebriefing
    | session.SessionEnded
    | session.MessageSaid
    | session.CheckInMade
)
"""The course of a session."""

Asking = session.AskOpened | session.AskAnswered | session.AskExpired | session.AskWithdrawn
"""Asks and notices."""

Reaching = session.NoticeRaised | session.NoticeSent | session.ToolCalled | session.ToolFinished
"""Effects outside Midwatch."""

Setting = (
    jobs.MissionCreated
    | jobs.RunStarted
    | jobs.RunFinished
    | jobs.JobCreated
    | jobs.JobClaimed
    | jobs.JobMirrored
    | jobs.JobPrepared
)
"""Work is started and kept running."""

Holding = jobs.JobStumbled | jobs.JobWaits | jobs.JobWoken | jobs.JobGranted | jobs.PathAllowed
"""Work that waited, and resumes."""

Making = jobs.JobPlanned | jobs.PlanReturned | jobs.JobApproved | jobs.JobExecuted | jobs.JobRepaired
"""What an agent plans, and what it reports as done."""

Proving = jobs.JobBundled | jobs.JobQuarantined | jobs.JobVerified | jobs.JobDelivered
"""The verified result."""

Pulling = (
    jobs.PullRequestOpened
    | jobs.PullRequestReworded
    | jobs.PullRequestMerged
    | jobs.PullRequestReopened
    | jobs.PullRequestClosed
    | jobs.PullRequestChanged
)
"""What happened to a pull request."""

Closing = jobs.JobStopRequested | jobs.JobEnded | Pulling
"""How the work ended."""

Receipts = morning.EvidenceFound | morning.ClaimMade | morning.ArtifactKept | morning.AssumptionMade
"""Evidence."""

Reviewing = (
    morning.ReportWritten
    | morning.RunScored
    | morning.ReviewSubmitted
    | morning.ReviewTimedOut
    | morning.AssumptionSettled
)
"""The parts of the morning."""
