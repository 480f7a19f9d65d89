"""What must hold after any kill at any time, read from the journal and the records while nothing is written."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from midwatch.journal.entry import Entry
from midwatch.journal.events import jobs as work
from midwatch.journal.events import session as ev
from midwatch.journal.events.crew import ModelCalled
from midwatch.journal.events.jobs import JobCreated, JobEnded, PullRequestReopened, RunFinished
from midwatch.journal.events.projects import LevelChanged
from midwatch.journal.events.stack import StackUndone
from midwatch.journal.events.workshop import ConnectionSeen, ProcessOrphaned
from midwatch.rules.gate.act_groups import SAYING, plain
from midwatch.rules.gate.levels import effective_level, running_level
from midwatch.rules.gate.matrix import outcome_at
from midwatch.rules.invariants.records_seen import Found, RecordsSeen, Rule, Violation
from midwatch.rules.invariants.spending import within_ceilings
from midwatch.rules.people.asks import agrees
from midwatch.rules.recovery.liveness import Path, standing_of
from midwatch.terms.acts import ActKind, Proposer
from midwatch.terms.asks import AskKind, AskState, DeliveryState, Tier
from midwatch.terms.jobs import JobState
from midwatch.terms.projects import SessionState
from midwatch.terms.records import JobRow
from midwatch.terms.trust import GateOutcome, Level

SEEN: Final = (ConnectionSeen, ProcessOrphaned, ModelCalled)
NOT_PEOPLE: Final = frozenset({"", "silence", "midwatch", "brain"})


def check(entries: Sequence[Entry], records: RecordsSeen) -> tuple[Violation, ...]:
    """Check every invariant against the whole journal and its records; an empty result means that all hold."""
    return tuple(
        Violation(rule=name, text=text, seq=seq) for name, rule in RULES.items() for text, seq in rule(entries, records)
    )


def in_order(entries: Sequence[Entry], _: RecordsSeen) -> Found:
    """Entries are numbered without a gap, and time never runs backwards."""
    for before, entry in pairwise(entries):
        if entry.seq != before.seq + 1:
            yield f"entry {entry.seq} follows entry {before.seq}", entry.seq
        if entry.at < before.at:
            yield f"entry {entry.seq} is older than the one before it", entry.seq


def because_backwards(entries: Sequence[Entry], _: RecordsSeen) -> Found:
    """A cause is an entry that exists and comes first."""
    known = {entry.seq for entry in entries}
    first = entries[0].seq if entries else 0
    for entry in entries:
        for cause in entry.because:
            if cause >= entry.seq or (cause not in known and cause >= first) or cause < 1:
                yield f"entry {entry.seq} names {cause} as its cause", entry.seq


_ONE_EFFECT: Final = (
    dict.fromkeys(("tool.called", "tool.finished"), "invocation")
    | {"notice.raised": "notice", "notice.sent": "notice channel"}
    | {"pull_request.opened": "job", "pull_request.merged": "pull_request", "stack.made": "stack"}
)
_ONE_END: Final = (
    dict.fromkeys(("act.judged", "act.ended"), "act")
    | dict.fromkeys(("ask.answered", "ask.expired", "ask.withdrawn"), "ask")
    | dict.fromkeys(("session.debriefing", "session.ended"), "session")
    | {"job.ended": "job", "run.finished": "run"}
)


def one_effect(entries: Sequence[Entry], records: RecordsSeen) -> Found:
    """Each action key has at most one effect."""
    yield from _repeated(entries, _ONE_EFFECT)
    keys: set[str] = set()
    for entry in entries:
        if entry.key and entry.key in keys:
            yield f"the key {entry.key} was used twice", entry.seq
        keys.add(entry.key)
    jobs = Counter(row.job for row in records.pull_requests)
    yield from ((f"{many} pull requests exist for {job}", 0) for job, many in jobs.items() if many > 1)


def _repeated(entries: Sequence[Entry], once: dict[str, str]) -> Found:
    seen: set[tuple[str, str]] = set()
    for entry in entries:
        field = once.get(entry.event.kind)
        if isinstance(entry.event, StackUndone):
            seen -= {("pull_request.merged", name) for name in entry.event.pull_requests}
        if isinstance(entry.event, PullRequestReopened):
            seen.discard(("pull_request.merged", entry.event.pull_request))
        if field is None:
            continue
        kind = "ask settled" if entry.event.kind.startswith("ask.") else entry.event.kind
        what = (kind, " ".join(str(getattr(entry.event, one)) for one in field.split()))
        if what in seen:
            yield f"{what[0]} twice for {what[1]}", entry.seq
        seen.add(what)


def one_end(entries: Sequence[Entry], records: RecordsSeen) -> Found:
    """Every decision has exactly one end, at the latest when its session is over, unless a person is asked."""
    yield from _repeated(entries, _ONE_END)
    judged = {entry.event.act: entry for entry in entries if isinstance(entry.event, ev.ActJudged)}
    ended = {entry.event.act: entry.seq for entry in entries if isinstance(entry.event, ev.ActEnded)}
    states = _Sessions(entries).state
    for act, entry in judged.items():
        over = states.get(getattr(entry.event, "session", "")) in {SessionState.DEBRIEF, SessionState.ENDED}
        if act not in ended and over and act not in records.waited_for:
            yield f"{act} was judged and never ended", entry.seq
    yield from ((f"{act} ended and was never judged", seq) for act, seq in ended.items() if act not in judged)


def tools_finished(entries: Sequence[Entry], _: RecordsSeen) -> Found:
    """No effect is unfinished once its session has ended."""
    finished = {entry.event.invocation for entry in entries if isinstance(entry.event, ev.ToolFinished)}
    over = {entry.event.session for entry in entries if isinstance(entry.event, ev.SessionEnded)}
    for entry in entries:
        event = entry.event
        if isinstance(event, ev.ToolCalled) and event.session in over and event.invocation not in finished:
            yield f"{event.tool} ({event.invocation}) began and never finished", entry.seq


class _Sessions:
    """The state of each session and the level in force, entry by entry."""

    def __init__(self, entries: Sequence[Entry] = ()) -> None:
        self.state: dict[str, SessionState] = {}
        self.level: dict[str, Level] = {}
        for entry in entries:
            self.follow(entry)

    def follow(self, entry: Entry) -> None:
        match entry.event:
            case ev.SessionOpened(session=session):
                self.state[session] = SessionState.BRIEFING
            case ev.SessionStarted(session=session, level=level):
                self.state[session] = SessionState.AUTONOMOUS
                self.level[session] = level
            case ev.SessionDebriefing(session=session):
                self.state[session] = SessionState.DEBRIEF
            case ev.SessionEnded(session=session):
                self.state[session] = SessionState.ENDED
            case LevelChanged(level=level, session=session) if session:
                self.level |= {session: level}
            case LevelChanged(level=level, lowers=lowers):
                live = [name for name, state in self.state.items() if state is SessionState.AUTONOMOUS]
                follow = lowers is None
                self.level |= {one: level if follow else running_level(self.level[one], level) for one in live}
            case _:
                pass


@dataclass(frozen=True, slots=True)
class _Deed:
    seq: int
    judged: ev.ActJudged
    level: Level
    state: SessionState | None
    by_person: bool


def _deeds(entries: Sequence[Entry]) -> Iterator[_Deed]:
    """Everything that was really done, with the state at that time."""
    sessions = _Sessions()
    judged: dict[str, ev.ActJudged] = {}
    asks: dict[str, str] = {}
    confirmed: set[str] = set()
    for entry in entries:
        sessions.follow(entry)
        match entry.event:
            case ev.ActJudged(act=act) as event:
                judged[act] = event
            case ev.AskOpened(ask=ask, draft=draft) if draft.kind is AskKind.CONFIRM_ACT:
                asks[ask] = draft.subject
            case ev.AskAnswered(ask=ask, answer=answer, by=by) if agrees(answer) and by not in NOT_PEOPLE:
                confirmed.add(asks.get(ask, ""))
            case ev.ActEnded(act=act, end="done") if act in judged:
                event = judged[act]
                level = sessions.level.get(event.session, Level.OBSERVE)
                person = act in confirmed or event.proposal.by is Proposer.PERSON
                yield _Deed(entry.seq, event, level, sessions.state.get(event.session), person)
            case _:
                pass


def nothing_above_the_level(entries: Sequence[Entry], _: RecordsSeen) -> Found:
    """Every executed act is allowed by the table at the level in force, or was approved by a person."""
    for deed in _deeds(entries):
        proposal, facts = deed.judged.proposal, deed.judged.facts
        level = effective_level(deed.level, facts.isolation, proposal.agent, forced=facts.limits.forced_isolation)
        outcome = outcome_at(proposal, level)
        loud = proposal.kind is ActKind.NOTIFY and level is Level.OBSERVE and proposal.tier < Tier.SUMMARY
        allowed = outcome is not GateOutcome.REFUSE if deed.by_person else outcome.acts and not loud
        if not allowed:
            yield f"{plain(proposal.kind)} was done; at {level.value} the table says {outcome.value}", deed.seq


def nothing_outside_a_session(entries: Sequence[Entry], _: RecordsSeen) -> Found:
    """Outside an autonomous session a brain only suggests."""
    for deed in _deeds(entries):
        kind = deed.judged.proposal.kind
        if not deed.by_person and kind not in SAYING and deed.state is not SessionState.AUTONOMOUS:
            yield f"{plain(kind)} was done in a session that was {deed.state or 'never opened'}", deed.seq


def newest_epoch_speaks(entries: Sequence[Entry], _: RecordsSeen) -> Found:
    """Epochs only grow, and only the newest may record for a job, until the job is over."""
    newest: dict[str, int] = {}
    over: set[str] = set()
    for entry in entries:
        event = entry.event
        if isinstance(event, work.JobCreated):
            newest[event.job] = 0
        job, epoch = getattr(event, "job", ""), getattr(event, "epoch", None)
        if epoch is None or job not in newest or isinstance(event, SEEN):
            continue  # what was seen of a job is not said by it
        fits = epoch > newest[job] if isinstance(event, work.JobClaimed) else epoch == newest[job]
        if not fits or (job in over and not isinstance(event, work.JobEnded)):
            yield f"{event.kind} of {job} from epoch {epoch}; the newest is {newest[job]}", entry.seq
        newest[job] = max(epoch, newest[job])
        over |= {job} if isinstance(event, work.JobEnded) else set()


def only_agent_refs(entries: Sequence[Entry], _: RecordsSeen) -> Found:
    """The person's repository changes only under agent/*."""
    for entry in entries:
        match entry.event:
            case ev.ToolCalled(request=named) | ev.ToolFinished(result=named):
                refs = [str(value) for field, value in named.items() if field in {"into", "ref", "branch"}]
            case work.PullRequestOpened(branch=branch):
                refs = [branch]
            case _:
                continue
        for ref in refs:
            short = ref.removeprefix("refs/heads/")
            if not short.startswith("agent/") or ".." in short or ":" in short:
                yield f"{entry.event.kind} touches {short}", entry.seq


