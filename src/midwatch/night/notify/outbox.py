"""The outbox: every notice goes to the log at once, and to each channel when it is due; none is lost."""

import contextlib
from collections.abc import Sequence
from datetime import timedelta
from functools import partial

from midwatch.errors import MidwatchError, Stale
from midwatch.journal.events import Event
from midwatch.journal.events.notices import AskPostponed, NoticeRouted, PushBegun, PushFailed
from midwatch.journal.events.session import NoticeSent
from midwatch.night.context import Outside
from midwatch.night.notify.message_text import compose
from midwatch.ports.books import Books
from midwatch.ports.channel import NoticeLog, Outlet
from midwatch.ports.clock import Clock, Ids
from midwatch.ports.journal import Journal, Records
from midwatch.rules.people.outbox import AttentionUse, Hours, first_place, next_pause, sort_out
from midwatch.settings import Settings, digest_time, quiet_hours
from midwatch.settings.named_tables import ChannelSetup
from midwatch.settings.zone import local_time, moment_of
from midwatch.terms.asks import AskState, Delivery, DeliveryState, PushState, Tier
from midwatch.terms.records import AskRow, DeliveryRow, NoticeRow, PushRow

LATE = timedelta(minutes=1)
"""From this delay on, an ask's deadline moves with its notice; shorter delays are normal sending time."""
LEASE_SECONDS = 300.0
"""Real seconds in which a message must be sent and recorded; after that it is sent again."""
LONGEST_ERROR = 300
BRIEF = "rep_"
"""The id prefix of a brief, as the subject of its notice."""


async def carry_out(books: Books, outside: Outside, *, notice: str = "", push: str = "") -> None:
    """Do the work that follows a raised notice or a started message."""
    if notice:
        await tell(books, outside.channel, notice)
    if push:
        await hand_over(books, outside.outlet, push)


async def tell(books: Books, channel: NoticeLog, notice_id: str) -> None:
    """Write a notice to the log, once, and schedule it on every channel that accepts it."""
    notice = await books.records.get(NoticeRow, notice_id)
    if notice.sent_by:
        return
    await channel.send(notice)
    logged = NoticeSent(notice=notice.id, channel=channel.name)
    events: tuple[Event, ...] = (
        logged,
        *await _routes(books.records, books.clock, books.settings(), notice),
        *await _clock_starts(books.clock, books.records, notice),
    )
    with contextlib.suppress(Stale):  # another worker was as fast, and decided the same
        await books.journal.record(*events, key=f"notice:{notice.id}:sent")


async def _routes(records: Records, clock: Clock, settings: Settings, notice: NoticeRow) -> list[NoticeRouted]:
    taking = {name: one for name, one in settings.channels.by_name().items() if one.takes(notice.tier)}
    local = local_time(settings, clock.now())
    attention = await _attention(records, settings, local.date().isoformat()) if taking else AttentionUse()
    found = []
    for name, setup in taking.items():
        brief = notice.subject.startswith(BRIEF)
        place = first_place(Tier(notice.tier), local, hours_of(settings, setup), attention, brief=brief)
        found.append(NoticeRouted(notice=notice.id, channel=name, delivery=place.delivery, due_at=place.due_at))
    return found


async def _clock_starts(clock: Clock, records: Records, notice: NoticeRow) -> tuple[AskPostponed, ...]:
    """Give an ask its full time from now on, if its notice was late because nothing ran here (SPEC 9)."""
    late = clock.now() - notice.created_at
    asks = await records.find(AskRow, id=notice.subject, state=AskState.OPEN) if late > LATE else ()
    why = "its notice was late"
    return tuple(AskPostponed(ask=ask.id, due_at=ask.due_at + late, why=why) for ask in asks if ask.due_at is not None)


