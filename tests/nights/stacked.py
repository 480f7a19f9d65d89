"""A night whose branches do not all go together, and an independent way to find out what does."""

import re
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from midwatch.journal.events import Event
from midwatch.journal.events import jobs as ev
from midwatch.morning import review as verdicts
from midwatch.night.asks import settlement
from midwatch.ports.agent import Task
from midwatch.terms.jobs import Change, Done, FileChange, Plan, Proof, RepositoryFacts, Stage
from midwatch.terms.records import PullRequestRow, ReportRow, SessionRow
from midwatch.terms.report import Given, Review, ReviewOutcome
from midwatch.terms.trust import Level
from tests.journal.samples import sample
from tests.nights.house import TestHouse, a_house, git, orders, sample_repository
from tests.nights.scripted import Edit, ScriptedAgent, write

LINES = "".join(f"line {number}\n" for number in range(1, 21))
FILES = {
    "a.txt": LINES,
    "old.txt": "".join(f"kept {number}\n" for number in range(1, 21)),
    "gone.txt": "".join(f"gone {number}\n" for number in range(1, 21)),
    "prices.py": "def price():\n    return 10\n",
    "use/__init__.py": "",
    "use/total.py": "from prices import price\n\nassert price() == 10\n",
    "check.py": "import glob, runpy, sys\nsys.path.insert(0, '.')\n"
    "for name in sorted(glob.glob('use/*.py')):\n    runpy.run_path(name)\n",
}
CHECK = "python3 check.py"


def replaced(name: str, old: str, new: str) -> Edit:
    """An edit of one place."""

    def edit(tree: Path) -> None:
        (tree / name).write_text((tree / name).read_text().replace(old, new))

    return edit


def all_of(*edits: Edit) -> Edit:
    """Several edits, one after the other."""

    def edit(tree: Path) -> None:
        for one in edits:
            one(tree)

    return edit


def moved(old: str, new: str) -> Edit:
    """An edit that renames a file."""

    def edit(tree: Path) -> None:
        (tree / old).rename(tree / new)

    return edit


def removed(name: str) -> Edit:
    """An edit that removes a file."""
    return lambda tree: (tree / name).unlink()


EIGHT: dict[str, Edit] = {
    "Alpha": replaced("a.txt", "line 1\n", "line one\n"),
    "Beta": replaced("a.txt", "line 1\n", "line uno\nand more\n"),
    "Rename": moved("old.txt", "new.txt"),
    "Rename too": all_of(moved("old.txt", "newer.txt"), write("why.txt", "because\n")),
    "Remove": removed("gone.txt"),
    "Amend": replaced("gone.txt", "gone 9\n", "gone nine\n"),
    "New name": all_of(
        write("prices.py", "def price_now():\n    return 10\n"),
        write("use/total.py", "from prices import price_now\n\nassert price_now() == 10\n"),
    ),
    "Old name": write("use/tax.py", "from prices import price\n\nassert price() * 2 == 20\n"),
}
"""Four pairs of which only one goes: in the text, by name, by being there at all, and by what the checks say."""


class BranchAgent(ScriptedAgent):
    """Makes the edit that its job is called after."""

    def __init__(self, edits: dict[str, Edit]) -> None:
        super().__init__(lambda _: None)
        self._edits = edits

    async def execute(self, assignment: Task, plan: Plan) -> Done:  # noqa: ARG002  a role
        return self._commit(assignment.room.tree, self._edits[assignment.title])


@asynccontextmanager
async def a_night_of(
    home: Path, edits: dict[str, Edit], *, url: str = "", checks: tuple[str, ...] = (CHECK,), **flags: Any
) -> AsyncIterator[tuple[TestHouse, Path]]:
    """Live through a night with one branch for each edit, up to its brief."""
    source = sample_repository(home / "sample", FILES)
    (home / "home").mkdir()
    lines = [f"{name.replace('__', '.')} = {str(value).lower()}\n" for name, value in flags.items()]
    (home / "home" / "midwatch.toml").write_text("".join(lines))
    agent = BranchAgent(edits)
    async with a_house(home / "home", url, agents={"housekeeper": agent}) as house:
        await house.project(source, checks=checks)
        await house.begin(orders(*edits, level=Level.FULL))
        await house.to_the_brief()
        await house.settle()
        yield house, source


@asynccontextmanager
async def a_dawn_of(
    home: Path, edits: dict[str, Edit], *, url: str = "", checks: tuple[str, ...] = (CHECK,), forge: str = "local"
) -> AsyncIterator[tuple[TestHouse, Path]]:
    """A night at its end, each branch delivered as real commits and as the entries a job leaves, without the jobs."""
    source = sample_repository(home / "sample", FILES)
    async with a_house(home / "home", url) as house:
        project = await house.project(source, checks=checks)
        night = await house.begin(orders(*edits, level=Level.FULL))
        clone = home / "elsewhere"
        git(home, "clone", "-q", str(source), str(clone))
        for item, (title, edit) in zip(night.items, edits.items(), strict=True):
            change = committed(clone, f"agent/{job_of(title)}", title, edit)
            events = delivered((night.id, project.id, item["work_item"]), title, change, checks, forge)
            await house.house.journal.record(*events)
        yield house, source