def no_job_is_stuck(_: Sequence[Entry], records: RecordsSeen) -> Found:
    """A job that is not over is running, waits for something named, or recovers (X4)."""
    for job in records.jobs:
        standing = standing_of(job, records.asks, records.timers)
        if standing.path is Path.STRANDED:
            yield f"job {job.number} {standing.what}", 0


def boxes_have_timers(_: Sequence[Entry], records: RecordsSeen) -> Found:
    """A running time box has a timer for its end, and a paused one has none."""
    woken = {timer.subject for timer in records.timers if timer.kind == "box"}
    for job in records.jobs:
        runs = job.box_began_at is not None and job.state in {JobState.RUNNING, JobState.QUEUED}
        if runs and job.id not in woken:
            yield f"the time box of job {job.number} runs and nothing will end it", 0
        if job.state.over and job.id in woken:
            yield f"job {job.number} is over but its time box is still open", 0


def deadlines_have_timers(_: Sequence[Entry], records: RecordsSeen) -> Found:
    """An open ask with a deadline has a timer for it."""
    timers = {(timer.subject, timer.due_at) for timer in records.timers if timer.kind == "ask"}
    for ask in records.asks:
        if ask.state is AskState.OPEN and ask.due_at is not None and (ask.id, ask.due_at) not in timers:
            yield f"ask {ask.number} is due and nothing will wake it", 0