async def dispatch(books: Books, channel: str) -> None:
    """Start a message with everything that is due on a channel, and reschedule what has to wait longer."""
    settings, now = books.settings(), books.clock.now()
    on_the_way = (DeliveryState.WAITING, DeliveryState.SENDING)
    found = await books.records.find(DeliveryRow, channel=channel, state=on_the_way)
    rows = [row for row in found if row.state is DeliveryState.WAITING or row.due_at <= now]
    setup = settings.channels.by_name().get(channel)
    if setup is None:
        await _stays_in_the_log(books.journal, books.clock, rows)
        return
    local = local_time(settings, now)
    day = local.date().isoformat()
    attention = await _attention(books.records, books.settings(), day)
    sorted_out = sort_out(rows, local, hours_of(settings, setup), attention)
    events: list[Event] = [
        NoticeRouted(notice=row.notice, channel=channel, delivery=place.delivery, due_at=place.due_at)
        for row, place in sorted_out.moved
    ]
    key = ""
    if sorted_out.go:
        # Two workers that count the same day at the same moment use the same key: the second tries again.
        key = f"push:{day}:{len(await books.records.find(PushRow, day=day)) + 1}"
        events.append(
            _begun(books.clock, books.ids, channel, day, sorted_out.go, attention if sorted_out.counts else None)
        )
    if events:
        await books.journal.record(*events, key=key)


def _begun(
    clock: Clock, ids: Ids, channel: str, day: str, rows: Sequence[DeliveryRow], attention: AttentionUse | None
) -> PushBegun:
    pace = clock.real_seconds(1.0) or 1.0
    warn = (
        f"This is notice {attention.sent_today + 1} of {attention.budget} today."
        if attention and attention.warns
        else ""
    )
    return PushBegun(
        push=ids.new("psh"),
        channel=channel,
        notices=tuple(row.notice for row in rows),
        day=day,
        counts=attention is not None,
        note=warn and f"{warn} After that only urgent ones are sent before the digest.",
        until=clock.now() + timedelta(seconds=LEASE_SECONDS / pace),
    )


async def _stays_in_the_log(journal: Journal, clock: Clock, rows: Sequence[DeliveryRow]) -> None:
    """Settle the notices of a channel that was removed; they are in the log already."""
    now = clock.now()
    gone = [NoticeRouted(notice=row.notice, channel=row.channel, delivery=Delivery.LOG, due_at=now) for row in rows]
    if gone:
        await journal.record(*gone)


async def hand_over(books: Books, outlet: Outlet, push_id: str) -> None:
    """Send one message and record the result; after a crash between the two, it is sent once more."""
    message = await books.records.get(PushRow, push_id)
    if message.state is not PushState.SENDING:
        return
    names = tuple(f"{notice}.{message.channel}" for notice in message.notices)
    rows = [row for row in await books.records.find(DeliveryRow, id=names) if row.push == message.id]
    if not rows or min(row.due_at for row in rows) <= books.clock.now():
        return  # its lease is over: its notices are sent with another message, which settles this one
    title, text = await compose(books.records, books.settings(), rows, message.note)
    try:
        await outlet.push(message.channel, title, text)
    except MidwatchError as error:
        done: tuple[Event, ...] = (_failed(books.clock, message, rows, error),)
    else:
        done = tuple(NoticeSent(notice=row.notice, channel=row.channel, push=message.id) for row in rows)
    with contextlib.suppress(Stale):  # it took so long that another worker sent it as well
        await books.journal.record(*done, key=f"push:{message.id}:over")


def _failed(clock: Clock, message: PushRow, rows: Sequence[DeliveryRow], error: MidwatchError) -> PushFailed:
    pauses = {row.notice: next_pause(row.attempts + 1) for row in rows}
    again = [pause for pause in pauses.values() if pause is not None]
    return PushFailed(
        push=message.id,
        channel=message.channel,
        error=error.message[:LONGEST_ERROR],
        again_at=clock.now() + min(again, default=timedelta(0)),
        given_up=tuple(notice for notice, pause in pauses.items() if pause is None),
    )


async def _attention(records: Records, settings: Settings, day: str) -> AttentionUse:
    """Count the day's messages over all channels: the budget belongs to the person, not to a channel."""
    notices = settings.notices
    sent = [row for row in await records.find(PushRow, day=day) if row.counts and row.state != PushState.FAILED]
    return AttentionUse(sent_today=len(sent), budget=notices.daily_budget, warn_share=notices.budget_warning_share)


def hours_of(settings: Settings, setup: ChannelSetup) -> Hours:
    """Return the quiet hours that apply to a channel; without quiet hours, an empty span."""
    start, end = quiet_hours(settings) if setup.quiet else (digest_time(settings),) * 2
    return Hours(
        quiet_from=start,
        quiet_until=end,
        digest=digest_time(settings),
        batch=timedelta(minutes=settings.notices.batch_minutes),
        urgent_bypass=settings.notices.urgent_bypass_quiet,
        moment=partial(moment_of, settings),
    )
