"""What happens to jobs and their pull requests. Events of a running job carry the epoch that may speak for it."""

from datetime import datetime
from typing import Literal

from midwatch.journal.events.forges import PullRequestChanged, PullRequestReworded
from midwatch.journal.events.happening import Happening
from midwatch.journal.events.runs import MissionCreated, RunFinished, RunStarted
from midwatch.terms.forges import Checks
from midwatch.terms.jobs import Bundle, Change, Done, Plan, Proof, RepositoryFacts, Stage
from midwatch.terms.trust import Isolation


class JobCreated(Happening):
    """A job was given to an agent; by hand, where a person types into its program and nobody plans."""

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
    """Later than the first when it goes on where the job it follows ended, in the checkout that was kept."""
    by_hand: bool = False


class JobClaimed(Happening):
    """A worker, with its walls, took the job; from now on only this epoch may speak for it."""

    kind: Literal["job.claimed"] = "job.claimed"
    job: str
    stage: Stage
    attempt: int
    epoch: int
    worker: str
    isolation: Isolation = Isolation.NONE


class JobMirrored(Happening):
    """Our mirror is up to date and what the work will stand on is pinned."""

    kind: Literal["job.mirrored"] = "job.mirrored"
    job: str
    epoch: int
    repository: RepositoryFacts


class JobPrepared(Happening):
    """Everything an agent needs stands ready: the mirror, the pinned base, what the project's setup makes."""

    kind: Literal["job.prepared"] = "job.prepared"
    job: str
    epoch: int
    repository: RepositoryFacts


class JobPlanned(Happening):
    """The agent said what it would do."""

    kind: Literal["job.planned"] = "job.planned"
    job: str
    epoch: int
    version: int
    plan: Plan
    plan_hash: str


class PlanReturned(Happening):
    """A plan goes back to its agent, with what is wanted of it instead."""

    kind: Literal["plan.returned"] = "plan.returned"
    job: str
    by: str
    """A person, or `the orders` where the plan leaves what was signed."""
    plan_hash: str
    wish: str


class JobApproved(Happening):
    """The plan may be carried out."""

    kind: Literal["job.approved"] = "job.approved"
    job: str
    by: str
    plan_hash: str


class JobExecuted(Happening):
    """The agent says it is done; the work lies in the checkout of `work_epoch`, or of its own where that is 0."""

    kind: Literal["job.executed"] = "job.executed"
    job: str
    epoch: int
    done: Done
    work_epoch: int = 0


class JobBundled(Happening):
    """The agent's commits were packed, inside its walls."""

    kind: Literal["job.bundled"] = "job.bundled"
    job: str
    epoch: int
    bundle: Bundle


class JobQuarantined(Happening):
    """What arrived passed quarantine."""

    kind: Literal["job.quarantined"] = "job.quarantined"
    job: str
    epoch: int
    change: Change
    diff_blob: str


class JobVerified(Happening):
    """Fresh checkouts were asked; `repair` says whether another repair round follows."""

    kind: Literal["job.verified"] = "job.verified"
    job: str
    epoch: int
    proof: Proof
    repair: bool


class JobRepaired(Happening):
    """The agent tried to mend what the checks found."""

    kind: Literal["job.repaired"] = "job.repaired"
    job: str
    epoch: int
    round: int
    done: Done
    work_epoch: int = 0


class JobDelivered(Happening):
    """The work lies on a branch where the person keeps the code; nobody is asked to look at it yet."""

    kind: Literal["job.delivered"] = "job.delivered"
    job: str
    epoch: int
    branch: str
    head: str


class JobStumbled(Happening):
    """An attempt at a stage failed; another follows."""

    kind: Literal["job.stumbled"] = "job.stumbled"
    job: str
    epoch: int
    stage: Stage
    attempt: int
    cause: str
    error: str
    output_blob: str = ""
    """The last words of whoever worked, if any were kept."""


class JobWaits(Happening):
    """Nothing can be done for a while: `until` an hour such as a limit's reset, or until a person has answered."""

    kind: Literal["job.waits"] = "job.waits"
    job: str
    epoch: int
    stage: Stage
    attempt: int
    """The attempt that follows: another one where this one failed, the same where nothing did."""
    cause: str
    why: str
    until: datetime | None = None


class JobWoken(Happening):
    """What a job waited for is over: it goes on where it was."""

    kind: Literal["job.woken"] = "job.woken"
    job: str
    epoch: int
    stage: Stage
    attempt: int
    by: str


class JobGranted(Happening):
    """A person lets a job spend more than it was given."""

    kind: Literal["job.granted"] = "job.granted"
    job: str
    usd_micros: int
    tokens: int
    requests: int
    by: str


class JobStopRequested(Happening):
    """Somebody wants the job to stop; its work is kept."""

    kind: Literal["job.stop_requested"] = "job.stop_requested"
    job: str
    by: str
    why: str


class JobEnded(Happening):
    """The job is over, one way or another."""

    kind: Literal["job.ended"] = "job.ended"
    job: str
    epoch: int
    state: Literal["done", "failed", "stopped", "declined"]
    why: str
    cause: str = ""
    output_blob: str = ""
    """The last words of whoever worked, where it failed or was stopped."""
    head: str = ""
    """The commit its checkout was at."""


class PullRequestOpened(Happening):
    """The work is delivered and waits for a person."""

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
    """Its checks stayed red, and it says so."""
    url: str = ""
    there: int = 0
    """What the forge calls it."""
    checks: Checks = "none"
    remarks: tuple[str, ...] = ()
    """What the forge would not do, such as a reviewer it refused."""


class PullRequestMerged(Happening):
    """A person merged it."""

    kind: Literal["pull_request.merged"] = "pull_request.merged"
    pull_request: str
    sha: str
    by: str
    undo: tuple[str, ...] = ()


class PullRequestClosed(Happening):
    """A person closed it without merging."""

    kind: Literal["pull_request.closed"] = "pull_request.closed"
    pull_request: str
    by: str
    why: str = ""


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
    | JobStopRequested
    | JobEnded
    | PullRequestOpened
    | PullRequestReworded
    | PullRequestMerged
    | PullRequestClosed
    | PullRequestChanged
)
