"""The base of every event: past tense, frozen, tagged by `kind`. The meaning of a kind never changes."""

from midwatch.terms.term import Term


class Happening(Term):
    """Something that happened."""

    kind: str


class JobHappening(Happening):
    """Something that one attempt at a job recorded."""

    job: str
    epoch: int
