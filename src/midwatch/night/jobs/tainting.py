"""Whether a job has read what strangers wrote: then silence approves nothing of it, and it is given nothing more."""

from midwatch.night.context import Night
from midwatch.terms.records import JobRow


def taint_of(job: str) -> str:
    """Name the entry of the first call by which a job read strangers' text."""
    return f"tainted:{job}"


async def tainted(night: Night, job: JobRow) -> bool:
    """Tell whether a job, or one it takes over from, has: what was read then lies in its checkout and conversation."""
    former = {job.id}
    while await night.journal.known(taint_of(job.id)) is None:
        if not job.retry_of or job.retry_of in former:
            return False
        former.add(job.retry_of)
        job = await night.records.get(JobRow, job.retry_of)
    return True
