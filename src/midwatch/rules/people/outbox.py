"""When waiting notices are sent to a channel, and when Midwatch stops trying (SPEC 9)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import Final

from midwatch.rules.people.notices import (
    BATCH_EVERY,
    DAILY_BUDGET,
    QUIET_FROM,
    QUIET_UNTIL,
    WARN_SHARE,
    is_quiet,
    quiet_ends_at,
    route,
)
from midwatch.terms.asks import Delivery, Tier
from midwatch.terms.records import DeliveryRow

RESEND_WAITS: Final = tuple(timedelta(minutes=minutes) for minutes in (1, 4, 16, 64, 256))
"""Waits between tries at a channel that did not accept a message; after the last one no more are made."""
A_MOMENT: Final = timedelta(minutes=1)


def plain_zone(local: datetime) -> datetime:
    """Return a wall time unchanged; its zone already handles changes of the clock."""
    return local


@dataclass(frozen=True, slots=True)
class Hours:
    """When a person wants which notices, by their own clock."""

    quiet_from: time = QUIET_FROM
    quiet_until: time = QUIET_UNTIL
    digest: time = QUIET_UNTIL
    batch: timedelta = BATCH_EVERY
    urgent_bypass: bool = True
    moment: Callable[[datetime], datetime] = plain_zone
    """Converts a wall time of the person to a moment."""

    def quiet(self, local: datetime) -> bool:
        return is_quiet(local, start=self.quiet_from, end=self.quiet_until)

    def quiet_over(self, local: datetime) -> datetime:
        """When they next end; never in the past, even when the clocks change that night."""
        return _after(local, self.moment(quiet_ends_at(local, end=self.quiet_until)))

    def next_digest(self, local: datetime) -> datetime:
        return _after(local, self.moment(quiet_ends_at(local, end=self.digest)))


def _after(local: datetime, moment: datetime) -> datetime:
    return max(moment.astimezone(UTC), local.astimezone(UTC) + A_MOMENT)


@dataclass(frozen=True, slots=True)
class AttentionUse:
    """How much of the day's attention is used."""

    sent_today: int = 0
    budget: int = DAILY_BUDGET
    warn_share: float = WARN_SHARE

    @property
    def empty(self) -> bool:
        """Whether only urgent notices are still sent today."""
        return self.sent_today >= self.budget

    @property
    def warns(self) -> bool:
        """Whether the next message is the one that says so."""
        return self.sent_today < self.warn_share * self.budget <= self.sent_today + 1


@dataclass(frozen=True, slots=True)
class ChannelSlot:
    """How a notice goes to a channel, and when."""

    delivery: Delivery
    due_at: datetime


def first_place(
    tier: Tier, local: datetime, hours: Hours, attention: AttentionUse, *, brief: bool = False
) -> ChannelSlot:
    """When a new notice goes to a channel; `hours` without quiet hours are those of a channel that keeps none."""
    quiet = hours.quiet(local)
    now = local.astimezone(UTC)
    if brief:  # outside tiers and budget
        return ChannelSlot(Delivery.DIGEST, hours.next_digest(local) if quiet else now)
    loud = tier is Tier.URGENT and (hours.urgent_bypass or not quiet)
    heard_as = Tier.ACTION if tier is Tier.URGENT and not loud else tier
    delivery = route(heard_as, quiet=quiet, sent_today=attention.sent_today, budget=attention.budget)
    if delivery is Delivery.BATCH:
        later = local.astimezone(UTC) + hours.batch
        there = later.astimezone(local.tzinfo)
        return ChannelSlot(delivery, hours.quiet_over(there) if hours.quiet(there) else later)
    due = {Delivery.AFTER_QUIET: hours.quiet_over, Delivery.DIGEST: hours.next_digest}
    return ChannelSlot(delivery, due[delivery](local) if delivery in due else now)


@dataclass(frozen=True, slots=True)
class Sorted:
    """What is sent in one message now, and what has to wait longer than planned."""

    go: tuple[DeliveryRow, ...] = ()
    moved: tuple[tuple[DeliveryRow, ChannelSlot], ...] = ()
    counts: bool = False
    """Whether the message is one of the day's budget; one with the digest in it is not."""


def sort_out(rows: Sequence[DeliveryRow], local: datetime, hours: Hours, attention: AttentionUse) -> Sorted:
    """Look at all that waits for a channel: what is due goes in one message, with what waits for company."""
    now, quiet = local.astimezone(UTC), hours.quiet(local)
    due = [row for row in rows if row.due_at <= now]
    free = [row for row in due if row.delivery is Delivery.DIGEST or _loud(row, hours, quiet=quiet)]
    ordinary = [row for row in due if row not in free]
    if quiet and ordinary:
        place = ChannelSlot(Delivery.AFTER_QUIET, hours.quiet_over(local))
    else:
        place = ChannelSlot(Delivery.DIGEST, hours.next_digest(local))
    held = bool(ordinary) and (quiet or (attention.empty and not free))
    go = [*free, *([] if held else ordinary)]
    if go:
        go += [row for row in rows if row not in due and _rides(row)]
    moved = tuple((row, place) for row in ordinary) if held else ()
    digest = any(row.delivery is Delivery.DIGEST for row in free)
    return Sorted(tuple(go), moved, counts=bool(go) and not digest)


def _loud(row: DeliveryRow, hours: Hours, *, quiet: bool) -> bool:
    return row.tier == Tier.URGENT and (hours.urgent_bypass or not quiet)


def _rides(row: DeliveryRow) -> bool:
    """A batch is sent along with something more urgent; what failed before has waited long enough."""
    return row.delivery is Delivery.BATCH or (row.attempts > 0 and row.delivery is not Delivery.AFTER_QUIET)


def next_pause(attempts: int) -> timedelta | None:
    """Give how long to wait after so many failed tries; nothing after the last."""
    return RESEND_WAITS[attempts - 1] if attempts <= len(RESEND_WAITS) else None
