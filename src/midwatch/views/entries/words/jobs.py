"""Entries about missions, runs, jobs and pull requests in words."""

from typing import assert_never

from midwatch.journal.events import jobs as ev
from midwatch.journal.events.jobs import BoxEvent, JobBoxed, JobBoxOpened, JobWarned
from midwatch.terms.figures import dollars, size, some
from midwatch.terms.jobs import Change, Done
from midwatch.views.entries.groups import Closing, Holding, Making, Proving, Pulling, Setting
from midwatch.views.text.names import Names
from midwatch.views.text.plain import clean, spaced
from midwatch.views.text.proof import PROVEN

CHECKS = {
    "none": "with no checks there",
    "pending": "its checks are running",
    "green": "its checks are green",
    "red": "its checks are red",
}


def sentence(event: ev.JobEvent, names: Names) -> str:
    """Describe what happened to the work."""
    if isinstance(event, Setting):
        return _setting(event, names)
    if isinstance(event, Holding):
        return _held_up(event, names)
    if isinstance(event, Making):
        return _making(event, _name(event.job, names))
    if isinstance(event, Proving):
        return _proving(event, _name(event.job, names))
    return _closing(event, names)


def _name(job: str, names: Names) -> str:
    called = names.of(job, "the job")
    return called[0].upper() + called[1:]


def _setting(event: Setting, names: Names) -> str:
    match event:
        case ev.MissionCreated():
            text = f"A mission in {names.project(event.project)}: {clean(event.title)}"
        case ev.RunStarted():
            text = f"A run began in {names.project(event.project)}: {clean(event.contract.objective)}"
        case ev.RunFinished():
            text = f"A run {ENDED.get(event.status, f'is {event.status}')}: {clean(event.summary)}"
        case ev.JobCreated():
            again = " (again)" if event.retry_of else ""
            where = names.project(event.project)
            text = f"{_name(event.job, names)}{again} goes to {clean(event.agent)} in {where}: {clean(event.title)}"
        case ev.JobClaimed():
            tries = f", try {event.attempt}" if event.attempt > 1 else ""
            text = f"{_name(event.job, names)} started {event.stage.said}{tries}"
        case ev.JobMirrored(repository=facts):
            dirty = f"; {some(len(facts.dirty), 'uncommitted file')} left alone" if facts.dirty else ""
            text = f"{_name(event.job, names)} is based on {clean(facts.branch)} at {clean(facts.head)[:12]}{dirty}"
        case ev.JobPrepared():
            text = f"{_name(event.job, names)} is ready for its agent"
        case _:
            assert_never(event)
    return text


def _held_up(event: Holding, names: Names) -> str:
    match event:
        case ev.JobStumbled():
            name = _name(event.job, names)
            text = f"{name} failed at {event.stage.said} ({spaced(event.cause)}) and is retried: {clean(event.error)}"
        case ev.JobWaits():
            text = f"{_name(event.job, names)} waits at {event.stage.said}: {clean(event.why)}"
        case ev.JobWoken(by=by):
            text = f"{_name(event.job, names)} resumes at {event.stage.said} ({clean(by)})"
        case ev.JobGranted(by=by):
            more = f"{dollars(event.usd_micros)}, {event.tokens:,} tokens and {event.requests:,} requests"
            text = f"{clean(by)} raised the budget of {_name(event.job, names)} by {more}"
        case ev.PathAllowed(by=by):
            text = f"{clean(by)} allowed {clean(event.path)} for {_name(event.job, names)}, outside its own paths"
        case _:
            assert_never(event)
    return text


def _making(event: Making, name: str) -> str:
    match event:
        case ev.JobPlanned(plan=plan, version=version):
            again = f" (version {version})" if version > 1 else ""
            text = f"{name} is planned{again}: {clean(plan.summary, 360)}"
        case ev.PlanReturned(by=by):
            text = f"{clean(by)} asked for changes to the plan of {name[0].lower()}{name[1:]}: {clean(event.wish, 360)}"
        case ev.JobApproved(by=by):
            text = f"The plan of {name[0].lower()}{name[1:]} is approved by {clean(by)}"
        case ev.JobExecuted(done=done):
            text = f"{name} says it is done: {_done(done)}"
        case ev.JobRepaired(done=done):
            text = f"{name} was repaired, round {event.round}: {_done(done)}"
        case _:
            assert_never(event)
    return text


