"""What GitHub's refusals mean, each in one sentence with what to do."""

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

from midwatch.errors import Away, Limited, Locked, MidwatchError, Refused
from midwatch.views.text.plain import clean

RESUME = "then resume the job."
LONGEST_NUMBER = 12


def refusal_anywhere(
    forge: str, status: int, headers: Mapping[str, str], message: str, now: datetime
) -> MidwatchError | None:
    """Return the error any request may meet: a refused token, a limit, a moved repository, a failing host."""
    said = clean(message)
    if status == 401:
        return Locked(
            f"{forge} refused the token: it has expired, was revoked, or is mistyped.",
            hint=f"Make a new one there and put it where [secrets] says the secret of [forges.{forge}] is kept.",
        )
    if limited(status, headers, message):
        return Limited(
            f"{forge} is limiting requests{f': {said}' if said else '.'}",
            hint="It resumes by itself.",
            until=_until(headers, now),
        )
    if status in {301, 302, 307, 308}:
        return Refused(
            f"The repository has moved to another name or owner on {forge}.",
            hint="Add the project by its new address: midwatch project add URL",
        )
    if status >= 500:
        return Away(f"{forge} answered {status}{f': {said}' if said else '.'}", hint="It is tried again.")
    return None


def limited(status: int, headers: Mapping[str, str], message: str) -> bool:
    if status not in {403, 429}:
        return False
    used_up = headers.get("x-ratelimit-remaining") == "0" or "retry-after" in headers
    return status == 429 or used_up or "rate limit" in message.lower()


def _until(headers: Mapping[str, str], now: datetime) -> datetime | None:
    """When the limit ends, by our own clock: GitHub's may differ, so only durations are taken from it."""
    wait = _number(headers.get("retry-after", ""))
    if wait is not None:
        return now + timedelta(seconds=min(wait, 86400))
    reset = _number(headers.get("x-ratelimit-reset", ""))
    if reset is None:
        return None
    try:
        there = int(parsedate_to_datetime(headers.get("date", "")).timestamp())
    except (ValueError, TypeError, OverflowError):
        return None
    return now + timedelta(seconds=min(max(1, reset - there), 86400))


def _number(text: str) -> int | None:
    """Read a header's number; reject `²`, a digit to Python, and numbers of too many digits."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= LONGEST_NUMBER else None


def refusal(forge: str, repository: str, doing: str, answer: Any) -> MidwatchError:
    """Return why one request failed; `doing` completes "{forge} will not ..."."""
    message, said = answer.message, clean(answer.message).rstrip(".")
    if re.search(r"archived", message, re.IGNORECASE):
        return Refused(
            f"{repository} is archived on {forge}, so nothing can be written to it.",
            hint=f"Unarchive it there, {RESUME}",
        )
    if answer.status == 403:
        return Refused(f"The token of {forge} may not {doing}: {said}.", hint=_what_it_lacks(answer.headers))
    if answer.status in {404, 410}:
        return Refused(
            f"{repository} is no longer on {forge}, or the token cannot access it.",
            hint="Check the address, and which repositories the token was made for.",
        )
    if answer.status == 422:
        why = "; ".join(errors_in(answer.body)) or said
        return Refused(f"{forge} will not {doing}: {why}.", hint="Look at the branch there, and resume the job.")
    return Refused(f"{forge} will not {doing}: {said or answer.status}.", hint="Look at the repository there.")


def _what_it_lacks(headers: Mapping[str, str]) -> str:
    if "x-github-sso" in headers:
        return f"Authorise the token for the organisation's single sign-on, {RESUME}"
    if needed := clean(headers.get("x-accepted-github-permissions", "")):
        return f"Give the token {needed}, {RESUME}"
    return (
        "Give the token write access to contents and pull requests of the repository "
        f"(classic tokens: the repo scope), {RESUME}"
    )


def errors_in(body: object) -> list[str]:
    """List what a validation complains about, in GitHub's words if it gives any."""
    errors = body.get("errors", []) if isinstance(body, dict) else []
    return [clean(_one(error)) for error in errors if error] if isinstance(errors, list) else []


def _one(error: object) -> str:
    if not isinstance(error, dict):
        return str(error)
    return str(error.get("message") or f"{error.get('field', 'something')} is {error.get('code', 'invalid')}")


def complains_about(body: object, field: str) -> bool:
    errors = body.get("errors") if isinstance(body, dict) else None
    return isinstance(errors, list) and any(isinstance(error, dict) and error.get("field") == field for error in errors)