def nights_stay_awake(_: Sequence[Entry], records: RecordsSeen) -> Found:
    """A running night is paused, in a round or has a time for the next one; a command has a run that is running."""
    awake = {timer.subject for timer in records.timers if timer.kind == "round"}
    awake |= {session.id for session in records.sessions if session.paused or session.round_active}
    awake |= {run.session for run in records.runs if run.status == "running"} & {
        session.id for session in records.sessions if session.ad_hoc
    }
    for session in records.sessions:
        if session.state is SessionState.AUTONOMOUS and session.id not in awake:
            yield f"{session.called} is running, but has no round, no timer and no run", 0


@dataclass(frozen=True, slots=True)
class MachineSeen:
    """What was found running, and what was found written."""

    living: tuple[tuple[str, int], ...] = ()
    """Job and attempt of everything that is held on this machine."""
    leaks: tuple[tuple[str, str], ...] = ()
    """A secret's name, and where its value was found."""


def check_machine(jobs: Sequence[JobRow], seen: MachineSeen) -> tuple[Violation, ...]:
    """Compare the machine with the records; an empty result means that they agree."""
    return (*_recorded(jobs, seen), *_hidden(seen))


def _recorded(jobs: Sequence[JobRow], seen: MachineSeen) -> tuple[Violation, ...]:
    by_id = {job.id: job for job in jobs}
    found = []
    for name, epoch in seen.living:
        job = by_id.get(name)
        if job is None:
            found.append(f"attempt {epoch} of {name} is running, but there is no such job")
        elif job.state.over:
            found.append(f"attempt {epoch} of job {job.number} is running, but the job is {job.state.value}")
    return tuple(Violation(rule="every_process_has_a_job", text=text) for text in found)


