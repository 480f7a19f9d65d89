"""What a section of the settings is, and the kinds of values its fields may have."""

from datetime import time
from typing import Annotated
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from midwatch.errors import Misuse
from midwatch.terms.secrets import SecretReference


class SettingsSection(BaseModel):
    """Frozen and strict; the sentence under a field is what `midwatch settings` and the documentation say about it."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, use_attribute_docstrings=True, validate_default=True
    )


class Allowed(str):
    """Describes the values of a text field; numbers and choices describe themselves."""

    __slots__ = ()


class Unspoken:
    """Marks a field whose invalid value is not repeated: it may be the secret itself."""


def clock_time(text: str) -> time:
    """Read a time of day such as 07:00."""
    hour, colon, minute = text.partition(":")
    if not (colon and len(hour) == len(minute) == 2 and hour.isdigit() and minute.isdigit()):
        raise ValueError(text)
    return time(int(hour), int(minute))


def span(text: str) -> tuple[time, time]:
    """Read a span such as 22:00-07:00; an empty text is a span that never applies."""
    if not text:
        return time(0), time(0)
    start, _, end = text.partition("-")
    return clock_time(start), clock_time(end)


def _clock_time(text: str) -> str:
    clock_time(text)
    return text


def _span(text: str) -> str:
    span(text)
    return text


def _time_zone(text: str) -> str:
    if text:
        try:
            ZoneInfo(text)
        except (OSError, LookupError) as problem:
            raise ValueError(text) from problem
    return text


def _database_url(text: str) -> str:
    if text and urlsplit(text).scheme.partition("+")[0] not in {"sqlite", "postgresql"}:
        raise ValueError(text)
    return text


def _reference(text: str) -> str:
    try:
        return str(SecretReference.read(text)) if text.strip() else ""
    except Misuse:
        raise ValueError from None  # the refusal names the setting, and not its value


Hours = Annotated[float, Field(gt=0, le=24 * 60)]
Minutes = Annotated[float, Field(gt=0, le=28 * 24 * 60)]
Seconds = Annotated[float, Field(gt=0, le=24 * 3600)]
Days = Annotated[int, Field(ge=1, le=3650)]
Usd = Annotated[float, Field(ge=0, le=100_000)]
Share = Annotated[float, Field(ge=0, le=1)]
Few = Annotated[int, Field(ge=1, le=100)]
Many = Annotated[int, Field(ge=1, le=1_000_000)]
Tokens = Annotated[int, Field(ge=0, le=10_000_000_000)]
Mebibytes = Annotated[int, Field(ge=0, le=16 * 1024**2)]
Percent = Annotated[int, Field(ge=1, le=100)]
Name = Annotated[str, Field(min_length=1, max_length=200), Allowed("a text of 1 to 200 characters")]
ClockTime = Annotated[str, AfterValidator(_clock_time), Allowed("a time of day such as 07:00")]
TimeSpan = Annotated[str, AfterValidator(_span), Allowed("a span such as 22:00-07:00, or empty")]
Host = Annotated[
    str, Field(min_length=1, max_length=253, pattern=r"^[A-Za-z0-9.:_-]+$"), Allowed("a host name or address")
]
TimeZone = Annotated[str, AfterValidator(_time_zone), Allowed("a time zone such as Europe/Berlin, or empty")]
DatabaseUrl = Annotated[
    str,
    AfterValidator(_database_url),
    Allowed("a sqlite or postgresql URL, or empty; a password only from the environment"),
]
Reference = Annotated[
    str,
    Field(max_length=1000),
    AfterValidator(_reference),
    Unspoken(),
    Allowed("env:NAME, cmd:<a command that prints it>, file:/path (a file only you can read), or empty"),
]
