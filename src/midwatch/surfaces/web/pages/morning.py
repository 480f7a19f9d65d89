"""The morning's page: the verdict, the review one item at a time, the merge, and what a review changed."""

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from markupsafe import Markup

from midwatch.compose.house import House
from midwatch.errors import Unknown
from midwatch.journal.entry import Entry
from midwatch.morning import build_stack, merge_stack
from midwatch.morning import review as verdicts
from midwatch.morning.verdicts import verdicts_on
from midwatch.rules.morning.tally import tally
from midwatch.surfaces.api.access import Answers, Operates, Person, Reads, TheCaller, TheHouse
from midwatch.surfaces.api.jobs import job_merge, job_unmerge
from midwatch.surfaces.api.morning import take_review
from midwatch.surfaces.queries.names import names_of
from midwatch.surfaces.queries.replay import every_entry
from midwatch.surfaces.queries.stacks import in_words, job_numbers
from midwatch.surfaces.web.site.diffs import diff_html
from midwatch.surfaces.web.site.page import fragment, page
from midwatch.terms import records as rec
from midwatch.views.pages.morning_items import NightRows, PullShown, pull_of
from midwatch.views.pages.morning_page import MorningPage, asked, morning_page, review_of, session_key, sessions_listed
from midwatch.views.pages.stack import StackShown

router = APIRouter(include_in_schema=False)
MOST_INLINE = 60_000
"""A longer diff is sent on request: the page itself stays small."""
KINDS = (
    "act.judged",
    "assumption.settled",
    "ask.expired",
    "job.executed",
    "job.verified",
    "review.submitted",
    "run.scored",
    "session.ended",
)
"""Decisions, and entries that a review wrote."""


@router.get("/morning", dependencies=[Reads])
async def morning(request: Request, house: TheHouse, night: str = "") -> HTMLResponse:
    """Show the newest night that has a report, or the requested one."""
    none = not await house.records.find(rec.ReportRow) or await verdicts.being_written(house.records)
    if not night and none:
        sessions = await house.records.find(rec.SessionRow, ad_hoc=False)
        return page(request, "morning.html", here="Morning", morning=None, under_way=_under_way(sessions))
    shown = await _shown(house, night)
    return page(request, "morning.html", here="Morning", under_way=False, fresh=False, **shown)


def _under_way(sessions: tuple[rec.SessionRow, ...]) -> bool:
    return any(one.started_at and not one.ended_at for one in sessions)


@router.post("/morning/review", dependencies=[Answers])
async def hand_in(request: Request, house: TheHouse, caller: TheCaller) -> HTMLResponse:
    """Submit all verdicts at once and show what they changed."""
    form = await request.form()
    said = {name: value for name, value in form.items() if isinstance(value, str)}
    flags = [value for value in form.getlist("flag") if isinstance(value, str)]
    night = said.get("night", "")
    before, _ = await _page(house, night)
    await take_review(house, review_of(said, flags, before), by=caller, night=night)
    return HTMLResponse(fragment("_morning.html", fresh=True, **await _shown(house, night)))


@router.post("/morning/merge/{name}", dependencies=[Operates])
async def merge(house: TheHouse, person: Person, name: str) -> HTMLResponse:
    """Merge a job's pull request at a person's request, and show how to undo it."""
    job = await house.records.get(rec.JobRow, name)
    return await _pull_shown(house, job, await job_merge(house, person, name))


@router.post("/morning/unmerge/{name}", dependencies=[Operates])
async def unmerge(house: TheHouse, person: Person, name: str) -> HTMLResponse:
    """Take the merge of a job's pull request back."""
    job = await house.records.get(rec.JobRow, name)
    return await _pull_shown(house, job, await job_unmerge(house, person, name))


async def _pull_shown(house: House, job: rec.JobRow, row: rec.PullRequestRow) -> HTMLResponse:
    """Draw the pull request, and with it the newest stack that has it: both say the same."""
    pull, stacks = await pull_and_stacks(house, job, row)
    return HTMLResponse(fragment("_pull_and_stacks.html", pull=pull, stacks=stacks))


async def pull_and_stacks(
    house: House, job: rec.JobRow, row: rec.PullRequestRow
) -> tuple[PullShown, tuple[StackShown, ...]]:
    """Describe a pull request, and the newest stack of its project if it is in that."""
    stacks = await house.records.find(rec.StackRow, project=row.project)
    mine = [one for one in stacks[-1:] if row.id in {step.pull_request for step in one.order}]
    said = await verdicts_on(house.records, [row])
    return pull_of(row, job, stacks, said[row.id]), tuple([await in_words(house, one) for one in mine])


@router.get("/morning/diff/{name}", dependencies=[Reads])
async def diff(house: TheHouse, name: str) -> HTMLResponse:
    """Show what a job changed."""
    job = await house.records.get(rec.JobRow, name)
    if not job.diff_blob:
        raise Unknown(f"Job {job.number} has no diff: {job.why or job.stage.value}.")
    text = (await house.blobs.fetch(job.diff_blob)).decode(errors="replace")
    return HTMLResponse(diff_html(text, command=f"midwatch job diff {job.number}"))