def _hidden(seen: MachineSeen) -> tuple[Violation, ...]:
    return tuple(
        Violation(rule="no_secret_is_written", text=f"the value of the secret {name} is in {place}")
        for name, place in seen.leaks
    )


def notices_are_on_their_way(_: Sequence[Entry], records: RecordsSeen) -> Found:
    """What waits for a channel has a timer, and what goes to another channel is in the log first."""
    timers = {timer.subject: timer.due_at for timer in records.timers if timer.kind == "channel"}
    logged = {notice.id for notice in records.notices if notice.sent_by and notice.tier < Tier.LOG}
    for row in records.deliveries:
        woken = timers.get(row.channel)
        if not row.state.over and (woken is None or woken > row.due_at):
            yield f"{row.notice} waits for {row.channel} and nothing will wake it", 0
        if row.notice not in logged:
            yield f"{row.notice} goes to {row.channel} and is not in the log", 0
        if row.state is DeliveryState.SENT and not row.push:
            yield f"{row.notice} was sent to {row.channel} in no message", 0


def runs_end_together(entries: Sequence[Entry], _: RecordsSeen) -> Found:
    """A run is finished once, after the last of its jobs."""
    at_work: dict[str, set[str]] = {}
    of: dict[str, str] = {}
    for entry in entries:
        match entry.event:
            case JobCreated(job=job, run=run):
                of[job] = run
                at_work.setdefault(run, set()).add(job)
            case JobEnded(job=job):
                at_work.get(of.get(job, ""), set()).discard(job)
            case RunFinished(run=run) if at_work.get(run):
                yield f"run {run} was finished while {len(at_work[run])} of its jobs were not over", entry.seq
            case _:
                pass


def done_is_delivered(entries: Sequence[Entry], _: RecordsSeen) -> Found:
    """A job that is done has a pull request, or a rule confirmed that nothing had to be done."""
    delivered: set[str] = set()
    for entry in entries:
        match entry.event:
            case work.PullRequestOpened(job=job):
                delivered.add(job)
            case JobEnded(job=job, state="done", unneeded="") if job not in delivered:
                yield f"{job} is done, has no pull request, and nothing shows that none was needed", entry.seq
            case _:
                pass


def no_more_than_places(entries: Sequence[Entry], _: RecordsSeen) -> Found:
    """Never are more jobs at work than there were places when the last one began or went on."""
    at_work: set[str] = set()
    for entry in entries:
        match entry.event:
            case work.JobClaimed(job=job, places=places):
                if places and job not in at_work and len(at_work) >= places:
                    yield f"{job} went to work beside {len(at_work)} others, with {places} places", entry.seq
                at_work.add(job)
            case work.JobPlanned(job=job) | work.JobWaits(job=job) | JobEnded(job=job):
                at_work.discard(job)
            case _:
                pass


RULES: Final[dict[str, Rule]] = {
    "in_order": in_order,
    "because_backwards": because_backwards,
    "one_effect": one_effect,
    "one_end": one_end,
    "tools_finished": tools_finished,
    "nothing_above_the_level": nothing_above_the_level,
    "nothing_outside_a_session": nothing_outside_a_session,
    "newest_epoch_speaks": newest_epoch_speaks,
    "only_agent_refs": only_agent_refs,
    "no_job_is_stuck": no_job_is_stuck,
    "boxes_have_timers": boxes_have_timers,
    "deadlines_have_timers": deadlines_have_timers,
    "nights_stay_awake": nights_stay_awake,
    "no_more_than_places": no_more_than_places,
    "runs_end_together": runs_end_together,
    "done_is_delivered": done_is_delivered,
    "within_ceilings": within_ceilings,
    "notices_are_on_their_way": notices_are_on_their_way,
}
"""Every invariant by its name; a broken one is reported under that name."""
