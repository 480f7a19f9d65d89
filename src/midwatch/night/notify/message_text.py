"""The text of a message to a channel: urgent notices in full, others as a list, the brief in its short form."""

from collections.abc import Sequence

from midwatch.ports.journal import Records
from midwatch.rules.morning.brief import push_form
from midwatch.rules.people.notices import batch_text
from midwatch.settings import Settings
from midwatch.terms.asks import AskState, Delivery, Tier
from midwatch.terms.records import AskRow, DeliveryRow, JobRow, NoticeRow, PastAct, PullRequestRow, ReportRow
from midwatch.views.pages.live.open_asks import asks_shown, message_of
from midwatch.views.text.markdown_safe import unlinked

MOST_LISTED = 30
LONGEST_LISTED = 200


async def compose(records: Records, settings: Settings, rows: Sequence[DeliveryRow], note: str) -> tuple[str, str]:
    result = {one.id: one for one in await records.find(NoticeRow, id=tuple(row.notice for row in rows))}
    reports = await _reports(records, tuple(result.values()))
    asked = await _asked(records, tuple(result.values()))
    ordered = sorted(rows, key=lambda row: (row.tier, row.created_at, row.notice))
    small = [row for row in ordered if result[row.notice].subject not in reports and _listed(row)]
    full = [row for row in ordered if row not in small]
    most = settings.notices.digest_max_characters
    texts = [
        push_form(reports[result[row.notice].subject].brief, most)
        if result[row.notice].subject in reports
        else asked.get(row.notice, result[row.notice].text)
        for row in full
    ]
    listed = [_short(result[row.notice].text) for row in small]
    if listed:
        texts.append(batch_text(listed[:MOST_LISTED]) + _left_out(len(listed)))
    urgent = any(row.tier == Tier.URGENT for row in full)
    # Most of these texts contain words of agents or repositories; only the forge's address becomes a link.
    links = await _links(records, tuple(result.values()))
    said = [unlinked(text, links) for text in texts]
    return ("Midwatch: urgent" if urgent else "Midwatch"), "\n\n".join([*said, *([note] if note else [])])


async def _asked(records: Records, result: Sequence[NoticeRow]) -> dict[str, str]:
    """Return the texts of notices about open asks, with the facts that every surface shows of an ask."""
    of = {one.subject: one for one in result if one.subject}
    rows = await records.find(AskRow, id=tuple(of), state=AskState.OPEN) if of else []
    if not rows:
        return {}
    subjects = tuple({row.subject for row in rows})
    jobs = {one.id: one for one in await records.find(JobRow, id=subjects)}
    acts = {one.id: one for one in await records.find(PastAct, id=subjects)}
    return {of[one.id].id: message_of(one, of[one.id].text) for one in asks_shown(rows, jobs, {}, acts)}


async def _links(records: Records, result: Sequence[NoticeRow]) -> tuple[str, ...]:
    subjects = tuple(one.subject for one in result if one.subject)
    if not subjects:
        return ()
    jobs = tuple(job.id for job in await records.find(JobRow, session=subjects))  # a check-in tells of several
    rows = (
        *await records.find(PullRequestRow, job=(*subjects, *jobs)),
        *await records.find(PullRequestRow, id=subjects),
    )
    return tuple(row.url for row in rows)


async def _reports(records: Records, result: Sequence[NoticeRow]) -> dict[str, ReportRow]:
    subjects = tuple(one.subject for one in result if one.subject)
    return {row.id: row for row in await records.find(ReportRow, id=subjects)} if subjects else {}


def _listed(row: DeliveryRow) -> bool:
    return row.tier >= Tier.SUMMARY or row.delivery is Delivery.DIGEST


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_LISTED else f"{line[: LONGEST_LISTED - 1]}…"


def _left_out(count: int) -> str:
    return f"\nand {count - MOST_LISTED} more; all of them: midwatch watch" if count > MOST_LISTED else ""
