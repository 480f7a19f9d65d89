"""An entry as one message of the event stream: seed 003's types, with the words people read."""

from collections.abc import Mapping

from pydantic import JsonValue

from midwatch.journal.entry import Entry
from midwatch.journal.events import Event
from midwatch.journal.events.session import ActEnded, ActJudged, AskOpened, CouncilSpoke
from midwatch.views.entries.describe import describe
from midwatch.views.entries.tags import phase_of, sse_type
from midwatch.views.text.names import Names
from midwatch.views.text.plain import clean

PING: dict[str, JsonValue] = {"type": "ping"}
LONGEST = 2000
"""A council voice or a question may be longer than a line in the log."""
REFERENCES = ("act", "ask", "job", "run", "pull_request")
"""Fields by which an event names the session's thing it is about."""


def connected(seq: int) -> dict[str, JsonValue]:
    """Open a reader's stream and say after which entry it begins."""
    return {"type": "connected", "seq": seq}


def session_of(event: Event, sessions: Mapping[str, str]) -> str:
    """Return the session an event belongs to, by itself or by the thing it is about; empty if none."""
    own: str = getattr(event, "session", "")
    things = (getattr(event, name, "") for name in REFERENCES)
    return own or next((sessions[thing] for thing in things if thing in sessions), "")


def streamed(entry: Entry, names: Names) -> dict[str, JsonValue]:
    """Encode an entry as one message of the stream."""
    event = entry.event
    message: dict[str, JsonValue] = {
        "type": sse_type(event),
        "seq": entry.seq,
        "at": entry.at.isoformat(),
        "kind": event.kind,
        "phase": phase_of(event),
        "actor": clean(entry.actor, 60),
        "because": list(entry.because),
        "text": describe(event, names),
        "session": session_of(event, names.sessions),
    }
    return message | _more(event, names)


def _more(event: Event, names: Names) -> dict[str, JsonValue]:
    """Return the fields that only some types have."""
    match event:
        case CouncilSpoke(opinions=opinions, decision=decision):
            said: list[JsonValue] = [
                {"voice": clean(one.voice, 60), "stance": one.stance, "words": clean(one.words, LONGEST)}
                for one in opinions
            ]
            return {"opinions": said, "decision": clean(decision, LONGEST)}
        case AskOpened(ask=ask, draft=draft, due_at=due_at):
            due = due_at.isoformat() if due_at else None
            return {"ask": ask, "question": clean(draft.question, LONGEST), "due_at": due}
        case ActJudged(act=act, verdict=verdict):
            return {
                "act": act,
                "action": names.of(act, "an act"),
                "outcome": verdict.outcome.value,
                "actionResults": [],
            }
        case ActEnded():
            return _ended(event, names)
        case _:
            return {}


def _ended(event: ActEnded, names: Names) -> dict[str, JsonValue]:
    action = names.of(event.act, "an act")
    result: JsonValue = {
        "action": action,
        "success": event.end in {"done", "said"},
        "end": event.end,
        "message": clean(event.text, LONGEST),
    }
    return {"act": event.act, "action": action, "actionResults": [result]}
