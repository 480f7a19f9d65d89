"""Whether an ordered change that left no commits was not needed (RULES 10): shown by the agent, confirmed here."""

from collections.abc import Sequence

from midwatch.rules.gate.levels import HOUSEKEEPER
from midwatch.terms.english import reason
from midwatch.terms.jobs import Dropped, Survey
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
