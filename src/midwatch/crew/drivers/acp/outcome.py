"""How a run of an ACP agent ended: by its last message, never by its exit code.

The protocol has no code for a provider's refusal, so only the provider's text shows it. The model proxy knows
more exactly what was refused, and may correct the outcome.
"""

import re
from collections.abc import Mapping
from typing import Any

from midwatch.crew.drivers.acp.reading import AcpReader
from midwatch.crew.drivers.line_protocol import (
    NO_REASON,
    SHAPELESS,
    STOPPED,
    TURNS_USED_UP,
    Ending,
    shortened,
    without_a_result,
)
from midwatch.crew.drivers.rpc import content
from midwatch.crew.drivers.templates import shape
from midwatch.ports.agent import AgentBrief
from midwatch.ports.room import ProgramEnd
from midwatch.terms.agents import Outcome, RunEnded

REASONS = {
    "end_turn": (Outcome.OK, ""),
    "max_tokens": (Outcome.FAILED, "It reached its model's output limit."),
    "max_turn_requests": TURNS_USED_UP,
    "refusal": (Outcome.FAILED, "It refused to continue."),
    "cancelled": STOPPED,
}
WORDS = {
    Outcome.BUDGET: r"raises the ceiling|payment required|\bbudget\b|\b402\b",
    Outcome.AUTH: r"api[ _-]?key|unauthor|authenticat|credential|credit balance|quota|\b40[13]\b",
    Outcome.LIMIT: r"rate.?limit|usage.?limit|too many requests|\b429\b",
    Outcome.NETWORK: r"overload|connect|network|socket|timed? ?-?out|fetch failed|terminated|aborted|stream"
    r"|server (had an )?error|internal server|bad gateway|unavailable|pars(e|ing)|\b5\d\d\b",
}


def judge(reader: AcpReader, brief: AgentBrief, left: ProgramEnd, reasons: list[str]) -> RunEnded:
    structured = None
    if not reader.results:
        outcome, why = without_a_result(left, reader.refused)
    else:
        outcome, why = _judged(reader.results[-1])
    if outcome is Outcome.OK and reader.unheard:
        outcome = Outcome.FAILED
        why = f"A refused call ended its turn, as it does with this agent. {' '.join(reasons[-1:])}".strip()
    if outcome is Outcome.OK and brief.schema is not None:
        structured = shape(reader.said)
        if structured is None:
            outcome, why = SHAPELESS
    return RunEnded(outcome=outcome, why=why, conversation=reader.conversation, structured=structured)


def _judged(result: Mapping[str, Any]) -> Ending:
    if "error" not in result:
        reason = str(result.get("stopReason") or "")
        return REASONS.get(reason, (Outcome.FAILED, f"It stopped: {reason or 'no reason given'}."))
    error = content(result, "error")
    said = f"{error.get('message') or ''} {_details(error.get('data'))}".strip()
    outcome = next((found for found, words in WORDS.items() if re.search(words, said, re.IGNORECASE)), Outcome.FAILED)
    return outcome, shortened(said, 300) or NO_REASON


def _details(data: object) -> str:
    if isinstance(data, dict):
        return " ".join(str(data[name]) for name in ("details", "message", "status", "statusCode") if name in data)
    return data if isinstance(data, str) else ""
