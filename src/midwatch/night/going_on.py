"""Where a job that goes on for another takes up the work."""

from midwatch.terms.jobs import Stage
from midwatch.terms.records import JobRow


def goes_on_at(job: JobRow) -> Stage:
    """Finished work is looked at again, an approved plan carried on with; anything less begins anew."""
    if job.done is not None and job.stage not in {Stage.EXECUTE, Stage.BUNDLE, Stage.QUARANTINE}:
        return Stage.BUNDLE
    return Stage.EXECUTE if job.approved_by and job.plan is not None else Stage.MIRROR
