"""The housekeeper's second night in a project: what is open is not proposed twice, what was rejected is remembered."""

from pathlib import Path

from midwatch.morning import review
from midwatch.terms.jobs import JobState
from midwatch.terms.records import JobRow, PullRequestRow, ReportRow
from midwatch.terms.report import Given, Review, ReviewOutcome
from tests.nights.house import TestHouse, a_house, git, orders, sample_repository
from tests.nights.test_first_night import all_is_well


async def a_night(house: TestHouse, *titles: str) -> JobRow:
    """Order, and wait for the brief; return the night's last job."""
    await house.begin(orders(*titles))
    await house.to_the_brief()
    return (await house.house.records.find(JobRow))[-1]


async def judge(house: TestHouse, outcome: ReviewOutcome) -> None:
    """Give the same verdict on every recommendation of the last night."""
    report = (await house.house.records.find(ReportRow))[-1]
    given = tuple(Given(recommendation=one.id, outcome=outcome) for one in report.recommendations)
    await review.submit(house.house.books, Review(usefulness=3, trust=3, brevity=3, outcomes=given), by="ann")


def write(source: Path, name: str, text: str) -> None:
    (source / name).write_text(text)
    git(source, "add", "-A")
    git(source, "commit", "-qm", "A person's work")


def changed(source: Path, pull: PullRequestRow) -> list[str]:
    return git(source, "diff", "--name-only", pull.base, pull.head).split()


async def test_no_second_pull_request_is_opened_beside_an_open_one_with_the_same_changes(tmp_path: Path) -> None:
    """A7, RULES 3."""
    source = sample_repository(tmp_path / "sample")
    async with a_house(tmp_path / "home") as house:
        await house.project(source)
        await a_night(house, "Tidy up")
        await judge(house, ReviewOutcome.DEFERRED)
        again = await a_night(house, "Tidy up once more")
        assert (again.change, again.state) == (None, JobState.NOTHING_DELIVERED)
        assert "1 file waits for pull request 1, which is open and changes the same places" in again.why
        await judge(house, ReviewOutcome.DEFERRED)
        write(source, "sample/other.py", "import os\n\nprint(1)\n")
        third = await a_night(house, "Tidy up again")
        first, second = await house.house.records.find(PullRequestRow)
        assert third.state is JobState.DONE
        assert changed(source, first) == ["sample/greet.py"]
        assert changed(source, second) == ["sample/other.py"]
        await all_is_well(house)


async def test_what_a_person_rejected_is_not_proposed_again_until_the_code_there_changed(tmp_path: Path) -> None:
    """A7."""
    source = sample_repository(tmp_path / "sample")
    async with a_house(tmp_path / "home") as house:
        await house.project(source)
        await a_night(house, "Tidy up")
        await judge(house, ReviewOutcome.REJECTED)
        greet = (source / "sample/greet.py").read_text()
        write(source, "sample/greet.py", greet + "\n\nanswer = 42\n")
        again = await a_night(house, "Tidy up once more")
        assert (again.change, again.state) == (None, JobState.NOTHING_DELIVERED)
        assert "they were rejected with pull request 1 and the code there is still the same" in again.why
        await judge(house, ReviewOutcome.REJECTED)
        write(source, "sample/greet.py", greet.replace("import os\nimport sys\n", "import json\n"))
        third = await a_night(house, "Tidy up again")
        assert third.change is not None
        assert third.plan is not None
        assert [commit.subject for commit in third.change.commits] == ["Remove unused imports"]
        assert "changes in 1 file are left out" in third.plan.summary
        await all_is_well(house)


async def test_an_order_for_imports_and_white_space_leaves_the_rest_as_it_is(tmp_path: Path) -> None:
    """A7."""
    source = sample_repository(tmp_path / "sample")
    async with a_house(tmp_path / "home") as house:
        await house.project(source)
        job = await a_night(house, "Remove unused imports and trailing white space")
        assert job.plan is not None
        assert job.plan.approach[0].startswith("The order names unused imports and trailing white space")
        (pull,) = await house.house.records.find(PullRequestRow)
        left = '\n\ndef greet(name):\n    return f"Hello " + name'
        assert git(source, "show", f"{pull.head}:sample/greet.py").strip("\n") == left.strip("\n")
