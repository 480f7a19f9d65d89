"""Events as a night would record them, short to write."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from midwatch.evening.shown_sheet import orders_hash
from midwatch.journal.events import Event, jobs, projects, session
from midwatch.terms.asks import AskDraft, AskKind
from midwatch.terms.jobs import Done, Plan, Proof, RepositoryFacts, Stage
from midwatch.terms.orders import Orders
from midwatch.terms.projects import Project
from midwatch.terms.trust import Level
from tests.journal.samples import THEN, sample

NIGHT = "ses_1"
FACTS = RepositoryFacts(path="/src", branch="main", head="abc")
DONE = Done(summary="done", base="abc", head="def")


def project(name: str = "sample", id_: str = "prj_1") -> projects.ProjectAdded:
    return projects.ProjectAdded(project=Project(id=id_, name=name, path="/src", branch="main"))


def said(text: str, id_: str = "") -> session.MessageSaid:
    return session.MessageSaid(message=id_ or f"msg_{text}", session=NIGHT, by="ann", text=text)


def brief(night: str = NIGHT) -> session.SessionOpened:
    return session.SessionOpened(session=night, orders=Orders())


def command(name: str) -> session.SessionOpened:
    return session.SessionOpened(session=name, orders=Orders(), ad_hoc=True)


def sign(night: str = NIGHT) -> session.OrdersSigned:
    return session.OrdersSigned(session=night, orders_hash=orders_hash(Orders()), by="ann")


def begin(night: str = NIGHT) -> session.SessionStarted:
    ends = THEN + timedelta(hours=8)
    return session.SessionStarted(session=night, level=Level.CAUTIOUS, ends_at=ends, items=(), repositories=())


def call(number: int, night: str = NIGHT) -> session.RoundCalled:
    return session.RoundCalled(session=night, number=number, why="time")


def end_round(number: int, night: str = NIGHT) -> session.RoundEnded:
    return session.RoundEnded(session=night, number=number, next_at=THEN)


def ask(id_: str = "ask_1") -> session.AskOpened:
    draft = AskDraft(kind=AskKind.QUESTION, question="Which one?")
    return session.AskOpened(ask=id_, session=NIGHT, draft=draft, due_at=THEN)


def answer(text: str = "yes", by: str = "ann", id_: str = "ask_1") -> session.AskAnswered:
    return session.AskAnswered(ask=id_, answer=text, by=by)


def job(id_: str = "job_1", of: str = "prj_1") -> jobs.JobCreated:
    return jobs.JobCreated(
        job=id_, session=NIGHT, run="run_1", project=of, work_item="", title="Tidy up", agent="housekeeper"
    )


def claim(epoch: int, stage: Stage = Stage.MIRROR, id_: str = "job_1") -> jobs.JobClaimed:
    return jobs.JobClaimed(job=id_, stage=stage, attempt=1, epoch=epoch, worker=f"w{epoch}")


def mirrored(epoch: int) -> jobs.JobMirrored:
    return jobs.JobMirrored(job="job_1", epoch=epoch, repository=FACTS)


def prepared(epoch: int) -> jobs.JobPrepared:
    return jobs.JobPrepared(job="job_1", epoch=epoch, repository=FACTS)


def planned(epoch: int, plan_hash: str = "p1") -> jobs.JobPlanned:
    return jobs.JobPlanned(job="job_1", epoch=epoch, version=1, plan=Plan(summary="tidy"), plan_hash=plan_hash)


def approved(plan_hash: str = "p1") -> jobs.JobApproved:
    return jobs.JobApproved(job="job_1", by="ann", plan_hash=plan_hash)


def executed(epoch: int) -> jobs.JobExecuted:
    return jobs.JobExecuted(job="job_1", epoch=epoch, done=DONE)


def verified(epoch: int, *, repair: bool = False) -> jobs.JobVerified:
    return jobs.JobVerified(job="job_1", epoch=epoch, proof=Proof(), repair=repair)


def ended(epoch: int, id_: str = "job_1") -> jobs.JobEnded:
    return jobs.JobEnded(job=id_, epoch=epoch, state="done", why="all tidy")


def delivered(epoch: int, id_: str = "pr_1") -> Event:
    return sample(jobs.PullRequestOpened, pull_request=id_, job="job_1", epoch=epoch)


UNDER_WAY: Sequence[Event] = (project(), brief(), sign(), begin())
AT_WORK: Sequence[Event] = (*UNDER_WAY, job(), claim(1), prepared(1), claim(2, Stage.PLAN), planned(2))


def of(kind: type[Event], **given: Any) -> Event:
    """The sample of any other kind."""
    return sample(kind, **given)
