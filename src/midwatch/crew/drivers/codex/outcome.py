"""How a run of Codex ended: by what it said, never by its exit code."""

import re
from collections.abc import Mapping
from typing import Any

from midwatch.crew.drivers.codex.reading import CodexRun, status
from midwatch.crew.drivers.line_protocol import (
    LIMITED,
    MONEY_USED_UP,
    NO_REASON,
    OVERLOADED,
    PROVIDER_ERROR,
    REFUSED_CREDENTIAL,
    SHAPELESS,
    STATUSES,
    STOPPED,
    TURNS_USED_UP,
    UNREACHED,
    USAGE_LIMIT,
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
    "usageLimitExceeded": USAGE_LIMIT,
    "rateLimitExceeded": LIMITED,
    "sessionBudgetExceeded": MONEY_USED_UP,
    "serverOverloaded": OVERLOADED,
    "internalServerError": PROVIDER_ERROR,
    "unauthorized": REFUSED_CREDENTIAL,
    "tooManyDenials": (Outcome.FAILED, "It stopped because too many of its calls were refused."),
    "contextWindowExceeded": (Outcome.FAILED, "The conversation grew longer than its model can read."),
}
NETWORK = (
    *("httpConnectionFailed", "responseStreamConnectionFailed"),
    *("responseStreamDisconnected", "responseTooManyFailedAttempts"),
)
WORDS = {
    "stream disconnected": (Outcome.NETWORK, "The provider's answer broke off."),
    "You’ve hit your usage limit": USAGE_LIMIT,  # noqa: RUF001 - its own quotation mark
    "We’re currently experiencing high demand": PROVIDER_ERROR,  # noqa: RUF001
    "Quota exceeded": (Outcome.AUTH, "The account's quota is used up."),
    "Failed to refresh token": (Outcome.AUTH, "The provider did not accept the login."),
}
"""Errors it reports only as text; their kind is `other`."""
_STATUS = re.compile(r"\b(?:status:?|status code:?)\s*([45]\d\d)\b")


def judge(reader: CodexRun, brief: AgentBrief, left: ProgramEnd, *, many_turns: bool = False) -> RunEnded:
    structured = None
    if reader.result is None:
        outcome, why = without_a_result(left, reader.refused)
    elif reader.result.get("status") == "interrupted":
        outcome, why = STOPPED
    else:
        outcome, why = _judged(reader.result)
    if many_turns and outcome is Outcome.CANCELLED:
        outcome, why = TURNS_USED_UP
    if outcome is Outcome.OK and brief.schema is not None:
        structured = shape(reader.said)
        if structured is None:
            outcome, why = SHAPELESS
    limit = reader.limit if outcome is Outcome.LIMIT else None
    return RunEnded(
        outcome=outcome,
        why=why,
        conversation=reader.conversation or brief.conversation,
        structured=structured,
        resets_at=limit.resets_at if limit else None,
    )


def _judged(turn: Mapping[str, Any]) -> Ending:
    error = content(turn, "error")
    if turn.get("status") == "completed" and not error:
        return Outcome.OK, ""
    said = shortened(str(error.get("message") or "").strip(), 300)
    info = error.get("codexErrorInfo")
    for begins, (outcome, why) in WORDS.items():
        if said.startswith(begins):
            return outcome, f"{why} {said}"
    if isinstance(info, str) and info in REASONS:
        outcome, why = REASONS[info]
        return outcome, f"{why} {said}".strip()
    number = status(error) or _spoken_status(said)
    if number in STATUSES:
        outcome, why = STATUSES[number]
        return outcome, f"{why} {said}".strip()
    unreached = isinstance(info, dict) and any(name in info for name in NETWORK)
    if number >= 500 or unreached:
        return Outcome.NETWORK, said or UNREACHED[1]
    return Outcome.FAILED, said or NO_REASON


def _spoken_status(said: str) -> int:
    found = _STATUS.search(said)
    return int(found.group(1)) if found else 0
