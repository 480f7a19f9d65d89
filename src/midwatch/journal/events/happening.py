"""What every event has in common. Past tense, frozen, tagged by `kind`; once written its meaning never changes."""

from midwatch.terms.term import Term


class Happening(Term):
    """Something that happened, said in the past tense."""

    kind: str
