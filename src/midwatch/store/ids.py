"""Names for new things: a prefix and a ULID, sortable by time.

Its own module: only `compose` imports an implementation of a port.
"""

import secrets

from midwatch.ports.clock import Clock
from midwatch.store.schema.columns import to_micros

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"  # Crockford's: no letter that looks like a digit


class Ulids:
    """Makes ids such as `job_01JCXM...`; two made in the same millisecond still sort in order of creation."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._last = 0

    def new(self, prefix: str) -> str:
        milliseconds = to_micros(self._clock.now()) // 1000
        value = (milliseconds << 80) | secrets.randbits(80)
        self._last = value if value > self._last else self._last + 1
        return f"{prefix}_{_letters(self._last)}"


def _letters(value: int) -> str:
    return "".join(ALPHABET[(value >> shift) & 31] for shift in range(125, -5, -5))
