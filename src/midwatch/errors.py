"""Errors, named for who must act next.

MidwatchError
├─ Misuse       M1xx  exit 2, HTTP 400   wrong request or setting      the caller
│  ├─ Unknown   M104  exit 2, HTTP 404   nothing has that name         the caller
│  └─ WrongHost M121  exit 2, HTTP 421   the host is not allowed       the caller
├─ Refused      M2xx  exit 3, HTTP 403   a rule said no                the person, if anyone
│  ├─ Locked    M202  exit 3, HTTP 403   a credential was refused      the person renews it
│  ├─ Withheld  M203  exit 3, HTTP 403   a person has to allow it      the person allows it, or not
│  ├─ Stranger  M201  exit 3, HTTP 401   the caller is not known       the caller signs in
│  └─ Stale     M209  exit 3, HTTP 409   the state has changed since   the caller looks again
│     └─ NoPlace M210 exit 3, HTTP 409   all places for jobs are taken the job waits for one
├─ Exhausted    M3xx  exit 4, HTTP 409   budget, time or space is used the night ends well
│  ├─ NightSpent M303 exit 4, HTTP 409   the night's budget is used    the night ends well
│  ├─ JobSpent  M302  exit 4, HTTP 409   a job's own budget is used    the person grants more, or not
│  ├─ TooLarge  M313  exit 4, HTTP 413   the request is too large      the caller sends less
│  └─ Hasty     M329  exit 4, HTTP 429   too many attempts             the caller waits
├─ Unavailable  M4xx  exit 5, HTTP 503   busy or away                  recovery, or the person waits
│  ├─ Limited   M429  exit 5, HTTP 503   the provider's limit is hit   the clock, until it resets
│  └─ Away      M430  exit 5, HTTP 503   the provider does not answer  recovery, after a pause
├─ Broken       M5xx  exit 5, HTTP 502   outside, permanent            the item is parked
└─ Corrupt      M9xx  exit 6, HTTP 500   our own data is wrong         stop, wake the person
"""

import errno
from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import ClassVar, Self

NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""The error numbers of a full disk, quota or file."""


class MidwatchError(Exception):
    """Something went wrong in Midwatch."""

    code: ClassVar[str] = "M000"
    exit_code: ClassVar[int] = 1
    status: ClassVar[int] = 500

    settings: Mapping[str, str] = MappingProxyType({})
    """The settings that would have allowed it, where there are any: a value, or what is added to a list."""

    program_exit: int | None = None
    """The exit code of the program that failed, where one did."""

    def __init__(self, message: str = "", *, hint: str = "", because: tuple[str, ...] = ()) -> None:
        self.message = message or (type(self).__doc__ or "").strip()
        self.hint = hint
        self.because = because
        super().__init__(self.message)

    def with_exit(self, code: int | None) -> Self:
        """Add the exit code of the program that failed."""
        self.program_exit = code
        return self

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (type(self), self.__dict__)


def _rebuild(kind: type[MidwatchError], state: dict[str, object]) -> MidwatchError:
    """Rebuild a pickled error: workflow engines pickle them, and keyword arguments would be lost."""
    error = kind.__new__(kind)
    error.__dict__.update(state)
    error.args = (state["message"],)
    return error


class Misuse(MidwatchError):
    """The request cannot be carried out as given."""

    code = "M100"
    exit_code = 2
    status = 400


class Unknown(Misuse):
    """Nothing here has that name."""

    code = "M104"
    status = 404


class WrongHost(Misuse):
    """The request names a host that is not allowed."""

    code = "M121"
    status = 421


class Refused(MidwatchError):
    """A rule refused this."""

    code = "M200"
    exit_code = 3
    status = 403


class Stranger(Refused):
    """The caller could not be identified."""

    code = "M201"
    status = 401


class Locked(Refused):
    """A credential was refused."""

    code = "M202"


class Withheld(Refused):
    """Only a person can allow this."""

    code = "M203"


class Stale(Refused):
    """The state has changed since this was decided."""

    code = "M209"
    status = 409


class NoPlace(Stale):
    """As many jobs are at work as may be."""

    code = "M210"


class Unsafe(Refused):
    """The work would do harm: it reveals a secret, or holds files that attack the machine that checks it out."""

    code = "M204"


class Exhausted(MidwatchError):
    """A budget, a time limit or the available space is used up."""

    code = "M300"
    exit_code = 4
    status = 409


class JobSpent(Exhausted):
    """The job's budget is used up."""

    code = "M302"


class NightSpent(Exhausted):
    """The night's budget is used up."""

    code = "M303"


class TooLarge(Exhausted):
    """The request is larger than the limit."""

    code = "M313"
    status = 413


class Hasty(Exhausted):
    """Too many attempts in a short time."""

    code = "M329"
    status = 429


class Unavailable(MidwatchError):
    """Something needed did not answer."""

    code = "M400"
    exit_code = 5
    status = 503


class Limited(Unavailable):
    """The provider's usage limit is reached."""

    code = "M429"

    def __init__(
        self, message: str = "", *, hint: str = "", because: tuple[str, ...] = (), until: datetime | None = None
    ) -> None:
        super().__init__(message, hint=hint, because=because)
        self.until = until
        """When it resets, as the provider says."""


class Away(Unavailable):
    """The provider does not answer, or is overloaded."""

    code = "M430"


class Broken(MidwatchError):
    """An outside tool failed in a way a retry will not fix."""

    code = "M500"
    exit_code = 5
    status = 502


class Corrupt(MidwatchError):
    """The records are inconsistent."""

    code = "M900"
    exit_code = 6


def every_kind(kind: type[MidwatchError] = MidwatchError) -> tuple[type[MidwatchError], ...]:
    """List this class and all below it, in the order they were declared."""
    return (kind, *(one for child in kind.__subclasses__() for one in every_kind(child)))


BY_CODE = {kind.code: kind for kind in reversed(every_kind())}
"""Each code with its class; a class that shares its parent's code does not replace the parent."""


def reported(code: str, exit_code: int, message: str, hint: str = "", because: tuple[str, ...] = ()) -> MidwatchError:
    """Rebuild an error that another process reported; a code this version does not know keeps its exit code."""
    alike = (kind for kind in every_kind()[1:] if kind.exit_code == exit_code)
    kind = BY_CODE.get(code) or next(alike, Broken)
    return kind(message, hint=hint, because=because)