async def _shown(house: House, night: str) -> dict[str, Any]:
    """Collect everything the templates need."""
    shown, nights = await _page(house, night)
    raw = {item.diff_blob: await house.blobs.fetch(item.diff_blob) for item in shown.items if item.diff_blob}
    inline = _first_ones({blob: len(text) for blob, text in raw.items()})
    return {
        "morning": shown,
        "asked": asked(shown.night),
        "nights": nights,
        "diffs": {item.id: _diff(raw[item.diff_blob], item.job) for item in shown.items if item.diff_blob in inline},
        "later": {blob for blob, text in raw.items() if len(text) <= MOST_INLINE} - inline,
    }


def _first_ones(sizes: dict[str, int]) -> set[str]:
    """Choose the diffs a page begins with; the others arrive when their item is shown, or, if long, when asked for."""
    total, found = 0, set[str]()
    for blob, size in sizes.items():
        total += size
        if total <= MOST_INLINE:
            found.add(blob)
    return found


def _diff(raw: bytes, job: int) -> Markup:
    return diff_html(raw.decode(errors="replace"), command=f"midwatch job diff {job}")


async def _page(house: House, night: str) -> tuple[MorningPage, tuple[tuple[str, str], ...]]:
    await house.look_here()
    rows = await night_rows(house, night)
    entries = await _entries(house, rows.session.id)
    names = await names_of(house, entries)
    reported = tuple({one.session for one in await house.records.find(rec.ReportRow)})
    nights = sessions_listed(await house.records.find(rec.SessionRow, id=reported), names)
    return morning_page(rows, entries, names), nights


async def page_of(house: House, night: str) -> MorningPage:
    """Build one night's page."""
    return (await _page(house, night))[0]


async def _entries(house: House, session: str) -> tuple[Entry, ...]:
    """Read what was decided since the night was opened; a review may come days after its end."""
    opened = await house.history.about([session], ("session.opened",))
    return await every_entry(house, kinds=KINDS, after=opened[0].seq if opened else 0)


async def night_rows(house: House, night: str = "") -> NightRows:
    find = house.records.find
    session, report = await verdicts.last_report(house.records, night)
    runs = await find(rec.RunRow, session=session.id)
    mine = tuple(run.id for run in runs)
    jobs, acts = await find(rec.JobRow, session=session.id), await find(rec.ActRow, session=session.id)
    asks, stacks = await find(rec.AskRow, session=session.id), await find(rec.StackRow, session=session.id)
    stacked = await find(rec.PullRequestRow, id=tuple(step.pull_request for row in stacks for step in row.order))
    return NightRows(
        session=session,
        report=report,
        projects=await find(rec.ProjectRow),
        runs=runs,
        jobs=jobs,
        acts=acts,
        tally=tally(session.works(), jobs, acts, asks),
        asks=asks,
        pull_requests=await find(rec.PullRequestRow, run=mine),
        evidence=await find(rec.EvidenceRow, run=mine),
        assumptions=await find(rec.AssumptionRow, run=mine),
        evaluations=await find(rec.EvaluationRow, session=session.id),
        outcomes=await find(rec.OutcomeRow, session=session.id),
        stacks=stacks,
        stacked=stacked,
        numbers=await job_numbers(house, stacks),
        verdicts=await verdicts_on(house.records, stacked),
    )


@router.get("/morning/stack/{name}", dependencies=[Reads])
async def stack(house: TheHouse, name: str) -> HTMLResponse:
    """Show one stack as it is now."""
    return await _stack_shown(house, await house.records.get(rec.StackRow, name))


@router.post("/morning/stack/{name}/merge", dependencies=[Operates])
async def merge_as_one(house: TheHouse, person: Person, name: str) -> HTMLResponse:
    """Merge the verified order as one, or post it on the forge."""
    return await _stack_shown(house, await merge_stack.take(house.morning, name, by=person))


@router.post("/morning/stack/{name}/undo", dependencies=[Operates])
async def undo(house: TheHouse, person: Person, name: str) -> HTMLResponse:
    """Undo a merged stack."""
    return await _stack_shown(house, await merge_stack.undo(house.books, house.forges.local, name, by=person))


@router.post("/morning/stack/{name}/check", dependencies=[Operates])
async def check(house: TheHouse, person: Person, name: str) -> HTMLResponse:
    """Check the branches of the same project again."""
    await house.look_here()
    old = await house.records.get(rec.StackRow, name)
    return await _stack_shown(house, await build_stack.begin_again(house.books, old.project, by=person))


async def _stack_shown(house: House, row: rec.StackRow) -> HTMLResponse:
    """Draw the stack, and with it the pull requests in it that the page shows."""
    night = await house.records.get(rec.SessionRow, row.session)
    shown = await page_of(house, session_key(night))
    mine = {step.number for step in row.order}
    pulls = [item.pull for item in shown.items if item.pull is not None and item.pull.number in mine]
    return HTMLResponse(fragment("_stack_and_pulls.html", stack=await in_words(house, row), pulls=pulls))
