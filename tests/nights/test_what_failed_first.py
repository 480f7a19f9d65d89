"""Where a check fails, agent and person read first what failed, wherever the tool printed it (B11)."""

from pathlib import Path

import pytest

from midwatch.ports.agent import Task
from midwatch.surfaces.cli.jobs.jobs import _show_proof
from midwatch.terms.jobs import Done, JobState
from midwatch.terms.records import EvidenceRow, JobRow, PullRequestRow, ReportRow
from midwatch.terms.trust import Level
from midwatch.views.text.proof import proof_lines
from tests.nights.house import TestHouse, a_house, orders, sample_repository
from tests.nights.scripted import ScriptedAgent, write
from tests.nights.test_first_night import all_is_well
from tests.surfaces.test_live_page import reader

CHECK = (
    "python3 -c 'for n in range(8000): print(\"downloading piece\", n)'; PYTHONPATH=. python3 check.py 2>&1; code=$?; "
    "python3 -c 'for n in range(8000): print(\"cleaning up\", n)'; exit $code"
)
"""Fails in the middle of a third of a megabyte: neither its first nor its last lines say why."""
SAID = "ValueError: no greeting for Ann"
BAD = write("sample/greet.py", 'def greet(name):\n    raise ValueError(f"no greeting for {name}")\n')
FILES = {
    "sample/__init__.py": "",
    "sample/greet.py": 'def greet(name):\n    return "Hello " + name\n',
    "check.py": 'from sample.greet import greet\nassert greet("Ann") == "Hello Ann"\n',
}


class Told(ScriptedAgent):
    """Keeps what it is asked to repair, and repairs nothing."""

    failure = ""

    async def repair(self, assignment: Task, base: str, failure: str) -> Done:
        self.failure = failure
        write(
            "sample/greet.py", f'def greet(name):\n    raise ValueError("no greeting for " + name)  # {self.repairs}\n'
        )(assignment.room.tree)
        return await super().repair(assignment, base, failure)


async def red_work(house: TestHouse, tmp_path: Path) -> JobRow:
    await house.project(sample_repository(tmp_path / "sample", FILES), checks=(CHECK,))
    await house.begin(orders("Tidy up", level=Level.MODERATE))
    await house.to_the_brief()
    return (await house.house.records.find(JobRow))[-1]


def settings(red: str) -> dict[str, object]:
    return {"jobs.max_retries": 1, "execution.repair_rounds": 1, "execution.deliver_red": red}


async def test_a_draft_its_repair_and_every_page_begin_with_what_failed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    agent = Told(BAD)
    async with a_house(tmp_path / "home", agents={"housekeeper": agent}, flags=settings("draft")) as house:
        job = await red_work(house, tmp_path)
        command, first, *rest = agent.failure.splitlines()
        assert (command[:9], first) == ("$ python3", SAID)
        assert "raise ValueError" in "\n".join(rest)
        assert "downloading piece 1" not in agent.failure
        (pull,) = await house.house.records.find(PullRequestRow)
        draft = next(line for line in pull.body.splitlines() if "still fails" in line)
        assert draft.endswith(f"still fails (exit 1): {SAID}")
        async with reader(house.house) as web:
            assert f"fails: {SAID}" in (await web.get("/jobs/1")).text
        assert job.proof is not None
        shown = job.proof.model_dump(mode="json")
        _show_proof(shown, [one.model_dump() for one in proof_lines(job.proof)])
        said = " ".join(capsys.readouterr().out.split())
        assert said.index(SAID) < said.index("exit 1 in")
        found = await house.house.records.find(EvidenceRow, job=job.id)
        assert SAID in {one.excerpt for one in found}
        await all_is_well(house)


async def test_work_that_is_kept_back_gives_what_failed_as_its_reason(tmp_path: Path) -> None:
    async with a_house(tmp_path / "home", agents={"housekeeper": Told(BAD)}, flags=settings("never")) as house:
        job = await red_work(house, tmp_path)
        assert job.state is JobState.FAILED
        assert f"fails: {SAID}. This change breaks checks that passed before." in job.why
        brief = (await house.house.records.find(ReportRow))[-1]
        assert SAID in str(brief)
        await all_is_well(house)
