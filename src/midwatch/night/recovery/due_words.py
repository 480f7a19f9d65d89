"""Says in words what is due, where that fails and people read of it.

Its own module: the timers decide what happens, and this is only read where it does not.
"""

import logging
from typing import Final

from midwatch.ports.journal import Records
from midwatch.terms.records import AskRow, JobRow, SessionRow, TimerRow

log = logging.getLogger("midwatch.duties")
IN_WORDS: Final = {
    "round": "Calling the next round of {session}",
    "ask": "Ending the wait for an answer to {ask}",
    "session_limit": "Ending {session} at its time limit",
    "job": "Resuming {job} at its time",
    "box": "Watching the time of {job}",
    "channel": "Sending waiting notices over {channel}",
    "stack": "Ending the wait for a stack",
    "review": "Ending the review of {session} at its time",
}
"""What is done when each kind of wait is due."""


async def in_words(records: Records, row: TimerRow) -> str:
    """Name what is due as people know it: a job by its number."""
    named = {"session": "the night", "ask": "a question", "job": "a job", "channel": row.subject}
    try:
        if row.kind in {"job", "box"}:
            named["job"] = f"job {(await records.get(JobRow, row.subject)).number}"
        elif row.kind == "ask":
            named["ask"] = f"ask {(await records.get(AskRow, row.subject)).number}"
        elif row.kind in {"round", "session_limit", "review"}:
            named["session"] = f"the {(await records.get(SessionRow, row.subject)).noun}"
    except Exception as error:
        log.warning("what %s is about cannot be read", row.id, exc_info=error)
    return IN_WORDS[row.kind].format(**named)
