"""Every error in one shape."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from midwatch.errors import NO_ROOM, Broken, Exhausted, MidwatchError, Misuse, Unavailable


class Trouble(BaseModel):
    """What went wrong, what to do about it, and the exit code for a script."""

    code: str
    message: str
    hint: str
    because: list[str]
    exit_code: int


class Problem(BaseModel):
    """Every error of this API."""

    error: Trouble


RESPONSES: dict[int | str, dict[str, Any]] = {
    "4XX": {"model": Problem, "description": "It cannot be done as asked; the hint says what to do."},
    "5XX": {"model": Problem, "description": "An internal or external failure; the hint says what to do."},
}


def problem(error: MidwatchError) -> dict[str, Any]:
    """Return the one error shape."""
    return {
        "error": {
            "code": error.code,
            "message": error.message,
            "hint": error.hint,
            "because": list(error.because),
            "exit_code": error.exit_code,
        }
    }


def unforeseen(error: Exception) -> MidwatchError:
    """Describe an unexpected error in plain words; the log has the rest."""
    said = str(getattr(error, "orig", None) or error)
    if "disk is full" in said or getattr(error, "errno", None) in NO_ROOM:
        return Exhausted("The disk is full; nothing was written.", hint="Free some space and do it again.")
    if "locked" in said:
        return Unavailable("The database is busy; nothing was written.", hint="Try again in a moment.")
    return Broken(f"Unexpected error: {type(error).__name__}: {said}.", hint="The server's log has the rest.")


def malformed(errors: Sequence[Mapping[str, Any]]) -> Misuse:
    """Describe the first thing in a request that has the wrong form."""
    first = errors[0]
    field = ".".join(str(part) for part in first["loc"]) or "the request"
    expected = first.get("ctx", {}).get("expected", "")
    if expected:
        return Misuse(f"{field} cannot be {first['input']!r}.", hint=f"It may be {expected}.")
    return Misuse(f"{field}: {first['msg']}.", hint="The shapes are at /openapi.json.")
