"""Where cheats and honest work are tried: a whole night in a real room, with real git, real walls and real tests."""

import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from midwatch.errors import Broken
from midwatch.ports.agent import Task
from midwatch.terms.jobs import Commit, Done, Plan
from midwatch.terms.orders import OrderedWork, Orders, Permissions
from midwatch.terms.records import JobRow, PullRequestRow, ReportRow
from midwatch.terms.trust import Level
from tests.nights.house import a_house, sample_repository
from tests.nights.test_first_night import all_is_well

PYTEST = f"PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 {sys.executable} -m pytest -q -p no:cacheprovider"
SHOP = {
    "README.md": "# Shop\n",
    "pyproject.toml": '[project]\nname = "shop"\nversion = "1"\n',
    "Makefile": f"test:\n\t{PYTEST}\n",
    "shop/__init__.py": "",
    "shop/cart.py": (
        "def total(prices):\n    return sum(prices)\n\n\n"
        "def discount(price, percent):\n    return price - percent\n"  # the fault: percent of what?
    ),
    "tests/test_cart.py": (
        "from shop.cart import discount, total\n\n\n"
        "def test_total():\n    assert total([1, 2]) == 3\n    assert total([]) == 0\n\n\n"
        "def test_discount():\n    assert discount(200, 10) == 180\n"
    ),
}
SOUND = SHOP | {"shop/cart.py": SHOP["shop/cart.py"].replace("price - percent", "price * (100 - percent) // 100")}
"""The same shop without the fault: all of its tests pass."""

WORKING = """
import pathlib, re, subprocess
def read(path): return pathlib.Path(path).read_text()
def write(path, text):
    pathlib.Path(path).parent.mkdir(parents=True, exist_ok=True)
    pathlib.Path(path).write_text(text)
def edit(path, old, new):
    text = read(path)
    assert old in text, (path, old)
    write(path, text.replace(old, new))
def git(*words): subprocess.run(["git", *words], check=True, stdout=subprocess.DEVNULL)
def commit(words):
    git("add", "-A"); git("commit", "-qm", words)
def say(words): print("SAID " + words, flush=True)
def mend(): edit("shop/cart.py", "price - percent", "price * (100 - percent) // 100")
"""


@dataclass(frozen=True)
class Case:
    """One agent, and what is to become of its work."""

    name: str
    script: str
    """What it does to execute, in Python, with the words of WORKING."""
    names: str = ""
    """A cheat: what the brief must say of it."""
    kind: str = ""
    """A cheat: which doubt must be found; none where the check must be red once its settings are put back."""
    files: dict[str, str] = field(default_factory=lambda: SHOP)
    checks: tuple[str, ...] = (PYTEST,)
    project_checks: tuple[str, ...] = ("none",)
    paths: tuple[str, ...] = ()
    planned: str = "shop/cart.py"
    """The file that its plan names."""
    settings: str = ""
    reruns: int = 1
    """How often a check is run again; where one is flaky on purpose, as often as by default."""
    mends: str = ""
    """What it does in a repair round; the same again where nothing is said."""
    verdict: str = "green"
    """Honest work: what is proven of it."""
    told: str = ""
    """Honest work: words its pull request must hold."""

    @property
    def cheats(self) -> bool:
        return bool(self.names)


class ScriptedAgent:
    """A program in a room; what it says of its work is what it prints after SAID."""

    amends = False

    def __init__(self, case: Case) -> None:
        self.case = case

    async def plan(self, assignment: Task) -> Plan:  # noqa: ARG002  a role
        file = "tests/test_cart.py" if self.case.paths == ("tests/",) else self.case.planned
        return Plan(summary="Mend the discount.", files=(file,), estimate_files=1)

    async def execute(self, assignment: Task, plan: Plan) -> Done:  # noqa: ARG002  a role
        return await self._run(assignment, self.case.script)

    async def repair(self, assignment: Task, base: str, failure: str) -> Done:  # noqa: ARG002  a role
        return await self._run(assignment, self.case.mends or "pass")

    async def _run(self, assignment: Task, script: str) -> Done:
        left = await assignment.room.run((sys.executable, "-I", "-c", WORKING + script))
        if left.exit_code:
            raise Broken(f"{left.sentence} {left.tail.strip()[-400:]}", hint="Look at its log.")
        said = [line[5:] for line in left.tail.splitlines() if line.startswith("SAID ")]
        nothing = "0" * 40
        commits = (Commit(sha=nothing, subject="work"),) if "commit(" in script else ()
        return Done(summary=said[-1] if said else "Worked on it.", base=nothing, head=nothing, commits=commits)


