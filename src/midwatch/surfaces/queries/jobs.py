"""Reads of jobs, with their logs and diffs, and of the pull requests they opened."""

import asyncio
import time
from pathlib import Path
from typing import Annotated, Final

from pydantic import Field

from midwatch.compose.read_side import ReadSide
from midwatch.errors import Misuse, Unknown
from midwatch.journal.events.signals import MilestoneReached
from midwatch.settings.folder import job_log as log_path
from midwatch.surfaces.queries.agent_streams import keep, stream_at
from midwatch.surfaces.queries.job_lines import lines_of
from midwatch.surfaces.queries.job_stories import prompt_of, story_of
from midwatch.surfaces.queries.logs import read_on
from midwatch.surfaces.queries.names import project_names
from midwatch.surfaces.queries.reads import LONGEST_WAIT, Page, PlainText, ReadTable, fields
from midwatch.terms.records import ConnectionRow, JobRow, PlanRow, PullRequestRow, SignalRow, StepRow
from midwatch.terms.term import Term
from midwatch.views.pages.agent_stream import StreamLine, as_text
from midwatch.views.pages.job_line import JobLine
from midwatch.views.pages.job_story import ErrandDone, turns_in
from midwatch.views.pages.plan_versions import PlanVersion, versions_shown
from midwatch.views.pages.steps import StepShown, steps_shown
from midwatch.views.text.plain import clean, harmless
from midwatch.views.text.proof import ProofLine, proof_lines

READS = ReadTable()
NEXT: Final = "midwatch-next"
"""The header that says where to continue reading a log."""
OVER: Final = "midwatch-over"
"""The header that says whether more can follow."""
LOOK_SECONDS = 0.3
Offset = Annotated[int | None, Field(alias="from", ge=0, le=2**62, description="Raw: whole lines from this byte on.")]
Raw = Annotated[bool, Field(description="Each line as the agent wrote it, in its own protocol.")]
StreamPlace = Annotated[str, Field(max_length=40, description="`next` of the last answer; empty for the beginning.")]
Epoch = Annotated[int, Field(ge=0, le=2**31, description="The epoch of the agent run, as in /errands.")]
Wait = Annotated[float, Field(ge=0, description="Seconds to wait for more, if there is none yet.")]


class JobListed(JobRow):
    """A job with the name of its project."""

    project_name: str


class PullRequestListed(PullRequestRow):
    """A pull request with the number of its job and the name of its project."""

    job_number: int
    project_name: str


class StreamPart(Term):
    """Some lines of an agent's stream, and where the next ones begin."""

    lines: tuple[StreamLine, ...]
    next: str
    over: bool
    """Whether nothing more can follow."""


class JobWhole(JobListed):
    """A job with its line, pull requests, signals, milestones, and its proof in words."""

    turns: int | None
    """The agents' own turns; nothing before the first has ended, or if its program does not show them."""
    pull_requests: tuple[PullRequestRow, ...]
    line: JobLine
    signals: tuple[SignalRow, ...]
    milestones: tuple[str, ...]
    proof_lines: tuple[ProofLine, ...]


@READS.at("/jobs")
async def jobs(house: ReadSide, page: Page) -> list[JobListed]:
    """List the jobs."""
    names = await project_names(house)
    rows = page.of(await house.records.find(JobRow))
    return [JobListed(**fields(row), project_name=names[row.project]) for row in rows]


@READS.at("/jobs/{name}")
async def job(house: ReadSide, name: str) -> JobWhole:
    """Show one job with its pull requests, signals and milestones."""
    await house.look_here()
    row = await house.records.get(JobRow, name)
    signals = sorted(await house.records.find(SignalRow, job=row.id), key=lambda one: one.number)
    return JobWhole(
        **fields(row),
        project_name=(await project_names(house))[row.project],
        pull_requests=await house.records.find(PullRequestRow, job=row.id),
        turns=turns_in(entry.event for entry in await house.history.about([row.id], ("agent.ended",))),
        line=(await lines_of(house, [row]))[row.id],
        signals=tuple(signals),
        milestones=tuple(await _milestones(house, row.id)),
        proof_lines=proof_lines(row.proof) if row.proof else (),
    )


async def _milestones(house: ReadSide, job: str) -> list[str]:
    """Return the milestones of a job, oldest first."""
    entries = await house.history.about([job], ("milestone.reached",))
    events = [one.event for one in entries if isinstance(one.event, MilestoneReached)]
    return [clean(event.text, 300) for event in events if event.job == job]


@READS.at("/jobs/{name}/stream")
async def job_stream(house: ReadSide, name: str, after: StreamPlace = "", wait: Wait = 0) -> StreamPart:
    """Read what the job's agents said, read, edited, ran and asked, with the cost so far, line by line."""
    row = await house.records.get(JobRow, name)
    reader, until = await stream_at(house, row, after), time.monotonic() + min(wait, LONGEST_WAIT)
    while True:
        lines, over = await reader.more()
        if lines or over or time.monotonic() >= until:
            keep(reader, house, row)
            return StreamPart(lines=tuple(lines), next=reader.at, over=over)
        await asyncio.sleep(LOOK_SECONDS)