def _proving(event: Proving, name: str) -> str:
    match event:
        case ev.JobBundled(bundle=bundle):
            text = f"{name} was bundled at {clean(bundle.head)[:12]}: {size(bundle.bytes)}"
        case ev.JobQuarantined(change=change):
            text = f"{name} passed quarantine: {_change(change)}"
        case ev.JobVerified(proof=proof, repair=repair):
            text = f"{name} was checked: {PROVEN.get(proof.verdict, spaced(proof.verdict))}"
            text += "".join(f". {clean(doubt.text).removesuffix('.')}" for doubt in proof.grave[:2])
            text += "; it is repaired next" if repair else ""
        case ev.JobDelivered(branch=branch):
            text = f"{name} was pushed to {clean(branch)} at {clean(event.head)[:12]}"
        case _:
            assert_never(event)
    return text


ENDED = {"nothing_delivered": "delivered nothing"}


def _closing(event: Closing, names: Names) -> str:
    match event:
        case ev.JobStopRequested():
            name = _name(event.job, names)
            text = f"{name} is asked to stop by {clean(event.by)}: {clean(event.why)}; its work is kept"
        case ev.JobEnded():
            cause = f" ({spaced(event.cause)})" if event.cause else ""
            text = f"{_name(event.job, names)} {ENDED.get(event.state, f'is {event.state}')}{cause}: {clean(event.why)}"
        case _:
            text = _pulling(event, names)
    return text


def _pulling(event: Pulling, names: Names) -> str:
    match event:
        case ev.PullRequestOpened():
            name = _name(event.pull_request, names) if event.pull_request in names.things else "A pull request"
            text = (
                f"{name} is {'only a draft' if event.draft else 'ready'} on {clean(event.branch)}: {clean(event.title)}"
            )
        case ev.PullRequestReworded():
            text = f"{_pull_request(event.pull_request, names)} has updated links to its counterparts"
        case ev.PullRequestMerged(by=by, sha=sha):
            text = f"{_pull_request(event.pull_request, names)} was merged by {clean(by)} as {clean(sha)[:12]}"
        case ev.PullRequestReopened(by=by):
            text = f"{_pull_request(event.pull_request, names)} is open again: {clean(by)} took its merge back"
        case ev.PullRequestChanged(checks=checks):
            kind = "draft" if event.draft else "open"
            text = f"{_pull_request(event.pull_request, names)} is {kind} on {clean(event.forge)}, {CHECKS[checks]}"
        case ev.PullRequestClosed(by=by):
            why = f": {clean(event.why)}" if event.why else ""
            text = f"{_pull_request(event.pull_request, names)} was closed by {clean(by)}{why}"
        case _:
            assert_never(event)
    return text


def _pull_request(name: str, names: Names) -> str:
    return names.of(name, "a pull request").capitalize()


def _done(done: Done) -> str:
    left = f"; {some(len(done.left), 'finding')} left for a person" if done.left else ""
    return f"{clean(done.summary).rstrip('.')} ({some(len(done.commits), 'commit')}){left}"


def _change(change: Change) -> str:
    twice = f"; review carefully: {clean(', '.join(change.flagged), 80)}" if change.flagged else ""
    extent = f"{some(len(change.files), 'file')}, +{change.insertions} -{change.deletions}"
    return f"{some(len(change.commits), 'commit')}, {extent}{twice}"


def box_sentence(event: BoxEvent, names: Names) -> str:
    """Describe what happened to a job's time box."""
    called = names.of(event.job, "the job")
    name = called[0].upper() + called[1:]
    match event:
        case JobBoxOpened(number=number):
            text = f"{name}: time box {number} began"
        case JobWarned(minutes=minutes):
            text = f"{name} has worked for {minutes:g} minutes and is warned that its time is nearly over"
        case JobBoxed():
            text = f"{name} is asked to stop: {clean(event.why)}"
        case _:
            assert_never(event)
    return text
