"""The housekeeper answers in the form that Midwatch reads from every agent, without loading what checks it."""

import subprocess
import sys
from dataclasses import fields

import pytest

from midwatch.crew.housekeeper import answers
from midwatch.terms import jobs
from midwatch.terms.term import Term

PAIRS = {
    answers.HousekeeperFinding: jobs.Finding,
    answers.HousekeeperPlan: jobs.Plan,
    answers.HousekeeperCheck: jobs.CheckResult,
    answers.HousekeeperCommit: jobs.Commit,
    answers.HousekeeperDropped: jobs.Dropped,
    answers.HousekeeperDone: jobs.Done,
}
FINDING = answers.HousekeeperFinding("F401", "a.py", 1, "unused “x”", "ruff")


@pytest.mark.parametrize(("ours", "term"), PAIRS.items(), ids=lambda kind: kind.__name__)
def test_every_field_is_one_of_the_term_with_the_same_default(ours: type, term: type[Term]) -> None:
    for field in fields(ours):
        declared = term.model_fields[field.name]
        assert declared.is_required() or declared.default == field.default, field.name
    required = {name for name, field in term.model_fields.items() if field.is_required()}
    assert required <= {field.name for field in fields(ours)}


def test_midwatch_reads_what_the_housekeeper_writes() -> None:
    plan = answers.HousekeeperPlan(summary="Tidy", files=("ü.py",), findings=(FINDING,))
    assert jobs.Plan.model_validate_json(answers.written(plan)) == jobs.Plan(
        summary="Tidy",
        files=("ü.py",),
        findings=(jobs.Finding(rule="F401", path="a.py", line=1, message="unused “x”", tool="ruff"),),
    )
    assert answers.planned_files(answers.written(plan)) == {"ü.py"}


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '"plan"', '{"summary": "x", "files": "a"}', '{"summary": 1, "files": [1]}']
)
def test_what_is_no_plan_is_refused(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  json's own, or ours
        answers.planned_files(text)


def test_it_loads_no_pydantic() -> None:
    loaded = "import midwatch.crew.housekeeper.__main__, sys; sys.exit('pydantic' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", loaded], check=False).returncode == 0
