"""Reads what a job's agents did and their prompts, for the API and the pages."""

from midwatch.compose.read_side import ReadSide
from midwatch.errors import Unknown
from midwatch.terms.records import ActRow, JobRow
from midwatch.views.pages.job_story import STORY, ErrandDone, errands_of
from midwatch.views.text.plain import marked


async def story_of(house: ReadSide, job: JobRow) -> tuple[ErrandDone, ...]:
    """Return a job's agent runs, the first one first; a job without a model has none."""
    acts = await house.records.find(ActRow, id=job.act) if job.act else ()
    after = acts[0].judged_seq if acts else 0
    return errands_of(await house.history.about([job.id], STORY, after=after), job.id)


async def prompt_of(house: ReadSide, job: JobRow, epoch: int) -> str:
    """Read an agent's full prompt as stored; hidden characters are made visible."""
    blobs = [one.prompt_blob for one in await story_of(house, job) if one.epoch == epoch and one.prompt_blob]
    if not blobs:
        raise Unknown(f"Job {job.number} has no agent that began as {epoch}.", hint=f"midwatch job show {job.number}")
    return await prompt_text(house, blobs[0])


async def prompt_text(house: ReadSide, blob: str) -> str:
    """Read a stored prompt by its name; a missing one must not break the rest of the story."""
    try:
        return marked((await house.blobs.fetch(blob)).decode(errors="replace"))
    except Unknown as gone:
        return f"This prompt is no longer stored. {gone.hint}"
