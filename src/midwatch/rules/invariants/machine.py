"""What must hold on the machine itself: whoever works has a job, and no secret is written anywhere."""

from collections.abc import Sequence
from dataclasses import dataclass

from midwatch.rules.invariants.records_seen import Violation
from midwatch.terms.records import JobRow


@dataclass(frozen=True, slots=True)
class MachineSeen:
    """What was found running, and what was found written."""

    living: tuple[tuple[str, int], ...] = ()
    """Job and attempt of everything that is held on this machine."""
    leaks: tuple[tuple[str, str], ...] = ()
    """A secret's name, and where its value stands."""


def check_machine(jobs: Sequence[JobRow], seen: MachineSeen) -> tuple[Violation, ...]:
    """Hold the machine against the records; nothing found means that all is well."""
    return (*_recorded(jobs, seen), *_hidden(seen))


def _recorded(jobs: Sequence[JobRow], seen: MachineSeen) -> tuple[Violation, ...]:
    by_id = {job.id: job for job in jobs}
    found = []
    for name, epoch in seen.living:
        job = by_id.get(name)
        if job is None:
            found.append(f"attempt {epoch} of {name} is running, but there is no such job")
        elif job.state.over:
            found.append(f"attempt {epoch} of job {job.number} is running, but the job is {job.state.value}")
    return tuple(Violation(rule="every_process_has_a_job", text=text) for text in found)


def _hidden(seen: MachineSeen) -> tuple[Violation, ...]:
    return tuple(
        Violation(rule="no_secret_is_written", text=f"the value of the secret {name} is in {place}")
        for name, place in seen.leaks
    )
