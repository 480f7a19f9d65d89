"""Fetches what a job's agents did and what they were told, for the API and the pages alike."""

from midwatch.compose import House
from midwatch.errors import Unknown
from midwatch.surfaces.web.site.safe import marked
from midwatch.terms.records import ActRow, JobRow
from midwatch.views.pages.job_story import STORY, ErrandDone, errands_of


async def story_of(house: House, job: JobRow) -> tuple[ErrandDone, ...]:
    """Tell a job's errands, the first one first; a job no model drives has none."""
    acts = await house.records.find(ActRow, id=job.act) if job.act else ()
    after = acts[0].judged_seq if acts else 0
    return errands_of(await house.history.about([job.id], STORY, after=after), job.id)


async def prompt_of(house: House, job: JobRow, epoch: int) -> str:
    """Read what an agent was told, word for word as it was kept; hidden characters are made visible."""
    blobs = [one.prompt_blob for one in await story_of(house, job) if one.epoch == epoch and one.prompt_blob]
    if not blobs:
        raise Unknown(f"Job {job.number} has no agent that began as {epoch}.", hint=f"midwatch job show {job.number}")
    return await prompt_text(house, blobs[0])


async def prompt_text(house: House, blob: str) -> str:
    """Read a kept prompt by its name; one that is gone must not take the rest of the story with it."""
    try:
        return marked((await house.blobs.fetch(blob)).decode(errors="replace"))
    except Unknown as gone:
        return f"These words are not kept any more. {gone.hint}"
