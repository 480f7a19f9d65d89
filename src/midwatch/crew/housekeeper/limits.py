"""The run contract's limits: how many files and lines one job may change, and what waits for another night."""

from dataclasses import dataclass, field

from midwatch.crew.housekeeper.git import lines_between
from midwatch.terms.figures import some

Place = tuple[str, str]
"""A kind of work and a file it was left out of."""


@dataclass(frozen=True)
class ChangeLimits:
    """The most that one job may change; zero is no limit."""

    files: int = 0
    lines: int = 0

    @property
    def are_set(self) -> bool:
        return bool(self.files or self.lines)

    def exceeded(self, files: int, lines: int) -> tuple[str, ...]:
        """Return the limits that so many files and lines would break, as text for a person."""
        broken = []
        if self.files and files > self.files:
            broken.append(some(self.files, "file"))
        if self.lines and lines > self.lines:
            broken.append(some(self.lines, "line"))
        return tuple(broken)


@dataclass(frozen=True)
class Edit:
    """What one piece of work changed in one file."""

    path: str
    before: bytes
    after: bytes


@dataclass(frozen=True)
class Waiting:
    """What could be fixed and was left out because of the limits."""

    places: frozenset[Place] = frozenset()
    too_large: frozenset[Place] = frozenset()
    """Those that fit into no night: the fix of one file alone is above the limit."""
    because: tuple[str, ...] = ()

    def __or__(self, other: "Waiting") -> "Waiting":
        because = tuple(sorted({*self.because, *other.because}))
        return Waiting(self.places | other.places, self.too_large | other.too_large, because)

    def files(self) -> set[str]:
        """The files that fit into another night."""
        return {path for _, path in self.places - self.too_large}

    def large_files(self) -> set[str]:
        """The files that need a higher limit."""
        return {path for _, path in self.too_large}


@dataclass
class ChangeBudget:
    """What is used of the limits; a piece that is taken back stays counted, so that no unplanned work follows."""

    limits: ChangeLimits
    _begun: dict[str, bytes] = field(default_factory=dict)
    _whole: dict[str, int] = field(default_factory=dict)
    _step_by_step: int = 0
    lines: int = 0
    """How many lines differ between the start and now."""
    _waiting: set[Place] = field(default_factory=set)
    _too_large: set[Place] = field(default_factory=set)
    _because: dict[str, None] = field(default_factory=dict)

    def choose(self, key: str, edits: list[Edit]) -> frozenset[str]:
        """Take the edits that fit, in order and each as a whole; return their files. The others wait."""
        steps = [(e.before, e.after) for e in edits]
        wholes = [(self._begun.get(e.path, e.before), e.after) for e in edits]
        lines = _changed_lines([*steps, *wholes])
        chosen = set()
        for edit, first, last in zip(edits, steps, wholes, strict=True):
            step, whole = lines[first], lines[last]
            if broken := self._broken_by(edit.path, step, whole):
                self._because |= dict.fromkeys(broken)
                self._waiting.add((key, edit.path))
                if self.limits.exceeded(1, step):
                    self._too_large.add((key, edit.path))
                continue
            self._begun.setdefault(edit.path, edit.before)
            self.lines += whole - self._whole.get(edit.path, 0)
            self._whole[edit.path] = whole
            self._step_by_step += step
            chosen.add(edit.path)
        return frozenset(chosen)

    def waiting(self) -> Waiting:
        """What did not fit so far."""
        return Waiting(frozenset(self._waiting), frozenset(self._too_large), tuple(sorted(self._because)))

    def _broken_by(self, path: str, step: int, whole: int) -> tuple[str, ...]:
        # A line changed by two commits counts twice in their sum; git may also need more lines for the whole.
        in_sum = self._step_by_step + step
        in_total = self.lines - self._whole.get(path, 0) + whole
        return self.limits.exceeded(len(self._begun) + (path not in self._begun), max(in_sum, in_total))


def _changed_lines(pairs: list[tuple[bytes, bytes]]) -> dict[tuple[bytes, bytes], int]:
    different = list(dict.fromkeys(pairs))
    return {pair: added + removed for pair, (added, removed) in zip(different, lines_between(different), strict=True)}
