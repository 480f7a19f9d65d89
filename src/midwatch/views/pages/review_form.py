"""A review as a form sends it: verdicts by recommendation, ratings, flags, answers to assumptions."""

from collections.abc import Mapping, Sequence

from midwatch.errors import Misuse
from midwatch.terms.report import FlagKind, Given, Review, ReviewOutcome
from midwatch.views.pages.morning_page import Assumed, MorningPage

RATINGS = ("usefulness", "trust", "brevity")
GIVEN = frozenset(ReviewOutcome) - {ReviewOutcome.PENDING}
ASSUMED = {"right": "Confirmed", "wrong": "Wrong"}
LONGEST = 4_000


def review_of(form: Mapping[str, str], flags: Sequence[str], page: MorningPage) -> Review:
    """Read a review; raise an error that names what is missing or unknown."""
    ratings = {name: _rating(name, form.get(name, "")) for name in RATINGS}
    outcomes = [one for item in page.items if (one := _given(form, item.id)) is not None]
    unknown = [flag for flag in flags if flag not in set(FlagKind)]
    if unknown:
        raise Misuse("That flag is not known.", hint="Flags are: a wrong fact, unsafe.")
    return Review(
        **ratings, outcomes=tuple(outcomes), flags=tuple(FlagKind(flag) for flag in flags), notes=_notes(form, page)
    )


def _rating(name: str, said: str) -> int:
    if said not in {"1", "2", "3", "4", "5"}:
        raise Misuse(f"The rating for {name} is missing.", hint="Choose one to five for each of the three ratings.")
    return int(said)


def _given(form: Mapping[str, str], item: str) -> Given | None:
    said = form.get(f"outcome:{item}", "")
    if not said:
        return None
    if said not in GIVEN:
        raise Misuse("That verdict is not known.", hint="Accept, amend, reject or later.")
    reason = form.get(f"reason:{item}", "").strip()[:LONGEST]
    wanted = ReviewOutcome(said) in {ReviewOutcome.MODIFIED, ReviewOutcome.REJECTED}
    return Given(recommendation=item, outcome=ReviewOutcome(said), reason=reason if wanted else "")


def _notes(form: Mapping[str, str], page: MorningPage) -> str:
    said = [form.get("notes", "").strip()[:LONGEST]]
    said += [_assumed(one, form.get(f"assumed:{one.id}", "")) for one in page.assumptions]
    return "\n".join(one for one in said if one)


def _assumed(one: Assumed, said: str) -> str:
    return f"{ASSUMED[said]}: {one.statement}" if said in ASSUMED else ""
