"""Claude Code's control protocol: what we write to its stdin."""

from collections.abc import Mapping
from typing import Any

from midwatch.crew.drivers.line_protocol import line
from midwatch.terms.agents import Decision

HOOK = "midwatch"
HOLD_SECONDS = 24 * 60 * 60
"""How long a call may wait for a person; a call without an answer in time does not run."""


def begin(prompt: str) -> bytes:
    """Register the hook by which every tool call asks us, and give the prompt."""
    hooks = {"PreToolUse": [{"matcher": None, "hookCallbackIds": [HOOK], "timeout": HOLD_SECONDS}]}
    return _request("midwatch-begin", {"subtype": "initialize", "hooks": hooks}) + more(prompt)


def more(text: str) -> bytes:
    """Send it a user message; another turn starts."""
    message = {"role": "user", "content": [{"type": "text", "text": _plain(text)}]}
    return line({"type": "user", "message": message, "parent_tool_use_id": None, "session_id": ""})


def end(number: int) -> bytes:
    """End it: it would wait for another prompt."""
    return _request(f"midwatch-end-{number}", {"subtype": "end_session", "reason": "finished"})


def hook_answer(question: str, decision: Decision, note: str = "") -> bytes:
    """Answer a call that asked through the hook, with an optional note."""
    verdict = {
        "hookEventName": "PreToolUse",
        "permissionDecision": "allow" if decision.allowed else "deny",
        "permissionDecisionReason": decision.why,
        **({"additionalContext": note} if note else {}),
    }
    return _answer(question, {"hookSpecificOutput": verdict})


def prompt_answer(question: str, decision: Decision, given: Mapping[str, Any]) -> bytes:
    """Answer a call that its own rules asked about again."""
    if decision.allowed:
        return _answer(question, {"behavior": "allow", "updatedInput": dict(given)})
    return _answer(question, {"behavior": "deny", "message": decision.why})


def refusal(question: str, subtype: str) -> bytes:
    """Answer an unknown request; nothing runs because of it."""
    response = {"subtype": "error", "request_id": question, "error": f"Midwatch does not answer {subtype}."}
    return line({"type": "control_response", "response": response})


def _plain(prompt: str) -> str:
    """Keep a prompt from being read as a slash command, which happens even with all of them disabled."""
    return f"Your task:\n{prompt}" if prompt.lstrip().startswith("/") else prompt


def _request(name: str, request: Mapping[str, Any]) -> bytes:
    return line({"type": "control_request", "request_id": name, "request": request})


def _answer(question: str, content: Mapping[str, Any]) -> bytes:
    response = {"subtype": "success", "request_id": question, "response": content}
    return line({"type": "control_response", "response": response})
