"""Carries out what the gate allowed. Each act ends exactly once, in the transaction of its effect."""

from collections.abc import Awaitable, Callable

from midwatch.errors import Stale
from midwatch.journal.events import Event
from midwatch.journal.events.jobs import JobCreated
from midwatch.journal.events.projects import WorkChanged
from midwatch.journal.events.session import ActEnded, AskOpened, NoticeRaised, SessionPaused
from midwatch.night.commands.job_start import start_events
from midwatch.night.jobs.resume import resume_stage, take_up
from midwatch.night.notify.notice import TOLD_TOGETHER, cut, in_check_in, notice
from midwatch.night.rounds.debrief import stop_events
from midwatch.night.rounds.world import World, look
from midwatch.ports.books import Books
from midwatch.ports.clock import Ids
from midwatch.ports.journal import Journal, Records
from midwatch.ports.workspace import Rooms
from midwatch.rules.budget.time_boxes import boxed
from midwatch.rules.gate.gate import judge
from midwatch.rules.people.asks import deadline_at, silence_in_words
from midwatch.rules.people.notices import NoticeKind, tier_of
from midwatch.rules.recovery.tries import not_let_out
from midwatch.settings.zone import local_time
from midwatch.terms.acts import ActKind, Proposal, Proposer
from midwatch.terms.asks import AskDraft, AskKind, AskState, Silence, Tier
from midwatch.terms.facts import Facts
from midwatch.terms.jobs import Stage
from midwatch.terms.projects import WorkStatus
from midwatch.terms.records import ActRow, AskRow, JobRow, PastAct, SessionRow
from midwatch.terms.trust import GateOutcome, Verdict

SPIN = "gate.spin"
ActHandler = Callable[[Books, Rooms, World, ActRow], Awaitable[tuple[list[Event], str]]]


async def carry_out(books: Books, rooms: Rooms, act_id: str, *, confirmed: bool = False) -> None:
    """Judge again, then act; a proposal that a person confirmed counts as the person's own command."""
    act = await books.records.get(ActRow, act_id)
    if act.state != "judged":
        return
    world = await look(books, await books.records.get(SessionRow, act.session))
    proposal = act.proposal.model_copy(update={"by": Proposer.PERSON}) if confirmed else act.proposal
    facts = world.facts_for(proposal).model_copy(update={"council": act.facts.council})
    if await books.journal.known(_stopping(act.id)) is not None:
        facts = _stopped_for_it(facts)
    verdict = judge(proposal, facts)
    key = f"act:{act.id}:ended"
    because = (act.judged_seq,)
    handler = ACT_HANDLERS.get(act.proposal.kind)
    if not verdict.outcome.acts or handler is None:
        code, why = verdict.first.code, verdict.first.text
        if verdict.outcome.acts:
            code, why = "acts.no_tool", f"No tool for {act.proposal.kind.value} exists yet."
        await books.journal.record(ActEnded(act=act.id, end="refused", text=why, code=code), key=key, because=because)
        return
    if await _stops_first(books.journal, world, act):
        return
    try:
        events, result = await handler(books, rooms, world, act)
        words = in_words(act.proposal, world.name_of(act.proposal.project))
        events.append(ActEnded(act=act.id, end="done", text=words, result=result))
        if verdict.outcome is GateOutcome.EXECUTE_AND_TELL and not _told_together(world.session, act):
            events.append(_tell(books.ids, act, f"Decided to {words}."))
        await books.journal.record(*events, key=key, because=because)
    except Stale as moved:
        failed = ActEnded(act=act.id, end="failed", text=moved.message)
        await books.journal.record(failed, key=key, because=because)


def _told_together(session: SessionRow, act: ActRow) -> bool:
    return act.kind in TOLD_TOGETHER and in_check_in(session, NoticeKind.ACT_REPORTED, Tier.ACTION)


def _stopping(act: str) -> str:
    """Return the key of the stop that a restart begins with."""
    return f"act:{act}:stopping"


def _stopped_for_it(facts: Facts) -> Facts:
    """The job that a restart stopped counts as one to restart, though it neither runs nor failed."""
    if facts.project is None or facts.project.job is None:
        return facts
    job = facts.project.job.model_copy(update={"in_error": True})
    return facts.model_copy(update={"project": facts.project.model_copy(update={"job": job})})