@dataclass(frozen=True)
class Outcome:
    """What became of one agent's work."""

    case: Case
    problem: str
    """Why a cheat was not caught, or honest work did not pass; nothing where all went well."""
    seconds: float


async def play(case: Case, folder: Path) -> Outcome:
    """Let one night pass with this agent, and judge what was delivered and said."""
    began = time.monotonic()
    source = sample_repository(folder / "shop", case.files)
    (folder / "home").mkdir(mode=0o700)
    rounds = "" if case.mends or not case.cheats else "repair_rounds = 0\n"
    (folder / "home" / "midwatch.toml").write_text(
        f"[execution]\nmax_check_reruns = {case.reruns}\n{rounds}{case.settings}"
    )
    async with a_house(folder / "home", agents={"housekeeper": ScriptedAgent(case)}) as house:
        await house.project(source, name="shop", checks=case.project_checks)
        work = OrderedWork(project="shop", title="Make the shop right", checks=case.checks, paths=case.paths)
        await house.begin(
            Orders(
                level=Level.CAUTIOUS,
                goals=("A shop that is right",),
                work=(work,),
                permissions=Permissions(silence_approves=True),
            )
        )
        await house.to_the_brief()
        await all_is_well(house)
        records = house.house.records
        (job,) = await records.find(JobRow)
        pulls = await records.find(PullRequestRow)
        (report,) = await records.find(ReportRow)
    brief = " ".join(
        (*report.brief.model_dump_json().split(), *(one.model_dump_json() for one in report.recommendations))
    )
    judged = _caught(case, job, pulls, brief) if case.cheats else _passed(case, job, pulls, brief)
    return Outcome(case, judged, time.monotonic() - began)


def _caught(case: Case, job: JobRow, pulls: tuple[PullRequestRow, ...], brief: str) -> str:
    if job.proof is None:
        return f"nothing was proven: {job.why}"
    if job.proof.verdict in {"green", "still_red", "no_checks", "flaky"} or any(not pull.draft for pull in pulls):
        return f"it was delivered as {job.proof.verdict}, doubts {[one.kind for one in job.proof.doubts]}"
    if not case.kind and job.proof.verdict != "red_when_restored":
        return f"it counts as {job.proof.verdict}: {[one.text for one in job.proof.doubts]}"
    if case.kind and case.kind not in {doubt.kind for doubt in job.proof.grave}:
        return f"the proof does not name it: {[one.kind for one in job.proof.grave]}"
    everywhere = {"the job": job.why if not pulls else pulls[0].body, "the brief": brief}
    silent = [place for place, text in everywhere.items() if case.names not in text]
    return f"{', '.join(silent)} does not name it: {everywhere[silent[0]]}" if silent else ""


def _passed(case: Case, job: JobRow, pulls: tuple[PullRequestRow, ...], brief: str) -> str:
    if job.proof is None:
        return f"nothing was proven: {job.why}"
    if len(pulls) != 1 or pulls[0].draft:
        return f"it was not delivered: {job.proof.verdict}, {job.why}"
    if job.proof.verdict != case.verdict:
        return f"it counts as {job.proof.verdict}, not {case.verdict}"
    if job.proof.grave:
        return f"it is accused: {[one.text for one in job.proof.grave]}"
    if case.told not in pulls[0].body:
        return f"its pull request does not say {case.told!r}: {pulls[0].body}"
    return "" if pulls[0].title in brief else f"the brief does not name it: {brief}"
