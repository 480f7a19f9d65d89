"""The tally of a night in words: the same figures on every surface."""

from midwatch.terms.report import WorkTally


def progress(tally: WorkTally, *, over: bool = False) -> str:
    """Say how many of the ordered works are done, and what the others are at."""
    parts = [f"{tally.done} of {tally.ordered} done"]
    parts += [f"{tally.working} at work"] if tally.working else []
    parts += [f"{tally.waiting} {'waits' if tally.waiting == 1 else 'wait'}"] if tally.waiting else []
    left = "not done" if over else "not done yet"
    parts += [f"{tally.undelivered} {left}"] if tally.undelivered else []
    return ", ".join(parts)
