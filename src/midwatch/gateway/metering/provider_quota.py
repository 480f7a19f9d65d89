"""What providers report about their limits, read from the headers of their answers."""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Final

from midwatch.gateway.metering.calls import ProviderQuota

_UNIFIED: Final = "anthropic-ratelimit-unified-"
_WINDOW: Final = re.compile(_UNIFIED + r"([a-z0-9_]{1,20})-(?:utilization|status|reset)", re.ASCII)
_ANTHROPIC: Final = re.compile(r"anthropic-ratelimit-((?!unified)[a-z-]{1,30})-(?:limit|remaining|reset)", re.ASCII)
_OPENAI: Final = re.compile(r"x-ratelimit-(?:limit|remaining|reset)-([a-z-]{1,30})", re.ASCII)
_SPAN: Final = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)(ms|s|m|h|d)", re.ASCII)
_NUMBER: Final = re.compile(r"[0-9]{1,15}(?:\.[0-9]{1,9})?", re.ASCII)
_SECONDS: Final = {"ms": 0.001, "s": 1, "m": 60, "h": 3_600, "d": 86_400}
_LONGEST: Final = timedelta(days=400)
_EPOCH: Final = 1_000_000_000
"""Larger numbers are moments, smaller ones are seconds from now."""


def readings(provider: str, fields: Mapping[str, str], status: int, now: datetime) -> list[ProviderQuota]:
    """Read every limit in the fields of an answer; unreadable fields are ignored."""
    found = [*_windows(provider, fields, now), *_counts(provider, fields, now)]
    if status == 429 and not any(one.rejected for one in found):
        wait = fields.get("retry-after", "")
        found.append(ProviderQuota(provider, "retry-after", resets_at=moment(wait, now), rejected=True))
    return found


def moment(text: str, now: datetime) -> datetime | None:
    """Parse when something resets: a time, a date, or a span from now; None when it is not sensible."""
    text = text.strip()
    try:
        if _NUMBER.fullmatch(text):
            number = float(text)
            found = datetime.fromtimestamp(number, UTC) if number > _EPOCH else now + timedelta(seconds=number)
        elif (span := _span(text)) is not None:
            found = now + span
        elif "T" in text[8:12]:
            found = datetime.fromisoformat(text)
        else:
            found = parsedate_to_datetime(text)
        found = found.replace(tzinfo=found.tzinfo or UTC).astimezone(UTC)
    except (ValueError, TypeError, OverflowError, OSError):
        return None
    return found if now - _LONGEST < found < now + _LONGEST else None


def _windows(provider: str, fields: Mapping[str, str], now: datetime) -> Iterator[ProviderQuota]:
    """Read the windows of a subscription: the share used, without the whole amount."""
    names = dict.fromkeys(match[1] for name in fields if (match := _WINDOW.fullmatch(name)))
    for name in names:
        used = _number(fields.get(f"{_UNIFIED}{name}-utilization"))
        yield ProviderQuota(
            provider,
            name,
            remaining=None if used is None else min(1.0, max(0.0, 1.0 - used)),
            resets_at=moment(fields.get(f"{_UNIFIED}{name}-reset", ""), now),
            rejected=fields.get(f"{_UNIFIED}{name}-status") == "rejected",
        )
    if not names and f"{_UNIFIED}status" in fields:
        yield ProviderQuota(
            provider,
            fields.get(f"{_UNIFIED}representative-claim", "unified")[:40],
            resets_at=moment(fields.get(f"{_UNIFIED}reset", ""), now),
            rejected=fields[f"{_UNIFIED}status"] == "rejected",
        )


def _counts(provider: str, fields: Mapping[str, str], now: datetime) -> Iterator[ProviderQuota]:
    for expression, pattern in ((_ANTHROPIC, "anthropic-ratelimit-{0}-{1}"), (_OPENAI, "x-ratelimit-{1}-{0}")):
        for name in dict.fromkeys(match[1] for field in fields if (match := expression.fullmatch(field))):
            most = _number(fields.get(pattern.format(name, "limit")))
            left = _number(fields.get(pattern.format(name, "remaining")))
            yield ProviderQuota(
                provider,
                name,
                remaining=min(1.0, left / most) if left is not None and most else None,
                most=None if most is None else int(most),
                resets_at=moment(fields.get(pattern.format(name, "reset"), ""), now),
            )


def _span(text: str) -> timedelta | None:
    parts = _SPAN.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        return None
    return timedelta(seconds=sum(float(number) * _SECONDS[unit] for number, unit in parts))


def _number(text: str | None) -> float | None:
    return float(text) if text is not None and _NUMBER.fullmatch(text.strip()) else None
