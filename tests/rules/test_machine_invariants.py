"""What must hold on the machine itself: each rule is broken once, and says so."""

import pytest

from midwatch.rules.invariants.invariants import MachineSeen, check_machine
from midwatch.terms.jobs import JobState
from midwatch.terms.records import JobRow
from tests.journal.samples import _filled


def job(state: JobState = JobState.RUNNING) -> JobRow:
    return JobRow.model_validate(_filled(JobRow) | {"id": "job_1", "number": 1, "state": state})


def test_a_machine_at_rest_breaks_nothing() -> None:
    assert check_machine([job()], MachineSeen()) == ()
    assert check_machine([job()], MachineSeen(living=(("job_1", 3),))) == ()


@pytest.mark.parametrize("state", [state for state in JobState if state.over])
def test_whoever_works_for_a_job_that_is_over_is_named(state: JobState) -> None:
    (found,) = check_machine([job(state)], MachineSeen(living=(("job_1", 3),)))
    assert found.rule == "every_process_has_a_job"
    assert found.text == f"attempt 3 of job 1 is running, but the job is {state.value}"


def test_whoever_works_for_a_job_nobody_knows_is_named() -> None:
    (found,) = check_machine([], MachineSeen(living=(("job_9", 1),)))
    assert found.text == "attempt 1 of job_9 is running, but there is no such job"


def test_a_secret_that_was_written_is_named_and_not_repeated() -> None:
    (found,) = check_machine([], MachineSeen(leaks=(("team", "entry 7"),)))
    assert (found.rule, found.text) == ("no_secret_is_written", "the value of the secret team is in entry 7")
