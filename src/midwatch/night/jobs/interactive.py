"""Interactive jobs: a person types into the agent's own program, inside the same sandbox (A14).

Midwatch does not decide the tool calls of such a job. Sandbox, network policy and limits apply as usual. When the
person agrees, the result goes through quarantine, checks and delivery like other work.
"""

from midwatch.journal.entry import canonical, digest
from midwatch.journal.events import Event
from midwatch.journal.events.jobs import JobApproved, JobEnded, JobExecuted, JobPlanned
from midwatch.night.agents.assignment import assign, base_of
from midwatch.night.asks.held_calls import Asking
from midwatch.night.context import Roster, Workspace
from midwatch.night.jobs.no_commits import nothing_delivered
from midwatch.ports.agent import InteractiveAgent
from midwatch.ports.books import Books
from midwatch.ports.journal import Records
from midwatch.terms.jobs import Done, Plan
from midwatch.terms.records import JobRow, SessionRow

SHELL = ("/bin/sh",)
PLAIN = {"PS1": "$PWD $ "}
WHY = "Undelivered work stays in its checkout."


async def planned(records: Records, job: JobRow) -> tuple[Event, ...]:
    """Record an empty plan: interactive work has none, and the person's command approves it."""
    session = await records.get(SessionRow, job.session)
    plan = Plan(summary=f"{session.signed_by} types into {job.agent}.", undo="Delete the checkout.")
    named = digest(canonical(plan.model_dump(mode="json")))
    drafted = JobPlanned(job=job.id, epoch=job.epoch, version=job.plan_version + 1, plan=plan, plan_hash=named)
    return drafted, JobApproved(job=job.id, by=session.signed_by, plan_hash=named)


async def execute(books: Books, roster: Roster, workspace: Workspace, job: JobRow) -> tuple[Event, ...]:
    """Run the program for the person until it ends, then ask whether to deliver the result."""
    agent, assignment = await assign(books, roster, workspace, job, base_of(job))
    argv, environment = agent.interactive_command(assignment) if isinstance(agent, InteractiveAgent) else (SHELL, PLAIN)
    room = assignment.room
    left = await room.sit(argv, environment)
    text = f"{job.title}\n\nLeft uncommitted; Midwatch committed it."
    await workspace.rooms.commit_leftovers(job.id, room.epoch, text)
    head = await workspace.rooms.head_so_far(job.id, room.epoch)
    done = Done(summary=f"Done interactively with {job.agent}: {job.title}", base=base_of(job), head=head)
    executed = JobExecuted(job=job.id, epoch=job.epoch, done=done, work_epoch=room.epoch)
    if head == base_of(job):
        return executed, *await nothing_delivered(books, job, f"Nothing was changed. {left.sentence}")
    said = await Asking(books, workspace.wake_ups, job, room).about(f"Deliver your work in job {job.number}?", WHY)
    if not said.yes:
        why = f"Not delivered: {said.text} Its checkout is kept."
        return (JobEnded(job=job.id, epoch=job.epoch, state="stopped", why=why),)
    return (executed,)
