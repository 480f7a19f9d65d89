"""A finding, with the kind of work that would fix it."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from midwatch.crew.housekeeper.answers import HousekeeperFinding
from midwatch.crew.housekeeper.tree import Tree

KEPT = 200
EXCERPT = 160


@dataclass(frozen=True)
class FixableFinding:
    """One finding; `kind` names the kind of work that fixes it, empty if only a person can."""

    finding: HousekeeperFinding
    kind: str = ""

    @property
    def same(self) -> tuple[str, str, str]:
        """Its identity, which does not change when lines move."""
        return self.finding.rule, self.finding.path, self.finding.excerpt


@dataclass(frozen=True)
class Seen:
    """What a tool reported, before the line was looked up in the file."""

    rule: str
    path: str
    line: int
    message: str
    tool: str
    column: int = 0
    kind: str = ""


def placed(seen: Iterable[Seen], tree: Tree) -> list[FixableFinding]:
    """Give each report an existing line and its text; drop those in empty files."""
    texts: dict[str, list[str]] = {}
    found = []
    for one in seen:
        lines = texts.setdefault(one.path, tree.lines(one.path)) if one.path not in texts else texts[one.path]
        if not lines:
            continue
        line = min(max(one.line, 1), len(lines))
        finding = HousekeeperFinding(
            rule=one.rule,
            path=one.path,
            line=line,
            message=one.message,
            tool=one.tool,
            column=one.column,
            fixable=bool(one.kind),
            excerpt=lines[line - 1].strip()[:EXCERPT],
        )
        found.append(FixableFinding(finding=finding, kind=one.kind))
    return sorted(found, key=_rank)


def kept(found: Iterable[FixableFinding]) -> tuple[HousekeeperFinding, ...]:
    """The findings to report, the most serious first."""
    return tuple(f.finding for f in sorted(found, key=_rank)[:KEPT])


def gone(before: Iterable[FixableFinding], after: Iterable[FixableFinding]) -> list[FixableFinding]:
    still = Counter(f.same for f in after)
    missing = []
    for one in before:
        if still[one.same]:
            still[one.same] -= 1
        else:
            missing.append(one)
    return missing


def _rank(found: FixableFinding) -> tuple[int, str, int, str]:
    rule = found.finding.rule
    if "syntax" in rule or rule.startswith("E9"):
        weight = 0
    elif rule.startswith("F8"):
        weight = 1
    else:
        weight = 2 if rule.startswith(("F", "dead-link")) else 3
    return weight, found.finding.path, found.finding.line, rule