async def ends(house: TestHouse) -> ReportRow:
    """End the night, and let follow what follows."""
    session = (await house.house.records.find(SessionRow))[-1]
    await settlement.debrief(house.house.books, session.id, "it is dawn", actor="ann")
    await house.settle()
    return (await house.house.records.find(ReportRow))[-1]


def committed(clone: Path, branch: str, title: str, edit: Edit) -> Change:
    """Commit an edit on a branch of its own and push it, as a delivery does."""
    git(clone, "checkout", "-q", "-b", branch, "origin/main")
    edit(clone)
    git(clone, "add", "-A")
    git(clone, "commit", "-q", "-m", title)
    git(clone, "push", "-q", "origin", branch)
    base, head = git(clone, "rev-parse", "origin/main"), git(clone, "rev-parse", "HEAD")
    counted = (line.split("\t") for line in git(clone, "diff", "--numstat", "--no-renames", base, head).splitlines())
    files = [FileChange(path=path, status="M", insertions=int(a), deletions=int(b)) for a, b, path in counted]
    return Change(base=base, head=head, files=tuple(files))


def job_of(title: str) -> str:
    """Name a job after its title."""
    return "job_" + re.sub(r"[^a-z0-9]+", "_", title.lower())


def delivered(
    where: tuple[str, str, str], title: str, change: Change, checks: tuple[str, ...], forge: str
) -> list[Event]:
    """The entries of a job that was planned, executed, checked and delivered."""
    night, project, item = where
    job, run = job_of(title), f"run_{job_of(title)}"
    started = sample(ev.RunStarted, run=run, session=night, mission="", project=project)
    assert isinstance(started, ev.RunStarted)
    contract = started.contract.model_copy(update={"checks": checks, "paths": (), "parts": ()})
    plan = Plan(summary=title, files=("a.txt",))
    found = "doubted" if title == "Doubted" else "green"
    proof = Proof(verdict=found if checks else "no_checks")
    facts = RepositoryFacts(path="/src", branch="main", head=change.base)
    return [
        started.model_copy(update={"contract": contract}),
        ev.JobCreated(
            job=job, session=night, run=run, project=project, work_item=item, title=title, agent="housekeeper"
        ),
        ev.JobClaimed(job=job, stage=Stage.MIRROR, attempt=1, epoch=1, worker="w"),
        ev.JobPrepared(job=job, epoch=1, repository=facts),
        ev.JobPlanned(job=job, epoch=1, version=1, plan=plan, plan_hash="p"),
        ev.JobApproved(job=job, by="ann", plan_hash="p"),
        ev.JobExecuted(job=job, epoch=1, done=Done(summary=title, base=change.base, head=change.head)),
        sample(ev.JobBundled, job=job, epoch=1),
        ev.JobQuarantined(job=job, epoch=1, change=change, diff_blob=""),
        ev.JobVerified(job=job, epoch=1, proof=proof, repair=False),
        ev.JobDelivered(job=job, epoch=1, branch=f"agent/{job}", head=change.head),
        ev.PullRequestOpened(
            pull_request=f"pr_{job}", job=job, epoch=1, run=run, project=project, branch=f"agent/{job}",
            base=change.base, head=change.head, into="main", title=title, body="", forge=forge,
        ),
        ev.JobEnded(job=job, epoch=1, state="done", why=title),
    ]  # fmt: skip


def merges(source: Path, folder: Path, branches: tuple[str, ...]) -> bool:
    """Merge branches with plain git in a clone of one's own, in this order; tell whether it went."""
    subprocess.run(["git", "clone", "-q", str(source), str(folder)], check=True, capture_output=True)
    for name in branches:
        try:
            git(folder, "merge", "-q", "--no-ff", "-m", f"Merge {name}", f"origin/{name}")
        except subprocess.CalledProcessError:
            return False
    return True


def green(folder: Path, check: str = CHECK) -> bool:
    """Run the checks, without any of our code."""
    return subprocess.run(check, shell=True, cwd=folder, capture_output=True, check=False).returncode == 0  # noqa: S602


async def reviews(house: TestHouse, **said: str) -> None:
    """Give a verdict on each recommendation: accepted, unless its title is named with another."""
    report = (await house.house.records.find(ReportRow))[-1]
    titles = {pull.job: pull.title for pull in await house.house.records.find(PullRequestRow)}
    outcomes = tuple(
        Given(
            recommendation=one.id,
            outcome=ReviewOutcome(said.get(titles.get(one.why.removeprefix("trace:"), ""), "accepted")),
            keep_open=True,
        )
        for one in report.recommendations
    )
    review = Review(usefulness=4, trust=4, brevity=4, outcomes=outcomes)
    await verdicts.submit(house.house.books, review, by="ann")
    await house.settle()
