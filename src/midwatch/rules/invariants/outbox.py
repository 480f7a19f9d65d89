"""What must hold for notices on their way: nothing waits without anybody who wakes it, nothing ends twice."""

from collections.abc import Sequence

from midwatch.journal.entry import Entry
from midwatch.rules.invariants.records_seen import Found, RecordsSeen
from midwatch.terms.asks import Tier
from midwatch.terms.notices import DeliveryState


def notices_are_on_their_way(_: Sequence[Entry], records: RecordsSeen) -> Found:
    """What waits for a channel is woken in time, and what goes elsewhere is in the log first."""
    timers = {timer.subject: timer.due_at for timer in records.timers if timer.kind == "channel"}
    logged = {notice.id for notice in records.notices if notice.sent_by and notice.tier < Tier.LOG}
    for row in records.deliveries:
        woken = timers.get(row.channel)
        if not row.state.over and (woken is None or woken > row.due_at):
            yield f"{row.notice} waits for {row.channel} and nothing will wake it", 0
        if row.notice not in logged:
            yield f"{row.notice} goes to {row.channel} and is not in the log", 0
        if row.state is DeliveryState.SENT and not row.push:
            yield f"{row.notice} was sent to {row.channel} in no message", 0
