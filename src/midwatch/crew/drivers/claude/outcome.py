"""How a run of Claude Code ended: by what it said, never by its exit code or the result's subtype."""

from collections.abc import Mapping
from typing import Any

from midwatch.crew.drivers.claude.reading import ClaudeReader
from midwatch.crew.drivers.line_protocol import (
    MONEY_USED_UP,
    OVERLOADED,
    PROVIDER_ERROR,
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
from midwatch.ports.agent import AgentBrief
from midwatch.ports.room import ProgramEnd
from midwatch.terms.agents import Outcome, RunEnded

PROVIDER = {**STATUSES, 500: PROVIDER_ERROR, 529: OVERLOADED}
REASONS = {"max_turns": TURNS_USED_UP, "budget_exhausted": MONEY_USED_UP}


def judge(reader: ClaudeReader, brief: AgentBrief, left: ProgramEnd) -> RunEnded:
    result = reader.result
    if result is None:
        outcome, why = without_a_result(left)
        return RunEnded(outcome=outcome, why=why, conversation=reader.conversation)
    outcome, why = _judged(result, reader, brief)
    if left.stopped and outcome is not Outcome.OK:
        outcome, why = STOPPED
    shape = result.get("structured_output")
    limit = reader.limit if outcome is Outcome.LIMIT else None
    return RunEnded(
        outcome=outcome,
        why=why,
        conversation=reader.conversation,
        structured=shape if isinstance(shape, dict) else None,
        resets_at=limit.resets_at if limit else None,
    )


def _judged(result: Mapping[str, Any], reader: ClaudeReader, brief: AgentBrief) -> Ending:
    reason = str(result.get("terminal_reason") or "")
    said = _said(result)
    if reason in REASONS:
        return REASONS[reason]
    if reason == "api_error" or result.get("api_error_status"):
        return _provider(result, reader, said)
    if result.get("is_error") or reason not in ("", "completed"):
        return Outcome.FAILED, said or f"It stopped: {reason or 'no reason given'}."
    if result.get("num_turns") == 0:
        return Outcome.FAILED, "It ended before its first turn."
    if brief.schema is not None and not isinstance(result.get("structured_output"), dict):
        return SHAPELESS
    return Outcome.OK, ""


def _said(result: Mapping[str, Any]) -> str:
    errors = result.get("errors")
    listed = "; ".join(str(error) for error in errors) if isinstance(errors, list) else ""
    return shortened(str(result.get("result") or listed).strip(), 300)


def _provider(result: Mapping[str, Any], reader: ClaudeReader, said: str) -> Ending:
    """Describe the provider's error; without a status, it was unreachable or its answer unreadable."""
    status = result.get("api_error_status")
    if result.get("api_error") == "usage_limit_reached" or (status == 429 and reader.limit):
        return Outcome.LIMIT, said or USAGE_LIMIT[1]
    if said == "Credit balance is too low":
        return Outcome.AUTH, "The provider says that the credit balance is too low."
    if not isinstance(status, int):
        return Outcome.NETWORK, said or UNREACHED[1]
    if status in PROVIDER:
        outcome, why = PROVIDER[status]
    else:
        outcome = Outcome.NETWORK if status >= 500 else Outcome.FAILED
        why = f"The provider answered with status {status}."
    return outcome, f"{why} {said}".strip()
