"""The part of the day an entry belongs to, its filters, and its name in the stream."""

from typing import Final, Literal

from midwatch.journal.events import Event
from midwatch.journal.events.jobs import JobApproved, JobEnded, JobVerified
from midwatch.journal.events.preflight import PreflightChecked, PreflightEnded
from midwatch.journal.events.session import ActEnded, AskExpired, CheckInMade, RoundEnded, ToolFinished
from midwatch.journal.events.stack import StackMade
from midwatch.journal.events.workshop import ConnectionSeen
from midwatch.terms.asks import Silence
from midwatch.terms.jobs import NOT_DELIVERABLE
from midwatch.terms.preflight import LineState
from midwatch.terms.stack import StackVerdict

Phase = Literal["evening", "sense", "plan", "act", "job", "ask", "morning", "house"]
Tag = Literal["writes", "errors", "assumptions", "evidence", "decisions"]

_KINDS: Final[dict[Phase, str]] = {
    "house": """project.added project.changed project.removed project.tool_allowed
        project.tool_taken_back goal.set goal.closed work.added work.changed
        settings.proposed settings.applied settings.discarded level.changed
        person.added person.changed person.removed person.invited person.entered person.left person.refused
        token.issued token.revoked""",
    "evening": """session.opened orders.changed preflight.begun preflight.checked preflight.ended signing.asked
        signing.dropped orders.signed session.started""",
    "sense": "round.called message.said",
    "plan": "round.planned council.spoke",
    "act": """act.judged act.ended round.ended checkin.made session.paused session.resumed
        notice.raised notice.sent notice.routed push.begun push.failed""",
    "job": """mission.created run.started run.finished job.created job.claimed job.mirrored job.prepared job.planned
        plan.returned job.approved job.executed job.bundled job.quarantined job.verified job.repaired job.stumbled
        job.stop_requested job.ended job.waits job.woken job.granted job.path_allowed job.box_opened job.warned
        job.boxed job.delivered signal.seen signal.answered signal.passed milestone.reached
        agent.began agent.ended agent.limited model.called tool_call.decided fuel.read
        connection.seen setup.finished process.orphaned checkout.removed
        pull_request.opened pull_request.changed pull_request.reworded tool.called tool.finished evidence.found
        claim.made artifact.kept assumption.made""",
    "ask": "ask.opened ask.answered ask.expired ask.withdrawn ask.postponed",
    "morning": """session.debriefing session.ended report.written run.scored review.submitted review.timed_out
        assumption.settled pull_request.merged pull_request.reopened pull_request.closed
        stack.begun stack.made stack.merged stack.commented stack.undone""",
}
PHASES: Final[dict[str, Phase]] = {kind: phase for phase, kinds in _KINDS.items() for kind in kinds.split()}

_MILESTONES: Final = """session.started session.paused session.resumed session.debriefing session.ended
    orders.signed message.said checkin.made level.changed job.created job.planned plan.returned job.approved
    job.verified job.stumbled job.waits job.stop_requested job.ended job.boxed job.granted milestone.reached
    agent.limited pull_request.opened pull_request.merged pull_request.closed ask.opened ask.answered ask.expired
    ask.withdrawn assumption.made process.orphaned push.failed report.written review.submitted review.timed_out
    stack.made stack.merged stack.undone"""
MILESTONES: Final = frozenset(_MILESTONES.split())
"""What a person follows a night by; all other entries are the machine's own steps, shown on request."""

_ALWAYS: Final[dict[Tag, frozenset[str]]] = {
    "writes": frozenset(
        {
            "job.executed",
            "job.repaired",
            "job.quarantined",
            "job.delivered",
            "pull_request.opened",
            "pull_request.merged",
            "pull_request.reopened",
            "stack.merged",
            "stack.undone",
            "tool.called",
            "tool.finished",
            "artifact.kept",
        }
    ),
    "errors": frozenset({"job.stumbled", "process.orphaned", "push.failed"}),
    "assumptions": frozenset({"assumption.made", "assumption.settled"}),
    "evidence": frozenset({"evidence.found", "claim.made", "job.verified", "stack.made"}),
    "decisions": frozenset(
        {
            "orders.signed",
            "level.changed",
            "council.spoke",
            "act.judged",
            "act.ended",
            "ask.opened",
            "ask.answered",
            "ask.expired",
            "job.approved",
            "job.path_allowed",
            "pull_request.merged",
            "pull_request.reopened",
            "pull_request.closed",
            "review.submitted",
            "stack.merged",
            "stack.commented",
            "stack.undone",
        }
    ),
}

_SSE: Final[dict[str, str]] = {
    "council.spoke": "deliberation",
    "session.started": "phase",
    "round.called": "phase",
    "round.planned": "phase",
    "round.ended": "phase",
    "session.debriefing": "phase",
    "act.judged": "action",
    "act.ended": "action",
    "ask.opened": "question",
    "session.paused": "session_paused",
    "session.ended": "session_ended",
}


def phase_of(event: Event) -> Phase:
    """Return the part of the day an entry belongs to."""
    return PHASES[event.kind]


def sse_type(event: Event) -> str:
    """Return an entry's name in the stream: seed 003's name if it has one, else `entry`."""
    return _SSE.get(event.kind, "entry")


def tags_of(event: Event) -> frozenset[Tag]:
    """Return the replay filters that find an entry."""
    tags: set[Tag] = {tag for tag, kinds in _ALWAYS.items() if event.kind in kinds}
    if _went_wrong(event):
        tags.add("errors")
    if _by_silence(event):
        tags.add("assumptions")
    return frozenset(tags)


def _went_wrong(event: Event) -> bool:
    match event:
        case (
            JobEnded(state="failed" | "nothing_delivered")
            | ActEnded(end="failed")
            | CheckInMade(type="alert")
            | PreflightChecked(state=LineState.BAD)
            | StackMade(verdict=StackVerdict.FAILED)
        ):
            return True
        case ToolFinished(status=status):
            return status != "ok"
        case ConnectionSeen(verdict=verdict):
            return verdict != "allowed"
        case RoundEnded(error=error) | PreflightEnded(error=error):
            return bool(error)
        case JobVerified(proof=proof):
            return proof.verdict in NOT_DELIVERABLE
        case _:
            return False


def _by_silence(event: Event) -> bool:
    """Approval by silence is an assumption, even where the orders allow it."""
    match event:
        case AskExpired(meant=Silence.APPROVED) | JobApproved(by="silence"):
            return True
        case _:
            return False
