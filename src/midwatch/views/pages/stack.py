"""A stack in words: how many branches merge together, why the others do not, and what to type."""

from collections.abc import Mapping, Sequence
from typing import Final

from midwatch.terms.figures import first_few, joined, some
from midwatch.terms.records import PullRequestRow, StackRow
from midwatch.terms.report import ReviewOutcome
from midwatch.terms.stack import LeftOut, LeftOutWhy, StackState, StackStep, StackVerdict
from midwatch.terms.term import Term
from midwatch.views.text.plain import clean

MOST_FILES = 4
PROVEN_TOGETHER = {
    StackVerdict.GREEN: "checks green together",
    StackVerdict.STILL_RED: "checks no worse than before",
    StackVerdict.NO_CHECKS: "no checks, so nothing is proven together",
    StackVerdict.UNFINISHED: "not proven together",
}


class StackShown(Term):
    """A stack as pages and terminals show it."""

    number: int
    project: str
    into: str
    state: StackState
    headline: str
    why: str
    proven: bool
    offered: bool
    held: tuple[str, ...]
    """What keeps a person from merging it now: verdicts that are missing, a no, or a branch that is merged already."""
    outdated: bool
    """It must be checked again, because one of its pull requests is no longer open."""
    elsewhere: bool
    """It is at another forge: there the order is posted, not merged."""
    base: str
    tip: str
    steps: tuple["StackStepShown", ...]
    out: tuple["OutShown", ...]
    checks: tuple["CheckTogether", ...]
    settled_by: str
    undo: tuple[str, ...]


class StackStepShown(StackStep):
    """A branch in the verified order, with its job's number."""

    job_number: int


class OutShown(Term):
    """A branch that is not in the stack, with the reason as a sentence."""

    number: int
    job_number: int
    branch: str
    title: str
    why: str
    files: tuple[str, ...]


class CheckTogether(Term):
    """How one check ended on the merged tree."""

    command: str
    green: bool
    tail: str


def stack_shown(
    row: StackRow,
    project: str,
    verdicts: Mapping[str, ReviewOutcome],
    pulls: Mapping[str, PullRequestRow],
    jobs: Mapping[str, int],
    *,
    elsewhere: bool = False,
) -> StackShown:
    """Describe a stack; `jobs` has the numbers of the jobs in it."""
    settled = no_longer_open(row, pulls)
    held = settled or not_accepted(row, verdicts)
    return StackShown(
        number=row.number,
        project=project,
        into=row.into,
        state=row.state,
        headline=headline(row),
        why=row.why,
        proven=row.verdict is not None and row.verdict.proven,
        offered=offered(row) and not held,
        held=held if offered(row) else (),
        outdated=bool(settled) and offered(row),
        elsewhere=elsewhere,
        base=row.base[:12],
        tip=row.tip[:12],
        steps=tuple(StackStepShown(**step.model_dump(), job_number=jobs.get(step.job, 0)) for step in row.order),
        out=tuple(_out(one, row.into, jobs.get(one.job, 0)) for one in row.left_out),
        checks=tuple(
            CheckTogether(command=one.command, green=one.green, tail="" if one.green else one.shown)
            for one in row.checks
        ),
        settled_by=row.settled_by,
        undo=row.undo,
    )


def offered(row: StackRow) -> bool:
    """Whether a person may merge it now."""
    return row.state is StackState.MADE and bool(row.order) and row.verdict is not None and row.verdict.offered


def no_longer_open(row: StackRow, pulls: Mapping[str, PullRequestRow]) -> tuple[str, ...]:
    """Say which pull requests of a stack were merged or closed since it was made: the order is no longer true."""
    found: dict[str, list[int]] = {}
    for pull in (pulls[step.pull_request] for step in row.order if step.pull_request in pulls):
        if pull.state != "open":
            found.setdefault(f"was {pull.state} since the stack was made", []).append(pull.number)
    return tuple(_many(_requests(sorted(numbers)), words, len(numbers)) for words, numbers in found.items())


SAID: Final = {
    ReviewOutcome.PENDING: "has no verdict yet",
    ReviewOutcome.REJECTED: "was rejected",
    ReviewOutcome.DEFERRED: "was put off",
}


def not_accepted(row: StackRow, verdicts: Mapping[str, ReviewOutcome]) -> tuple[str, ...]:
    """Say which pull requests of a stack the review has not accepted, a sentence for each verdict."""
    found: dict[str, list[int]] = {}
    for step in row.order:
        if words := SAID.get(verdicts.get(step.pull_request, ReviewOutcome.PENDING)):
            found.setdefault(words, []).append(step.number)
    return tuple(_many(_requests(sorted(numbers)), words, len(numbers)) for words, numbers in found.items())


