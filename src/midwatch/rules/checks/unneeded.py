"""Whether an ordered change that left no commits was not needed (RULES 10): shown by the agent, confirmed here."""

from collections.abc import Sequence

from midwatch.rules.gate.levels import HOUSEKEEPER
from midwatch.terms.english import reason
from midwatch.terms.jobs import CheckResult, CheckSource, Dropped, Survey
from midwatch.terms.money import some
from midwatch.terms.trust import Reason


def shown_unneeded(agent: str, survey: Survey | None, dropped: Sequence[Dropped] = ()) -> Reason | None:
    """Confirm it if every file was read by rules, not by a model, and nothing that can be fixed is left.

    A model that says so shows nothing: its word is what would have to be checked.
    """
    if agent != HOUSEKEEPER or survey is None or dropped:
        return None
    if not survey.files or survey.fixable:
        return None
    return reason("done.unneeded", files=some(survey.files, "file"))


def already_true(results: Sequence[CheckResult]) -> Reason | None:
    """Confirm it by what ran on the base: the orders' own condition holds there, and so does every check."""
    conditions = [one.command for one in results if one.source is CheckSource.DONE_WHEN]
    if not conditions or not all(one.green for one in results):
        return None
    return reason("done.already", commands=_quoted(conditions))


def not_yet(results: Sequence[CheckResult]) -> str:
    """Say what keeps work without commits from being done: the conditions that do not hold, or else the checks."""
    open_conditions = [one for one in results if one.source is CheckSource.DONE_WHEN and not one.green]
    red = [one.command for one in (open_conditions or [one for one in results if not one.green])]
    what = "What shows that it is done does not pass" if open_conditions else "The checks do not pass"
    return f"{what} without a change: {_quoted(red)}." if red else ""


def _quoted(commands: Sequence[str]) -> str:
    return ", ".join(f"`{one}`" for one in commands)