@READS.at("/jobs/{name}/log")
async def job_log(house: ReadSide, name: str, *, raw: Raw = False, offset: Offset = None, wait: Wait = 0) -> PlainText:
    """Read all of the agent's stream as text, or its raw log; of that, with `from`, only what follows.

    For the raw log the header `midwatch-next` says where to continue.
    """
    row = await house.records.get(JobRow, name)
    if not raw:
        if offset is not None:
            raise Misuse("Only the raw log is read from a byte.", hint="Add raw=true, or follow /stream.")
        return PlainText(await _as_text(house, row))
    if offset is None:
        path = log_path(house.home, row.id)
        size = path.stat().st_size if path.exists() else 0
        return PlainText(await asyncio.to_thread(_read, path), _headers(size, over=row.state.over))
    upto, text, over = await _more(house, row.id, offset, min(wait, LONGEST_WAIT))
    return PlainText(harmless(text), _headers(upto, over=over))


async def _as_text(house: ReadSide, row: JobRow) -> str:
    reader, before, parts = await stream_at(house, row, ""), "", list[str]()
    while reader.at != before:
        before = reader.at
        lines, _ = await reader.more()
        parts += [as_text(line) for line in lines]
    return "".join(parts)


def _headers(upto: int, *, over: bool) -> dict[str, str]:
    return {NEXT: str(upto), OVER: "yes" if over else "no"}


def _read(path: Path) -> str:
    """A log is shown in a browser or a terminal, so it is made harmless; the file itself has every byte."""
    return harmless(path.read_text(errors="replace")) if path.exists() else ""


async def _more(house: ReadSide, job: str, place: int, patience: float) -> tuple[int, str, bool]:
    """Continue reading, and wait a while for more; over means that all of it was read."""
    path, until = log_path(house.home, job), time.monotonic() + patience
    while True:
        over = (await house.records.get(JobRow, job)).state.over  # asked first: an ended job's log is complete
        upto, text = await asyncio.to_thread(read_on, path, place, ended=over)
        if upto != place or over or time.monotonic() >= until:
            return upto, text, over and upto == place
        await asyncio.sleep(LOOK_SECONDS)


@READS.at("/jobs/{name}/diff")
async def job_diff(house: ReadSide, name: str) -> PlainText:
    """Read what the job changed."""
    row = await house.records.get(JobRow, name)
    if not row.diff_blob:
        raise Unknown(f"Job {row.number} has no diff: {row.why or row.stage.value}.")
    return PlainText((await house.blobs.fetch(row.diff_blob)).decode(errors="replace"))


@READS.at("/jobs/{name}/steps")
async def job_steps(house: ReadSide, name: str) -> list[StepShown]:
    """List each attempt at each stage of the job, in the order they began."""
    row = await house.records.get(JobRow, name)
    return list(steps_shown(await house.records.find(StepRow, job=row.id), house.clock.now()))


@READS.at("/jobs/{name}/plans")
async def job_plans(house: ReadSide, name: str) -> list[PlanVersion]:
    """List every version of the job's plan, with its outcome and what changed."""
    row = await house.records.get(JobRow, name)
    return list(versions_shown(await house.records.find(PlanRow, job=row.id)))


@READS.at("/jobs/{name}/errands")
async def job_errands(house: ReadSide, name: str) -> list[ErrandDone]:
    """List what the job's agents did: each agent run with its cost, every tool call with its verdict, how it ended."""
    return list(await story_of(house, await house.records.get(JobRow, name)))


@READS.at("/jobs/{name}/prompts/{epoch}")
async def job_prompt(house: ReadSide, name: str, epoch: Epoch) -> PlainText:
    """Read the full prompt of one agent run."""
    return PlainText(await prompt_of(house, await house.records.get(JobRow, name), epoch))


@READS.at("/jobs/{name}/connections")
async def job_connections(house: ReadSide, page: Page, name: str) -> list[ConnectionRow]:
    """List what the job reached or tried to reach, oldest first."""
    row = await house.records.get(JobRow, name)
    found = sorted(await house.records.find(ConnectionRow, job=row.id), key=_seq)
    return page.by(found, _seq)


def _seq(row: ConnectionRow) -> int:
    return int(row.id)


@READS.at("/pull_requests")
async def pull_requests(house: ReadSide, page: Page) -> list[PullRequestListed]:
    """List the pull requests."""
    await house.look_here()
    names = await project_names(house)
    rows = page.of(await house.records.find(PullRequestRow))
    numbers = {job.id: job.number for job in await house.records.find(JobRow, id=tuple(row.job for row in rows))}
    return [
        PullRequestListed(**fields(row), job_number=numbers[row.job], project_name=names[row.project]) for row in rows
    ]
