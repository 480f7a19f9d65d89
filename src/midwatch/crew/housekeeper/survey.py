"""Surveys a whole tree: everything the housekeeper can fix, and everything only a person can."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from midwatch.crew.housekeeper import kinds, links, syntax, text
from midwatch.crew.housekeeper.bounds.commission import Commission, Restraint
from midwatch.crew.housekeeper.bounds.earlier import changes_of
from midwatch.crew.housekeeper.bounds.editorconfig import EditorConfig
from midwatch.crew.housekeeper.bounds.mandate import ALWAYS, OWN, Mandate
from midwatch.crew.housekeeper.findings import FixableFinding, Seen, placed
from midwatch.crew.housekeeper.git import Checkout
from midwatch.crew.housekeeper.imports import Uses, uses_in, why_kept
from midwatch.crew.housekeeper.linter import Linter, Offence, is_false_alarm, version
from midwatch.crew.housekeeper.tree import Tree, endings, look
from midwatch.terms.figures import some

UNUSED = "F401"
MANY = 20
WISHES = {kinds.WHITESPACE: text.TRIM, kinds.NEWLINE: text.INSERT}


@dataclass(frozen=True)
class Surveyor:
    """Surveys one tree repeatedly while it changes; settings are read once."""

    tree: Tree
    restraint: Restraint = field(default_factory=lambda: Restraint(Mandate(), ()))

    @cached_property
    def linter(self) -> Linter:
        """Ruff on this tree."""
        return Linter(self.tree)

    @cached_property
    def wishes(self) -> EditorConfig:
        """What .editorconfig asks for."""
        return EditorConfig(self.tree.root)

    @cached_property
    def uses(self) -> Uses:
        """The project's imports, as they were at the start."""
        return uses_in(self.tree)

    def survey(self) -> list[FixableFinding]:
        """All findings now, the most serious first."""
        seen = [*self._python(), *self._format(), *text.sightings(self.tree, self.wishes)]
        seen += [*syntax.sightings(self.tree), *links.sightings(self.tree)]
        looked_at = [one for one in seen if not self._is_excluded(one)]
        return self.restraint.permitted(placed(looked_at, self.tree), self.tree)

    def _is_excluded(self, seen: Seen) -> bool:
        """Whether the project tells its own tools to leave this alone."""
        excludes, kind = self.tree.excludes, seen.kind or kinds.kind_of(seen.rule)
        if excludes.cover(seen.path, kind):
            return True
        return (
            seen.tool == "ruff" and not self.linter.is_configured(seen.path) and excludes.ignore(seen.path, seen.rule)
        )

    def offered(self) -> tuple[str, ...]:
        """Every kind of work this project can get, in order."""
        keys = {*ALWAYS}
        if not (self.linter.complaint or self.linter.other_version):
            settings = self.linter.settings.values()
            keys |= {OWN, kinds.SORTING} if settings else set()
            keys |= {kinds.FORMAT} if any("format" in one for one in settings) else set()
        return tuple(kinds.in_order(keys))

    def notes(self) -> list[str]:
        """What a person should know about how this project was treated; complete after a survey."""
        said = self.restraint.notes()
        if not self.tree.all_python:
            said.append("no Python files here: only white space, data files and links were looked at")
        if self.linter.complaint:
            said.append(
                f"the project's ruff settings cannot be used ({self.linter.complaint}): its Python is left alone"
            )
        if self.linter.other_version and self.linter.settings:
            ours = version().removeprefix("ruff ")
            said.append(
                f"the project checks itself with ruff {self.linter.other_version} and this is {ours}: its own rules "
                "and formatting are left to it"
            )
        formats = self.restraint.mandate.covers(kinds.FORMAT, "format", "ruff")
        if formats and self._too_many_to_format():
            total = some(len(self.linter.unformatted()), "file")
            said.append(f"ruff format would rewrite {total}, more than half: that is left for a person")
        if formats and self._black_alone():
            said.append("black is configured and ruff format is not: formatting is left to black")
        return said

    def _python(self) -> Iterator[Seen]:
        offences = [o for o in self.linter.offences() if not is_false_alarm(o, self.tree)]
        reasons = self._reasons(offences)
        groups: dict[tuple[str, str], list[Offence]] = {}
        for one in offences:
            if one in reasons:
                groups.setdefault((one.path, reasons[one]), []).append(one)
            else:
                kind = self._kind(one)
                yield Seen(one.rule, one.path, one.line, one.message, "ruff", column=one.column, kind=kind)
        # A package that exports forty names would flood the list, so imports kept for one reason are one finding.
        for (path, why), same in groups.items():
            yield Seen(UNUSED, path, same[0].line, f"{_look_unused(same)}; kept because {why}", "ruff")

    def _reasons(self, offences: list[Offence]) -> dict[Offence, str]:
        """Return why some unused imports stay. A statement stays or goes as a whole."""
        unused = [o for o in offences if o.rule == UNUSED]
        own = {o: why for o in unused if (why := why_kept(o, self.tree, self.uses))}
        by_row = {(o.path, o.row): why for o, why in own.items()}
        return {o: why for o in unused if (why := by_row.get((o.path, o.row), ""))}

    def kept_rows(self) -> dict[str, set[int]]:
        """The lines, by file, whose unused imports must stay."""
        rows: dict[str, set[int]] = {}
        for one in self._reasons(self.linter.offences()):
            rows.setdefault(one.path, set()).add(one.row)
        return rows

    def _kind(self, offence: Offence) -> str:
        if not offence.safe_fix or not self.linter.may_fix(offence.path, offence.rule):
            return ""
        key = kinds.kind_of(offence.rule)
        return "" if key in WISHES and self.wishes.forbids(offence.path, WISHES[key]) else key

    def _format(self) -> Iterator[Seen]:
        for path in () if self._too_many_to_format() else self.linter.unformatted():
            if len(endings(self.tree.read(path))) < 2:
                yield Seen("format", path, 1, "Not formatted as its project asks", "ruff", kind=kinds.FORMAT)

    def _too_many_to_format(self) -> bool:
        unformatted = len(self.linter.unformatted())
        return unformatted > MANY and unformatted * 2 > len(self.tree.python())

    def _black_alone(self) -> bool:
        path = "pyproject.toml"
        if path not in self.tree.tracked or not (self.tree.root / path).is_file():
            return False
        asks = any("format" in settings for settings in self.linter.settings.values())
        return b"[tool.black]" in self.tree.read(path) and not asks


def surveyor_of(checkout: Checkout, commission: Commission) -> Surveyor:
    """Look at a checkout as one job may."""
    tree = look(checkout, commission.paths)
    return Surveyor(tree, Restraint(commission.mandate, changes_of(checkout, commission.earlier)))


def _look_unused(same: list[Offence]) -> str:
    first = same[0].message.split(";")[0]
    return first if len(same) == 1 else f"{first}, and {len(same) - 1} more"