def _many(who: str, words: str, number: int) -> str:
    if number > 1:
        words = words.replace("has ", "have ").replace("was ", "were ")
    return f"{who.capitalize()} {words}."


def headline(row: StackRow) -> str:
    if row.state is StackState.MAKING:
        return "The branches are being merged and checked together."
    if row.verdict is None or row.verdict is StackVerdict.FAILED:
        return "The stack could not be made."
    many = len(row.order) + len(row.left_out)
    if not row.order:
        return f"None of {some(many, 'branch', 'branches')} can be merged."
    return f"{_share(len(row.order), many)}; {PROVEN_TOGETHER[row.verdict]}."


def _share(together: int, many: int) -> str:
    if many == 1:
        return "The one branch merges"
    if together == many:
        return f"{'Both' if many == 2 else f'All {many}'} branches merge together"
    return f"{together} of {many} branches {'merges' if together == 1 else 'merge together'}"


ALONE: Final = {
    LeftOutWhy.REJECTED: "Was rejected in the review.",
    LeftOutWhy.DEFERRED: "Was put off in the review.",
    LeftOutWhy.UNREVIEWED: "Got no verdict in the review.",
    LeftOutWhy.DRAFT: "Is only a draft: its own checks are red or not trusted.",
    LeftOutWhy.ELSEWHERE: "Its target is another branch.",
    LeftOutWhy.UNPROVEN: "Was not proven together with the others: time or check runs ran out.",
}


def fate(one: LeftOut, into: str) -> str:
    """Say why a branch is left out."""
    others = _requests(one.others) if one.others else into
    match one.why:
        case LeftOutWhy.CONFLICT:
            return f"Conflicts with {others} in {_files(one.files)}."
        case LeftOutWhy.CHECKS if one.others:
            return f"Merges, but breaks the checks together with {others}."
        case LeftOutWhy.CHECKS:
            return f"Breaks the checks on {into} as it is now."
        case LeftOutWhy.NEEDS:
            return f"Is built on {others}, which is left out."
        case _:
            return ALONE[one.why]


def _out(one: LeftOut, into: str, job: int) -> OutShown:
    why = fate(one, into)
    return OutShown(number=one.number, job_number=job, branch=one.branch, title=one.title, why=why, files=one.files)


def _requests(numbers: Sequence[int]) -> str:
    return f"pull request{'' if len(numbers) == 1 else 's'} {joined(map(str, numbers))}"


def _files(files: Sequence[str]) -> str:
    return first_few([clean(name, 120) for name in files], MOST_FILES) or "a way git does not name"


def brief_line(row: StackRow, project: str) -> str:
    """Describe it for the brief, with what to type."""
    text = f"{project}: {headline(row)}"
    if offered(row):
        return f"{text} Accept them in the review first. To merge them: midwatch stack merge --project {project}"
    return f"{text} {row.why or f'See: midwatch stack --project {project}'}".strip()


def comment(row: StackRow) -> str:
    """Write the merge order for the forge's pull requests; branches and files only, no text an agent chose."""
    lines = [f"**Stack of {some(len(row.order), 'branch', 'branches')} into {_code(row.into)}**", "", headline(row), ""]
    lines += ["Merge in this order:"]
    lines += [f"{place}. {_code(step.branch)} at {step.head[:12]}" for place, step in enumerate(row.order, 1)]
    if row.left_out:
        lines += ["", "Left out:"]
        lines += [f"- {_code(one.branch)}: {_code_files(one, row)}" for one in row.left_out]
    checks = [f"- {_code(one.command)}: {'green' if one.green else 'red'}" for one in row.checks]
    lines += ["", "Checked on the merged tree:", *checks] if checks else ["", "No checks were run on the merged tree."]
    return "\n".join([*lines, "", f"Verified on {row.base[:12]}. Should {_code(row.into)} have moved, check again."])


def _code_files(one: LeftOut, row: StackRow) -> str:
    """Name the others by their branches: Midwatch's own numbers mean something else on the forge."""
    branches = {step.number: step.branch for step in row.order} | {each.number: each.branch for each in row.left_out}
    others = ", ".join(_code(branches.get(number, "another branch")) for number in one.others) or _code(row.into)
    if one.why is LeftOutWhy.CONFLICT:
        return f"conflicts with {others} in {', '.join(map(_code, one.files[:MOST_FILES])) or 'its history'}."
    if one.why is LeftOutWhy.CHECKS:
        return f"breaks the checks together with {others}."
    if one.why is LeftOutWhy.NEEDS:
        return f"is built on {others}, which is left out."
    return fate(one, row.into)


def _code(text: str) -> str:
    return f"`{clean(text, 120).replace('`', chr(39))}`"
