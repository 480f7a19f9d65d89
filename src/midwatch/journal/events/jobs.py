"""Missions, runs, jobs and pull requests. Events of a running job carry its epoch; only the newest epoch counts."""

from datetime import datetime
from typing import Literal

from midwatch.journal.events.happening import Happening, JobHappening
from midwatch.terms.contract import RunContract
from midwatch.terms.forges import Checks
from midwatch.terms.jobs import Bundle, Change, Done, Plan, Proof, RepositoryFacts, Stage
from midwatch.terms.trust import Isolation


class MissionCreated(Happening):
    """A mission was made from an ordered piece of work."""

    kind: Literal["mission.created"] = "mission.created"
    mission: str
    session: str
    project: str
    title: str
    objective: str
    work_items: tuple[str, ...]


class RunStarted(Happening):
    """A run began under its contract."""

    kind: Literal["run.started"] = "run.started"
    run: str
    session: str
    mission: str
    project: str
    contract: RunContract


class RunFinished(Happening):
    """A run ended."""

    kind: Literal["run.finished"] = "run.finished"
    run: str
    session: str
    status: Literal["completed", "partial", "failed", "stopped", "nothing_delivered"]
    summary: str


class JobCreated(Happening):
    """A job was given to an agent. `by_hand`: a person types into the agent's program, and there is no plan."""

    kind: Literal["job.created"] = "job.created"
    job: str
    session: str
    run: str
    project: str
    work_item: str
    title: str
    agent: str
    act: str = ""
    retry_of: str = ""
    stage: Stage = Stage.MIRROR
    """A later stage than the first when it resumes an ended job in its kept checkout."""
    by_hand: bool = False


class JobClaimed(Happening):
    """A worker claimed the job's stage. From now on only this epoch may record for the job."""

    kind: Literal["job.claimed"] = "job.claimed"
    job: str
    stage: Stage
    attempt: int
    epoch: int
    worker: str
    isolation: Isolation = Isolation.NONE
    places: int = 0
    """How many jobs may be at work; 0 in entries from before this was kept."""


class JobMirrored(JobHappening):
    """The mirror was updated and the base commit was pinned."""

    kind: Literal["job.mirrored"] = "job.mirrored"
    repository: RepositoryFacts


class JobPrepared(JobHappening):
    """The mirror, the pinned base and the project's setup are ready."""

    kind: Literal["job.prepared"] = "job.prepared"
    repository: RepositoryFacts


class JobPlanned(JobHappening):
    """The agent returned a plan."""

    kind: Literal["job.planned"] = "job.planned"
    version: int
    plan: Plan
    plan_hash: str


class PlanReturned(Happening):
    """A plan was sent back to its agent with the changes wanted."""

    kind: Literal["plan.returned"] = "plan.returned"
    job: str
    by: str
    """A person, or `the orders` where the plan goes beyond what was signed."""
    plan_hash: str
    wish: str


class JobApproved(Happening):
    """The plan was approved."""

    kind: Literal["job.approved"] = "job.approved"
    job: str
    by: str
    plan_hash: str


class PathAllowed(Happening):
    """A person said yes to one file outside the work's own paths, in a plan or in a tool call of this job."""

    kind: Literal["job.path_allowed"] = "job.path_allowed"
    job: str
    path: str
    by: str
    ask: str


class JobExecuted(JobHappening):
    """The agent reported it is done. The work is in the checkout of `work_epoch`, or of `epoch` where that is 0."""

    kind: Literal["job.executed"] = "job.executed"
    done: Done
    work_epoch: int = 0


class JobBundled(JobHappening):
    """The agent's commits were bundled inside the sandbox."""

    kind: Literal["job.bundled"] = "job.bundled"
    bundle: Bundle


class JobQuarantined(JobHappening):
    """The bundle passed quarantine."""

    kind: Literal["job.quarantined"] = "job.quarantined"
    change: Change
    diff_blob: str


class JobVerified(JobHappening):
    """The checks ran on fresh checkouts. `repair`: another repair round follows."""

    kind: Literal["job.verified"] = "job.verified"
    proof: Proof
    repair: bool


class JobRepaired(JobHappening):
    """The agent tried to fix what the checks found."""

    kind: Literal["job.repaired"] = "job.repaired"
    round: int
    done: Done
    work_epoch: int = 0


class JobDelivered(JobHappening):
    """The work was pushed to a branch of the person's repository; there is no pull request yet."""

    kind: Literal["job.delivered"] = "job.delivered"
    branch: str
    head: str


class JobStumbled(JobHappening):
    """An attempt at a stage failed; it is retried."""

    kind: Literal["job.stumbled"] = "job.stumbled"
    stage: Stage
    attempt: int
    cause: str
    error: str
    output_blob: str = ""
    """The end of the agent's output, if any was kept."""