async def _stops_first(journal: Journal, world: World, act: ActRow) -> bool:
    """Whether a restart has to wait until the job that runs is over; it is asked to stop once, and its work is kept."""
    if act.proposal.kind is not ActKind.RESTART:
        return False
    running = [job for job in world.jobs if job.work_item == act.proposal.target and not job.state.over]
    if running and await journal.known(_stopping(act.id)) is None:
        why = f"restarted: {act.proposal.reason}"
        events = [event for job in running for event in stop_events(job, by="brain", why=why)]
        await journal.record(*events, key=_stopping(act.id), because=(act.judged_seq,))
    return bool(running)


async def restart_stopped(books: Books, rooms: Rooms, job_id: str) -> None:
    """Carry out the restart for which this job was stopped, now that it is over."""
    job = await books.records.get(JobRow, job_id)
    waiting = {"session": job.session, "kind": ActKind.RESTART.value, "about": job.work_item, "state": "judged"}
    for act in await books.records.find(PastAct, **waiting):
        if await books.journal.known(_stopping(act.id)) is not None:
            asked = await books.records.find(AskRow, subject=act.id, state=AskState.ANSWERED)
            await carry_out(books, rooms, act.id, confirmed=bool(asked))


def pause_on_spin(ids: Ids, world: World, verdict: Verdict) -> tuple[Event, ...]:
    """Pause the loop and wake the person after the same proposal three times with nothing new (L4)."""
    if verdict.first.code != SPIN or world.session.paused:
        return ()
    text = f"Night {world.session.number} is paused: {verdict.first.text} Resume with: midwatch resume"
    return (
        SessionPaused(session=world.session.id, why=verdict.first.text),
        notice(ids, world.session.id, tier_of(NoticeKind.SPIN_PAUSE), text, subject=world.session.id),
    )


async def ask_first(books: Books, act_id: str) -> None:
    """Ask the person; the act waits for the answer or for the deadline."""
    act = await books.records.get(ActRow, act_id)
    world = await look(books, await books.records.get(SessionRow, act.session))
    words = in_words(act.proposal, world.name_of(act.proposal.project))
    silence = Silence(act.verdict.silence) if act.verdict.silence else Silence.NOT_DONE
    minutes = act.verdict.deadline_minutes
    due = deadline_at(local_time(world.settings, books.clock.now()), minutes)
    draft = AskDraft(
        kind=AskKind.CONFIRM_ACT,
        question=f"May I {words}? {silence_in_words(silence, minutes)}",
        rationale=f"{act.proposal.reason} ({act.verdict.first.text})",
        recommendation="yes",
        priority=world.settings.asks.default_priority,
        deadline_minutes=minutes,
        silence=silence,
        subject=act.id,
        project=act.proposal.project,
    )
    opened = AskOpened(ask=books.ids.new("ask"), session=act.session, draft=draft, due_at=due)
    asked = notice(books.ids, act.session, Tier.ACTION, draft.question, subject=opened.ask)
    if await books.journal.known(f"act:{act.id}:asked") is None:
        await books.journal.record(opened, asked, key=f"act:{act.id}:asked", because=(act.judged_seq,))


async def _start(books: Books, _: Rooms, world: World, act: ActRow) -> tuple[list[Event], str]:
    """Start a run with one job, or join the run that a sibling in another repository started."""
    return await start_events(books.ids, books.records, world, act.proposal, act.id)


async def _restart(books: Books, rooms: Rooms, world: World, act: ActRow) -> tuple[list[Event], str]:
    """Start again after a job ended, as a job that names the former; if the work was fine, continue it instead."""
    tried = [job for job in world.jobs if job.work_item == act.proposal.target]
    if tried and (why := await _resume_reason(books.records, rooms, tried[-1])):
        return await _go_on(books.ids, books.records, act, tried[-1], why)
    events, result = await _start(books, rooms, world, act)
    renewed = [
        one.model_copy(update={"retry_of": tried[-1].id}) if isinstance(one, JobCreated) and tried else one
        for one in events
    ]
    return renewed, result