class JobWaits(JobHappening):
    """The job waits, `until` a time such as a limit's reset, or until a person answers."""

    kind: Literal["job.waits"] = "job.waits"
    stage: Stage
    attempt: int
    """The next attempt: one more than this one if this one failed, else the same."""
    cause: str
    why: str
    until: datetime | None = None


class JobWoken(JobHappening):
    """The wait is over; the job continues where it was."""

    kind: Literal["job.woken"] = "job.woken"
    stage: Stage
    attempt: int
    by: str


class JobGranted(Happening):
    """A person raised a job's budget."""

    kind: Literal["job.granted"] = "job.granted"
    job: str
    usd_micros: int
    tokens: int
    requests: int
    by: str


class JobStopRequested(Happening):
    """A stop of the job was requested; its work is kept."""

    kind: Literal["job.stop_requested"] = "job.stop_requested"
    job: str
    by: str
    why: str


class JobEnded(JobHappening):
    """The job ended."""

    kind: Literal["job.ended"] = "job.ended"
    state: Literal["done", "failed", "stopped", "declined", "nothing_delivered"]
    why: str
    unneeded: str = ""
    """What showed that nothing had to be done, where a job is done without a pull request."""
    cause: str = ""
    output_blob: str = ""
    """The end of the agent's output, where it failed or was stopped."""
    head: str = ""
    """The commit of its checkout."""


class JobBoxOpened(JobHappening):
    """A time box for the job began."""

    kind: Literal["job.box_opened"] = "job.box_opened"
    number: int
    """Counted over all jobs that continued this work."""
    due_at: datetime
    """When the job is warned, or stopped if it was warned before."""


class JobWarned(JobHappening):
    """The job's time box is nearly over."""

    kind: Literal["job.warned"] = "job.warned"
    minutes: float
    stop_at: datetime


class JobBoxed(JobHappening):
    """The time box ended: the job stops, its work is kept, and the brain decides whether it continues."""

    kind: Literal["job.boxed"] = "job.boxed"
    minutes: float
    why: str


class PullRequestOpened(Happening):
    """A pull request was opened and waits for a person."""

    kind: Literal["pull_request.opened"] = "pull_request.opened"
    pull_request: str
    job: str
    epoch: int
    run: str
    project: str
    branch: str
    base: str
    head: str
    into: str
    title: str
    body: str
    forge: str = "local"
    draft: bool = False
    """Its checks failed; the text says so."""
    url: str = ""
    there: int = 0
    """Its number at the forge."""
    checks: Checks = "none"
    remarks: tuple[str, ...] = ()
    """What the forge refused, such as a reviewer."""


class PullRequestMerged(Happening):
    """A person merged the pull request."""

    kind: Literal["pull_request.merged"] = "pull_request.merged"
    pull_request: str
    sha: str
    by: str
    undo: tuple[str, ...] = ()


class PullRequestReopened(Happening):
    """A person took a merge back; the pull request is open again."""

    kind: Literal["pull_request.reopened"] = "pull_request.reopened"
    pull_request: str
    by: str
    sha: str
    """Where the branch is again."""


class PullRequestClosed(Happening):
    """A person closed the pull request without merging."""

    kind: Literal["pull_request.closed"] = "pull_request.closed"
    pull_request: str
    by: str
    why: str = ""


class PullRequestChanged(Happening):
    """The forge reports a new state of an open pull request."""

    kind: Literal["pull_request.changed"] = "pull_request.changed"
    pull_request: str
    forge: str
    url: str
    there: int
    draft: bool
    checks: Checks


class PullRequestReworded(Happening):
    """The text of a pull request changed because its linked pull requests did."""

    kind: Literal["pull_request.reworded"] = "pull_request.reworded"
    pull_request: str
    body: str


JobEvent = (
    MissionCreated
    | RunStarted
    | RunFinished
    | JobCreated
    | JobClaimed
    | JobMirrored
    | JobPrepared
    | JobPlanned
    | PlanReturned
    | JobApproved
    | JobExecuted
    | JobBundled
    | JobQuarantined
    | JobVerified
    | JobRepaired
    | JobDelivered
    | JobStumbled
    | JobWaits
    | JobWoken
    | JobGranted
    | PathAllowed
    | JobStopRequested
    | JobEnded
    | PullRequestOpened
    | PullRequestReworded
    | PullRequestMerged
    | PullRequestReopened
    | PullRequestClosed
    | PullRequestChanged
)

BoxEvent = JobBoxOpened | JobWarned | JobBoxed
"""Time boxes: jobs that a brain started."""