async def _resume_reason(records: Records, rooms: Rooms, last: JobRow) -> str:
    """Say why a job is continued where it ended; empty if the work starts over."""
    if await resume_stage(records, last) is Stage.MIRROR:
        return ""
    if boxed(last):
        return "continues in a new time box"
    # A person may have discarded the checkout before they asked to continue.
    kept = not_let_out(last) and await rooms.head_so_far(last.id, last.work_epoch)
    return "continues with the finished work" if kept else ""


async def _go_on(ids: Ids, records: Records, act: ActRow, former: JobRow, why: str) -> tuple[list[Event], str]:
    """Start a job that continues with the kept checkout, plan and conversation."""
    stage = await resume_stage(records, former)
    created, job = await take_up(ids, records, former, stage, act=act.id)
    events: list[Event] = [
        *created,
        WorkChanged(item=former.work_item, status=WorkStatus.IN_PROGRESS, why=why),
    ]
    return events, job


async def _stop(_: Books, __: Rooms, world: World, act: ActRow) -> tuple[list[Event], str]:
    """Stop the job it names, or all that this night runs in the project; the work is kept."""
    named, project = act.proposal.target, act.proposal.project
    mine = [job for job in world.jobs if job.project == project and not job.state.over]
    running = [job for job in mine if not named or named in {job.id, job.work_item}]
    events = [event for job in running for event in stop_events(job, by="brain", why=act.proposal.reason)]
    if not events:
        raise Stale("None of this night's jobs is running there.")
    return events, ",".join(job.id for job in running)


async def _notify(books: Books, _: Rooms, __: World, act: ActRow) -> tuple[list[Event], str]:
    tier = Tier(max(int(Tier.ACTION), act.proposal.tier))  # a brain may lower its urgency, never raise it
    said = notice(books.ids, act.session, tier, act.proposal.message, subject=act.id)
    return [said], said.notice


async def _ask_user(books: Books, _: Rooms, world: World, act: ActRow) -> tuple[list[Event], str]:
    asks = world.settings.asks
    now = local_time(world.settings, books.clock.now())
    draft = AskDraft(
        kind=AskKind.QUESTION,
        question=act.proposal.message,
        options=(),
        rationale=act.proposal.reason,
        priority=asks.default_priority,
        silence=Silence.TO_BRIEF,
        subject=act.id,
        project=act.proposal.project,
    )
    due = deadline_at(now, asks.question_minutes or None)
    opened = AskOpened(ask=books.ids.new("ask"), session=act.session, draft=draft, due_at=due)
    asked = notice(books.ids, act.session, tier_of(NoticeKind.NEEDS_INPUT), cut(draft.question), subject=opened.ask)
    return [opened, asked], opened.ask


async def _update_work(_: Books, __: Rooms, ___: World, act: ActRow) -> tuple[list[Event], str]:
    return [WorkChanged(item=act.proposal.target, next_step=act.proposal.message, why=act.proposal.reason)], "updated"


async def _nothing(*_: object) -> tuple[list[Event], str]:
    return [], ""


ACT_HANDLERS: dict[ActKind, ActHandler] = {
    ActKind.START: _start,
    ActKind.RESTART: _restart,
    ActKind.STOP: _stop,
    ActKind.NOTIFY: _notify,
    ActKind.ASK_USER: _ask_user,
    ActKind.UPDATE_WORK_ITEM: _update_work,
    ActKind.SKIP: _nothing,
    ActKind.REFLECT: _nothing,
    ActKind.WAIT: _nothing,
    ActKind.SLEEP: _nothing,
    ActKind.REPORT: _nothing,
    ActKind.NOTE: _nothing,
}
"""The acts that can be carried out; an act that is missing here is refused for that reason."""


def in_words(proposal: Proposal, project: str) -> str:
    where = f" in {project}" if project else ""
    what = f": {proposal.prompt}" if proposal.prompt else ""
    return f"{proposal.kind.value.replace('_', ' ')}{where}{what}"


def _tell(ids: Ids, act: ActRow, text: str) -> NoticeRaised:
    return notice(ids, act.session, Tier.ACTION, text, subject=act.id)
