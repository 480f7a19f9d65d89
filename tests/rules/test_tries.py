"""How often something was tried: in a row, since it last went well or a person said to go on (SPEC 9)."""

from datetime import timedelta
from typing import Any

import pytest

from midwatch.rules.recovery.tries import failures_of, forgiven_at, not_let_out
from midwatch.terms.jobs import Failure, JobState, Stage
from midwatch.terms.records import JobRow
from tests.rules.test_liveness import NOW, a_job


def failure(stage: Stage, attempt: int, minute: int = 0) -> Failure:
    return Failure(stage=stage, attempt=attempt, cause="transient", said="busy", at=NOW + timedelta(minutes=minute))


def tried(*failures: Failure, **more: Any) -> JobRow:
    plain = {"project": "prj_1", "work_item": "itm_1", "retry_of": "", "act": "act_1"}
    return a_job(failures=[one.model_dump() for one in failures], **(plain | more))


@pytest.mark.parametrize(
    ("stage", "attempt", "state", "counted"),
    [
        (Stage.DELIVER, 1, JobState.RUNNING, 0),
        (Stage.VERIFY, 3, JobState.RUNNING, 2),
        (Stage.VERIFY, 1, JobState.RUNNING, 0),
        (Stage.VERIFY, 2, JobState.FAILED, 2),
        (Stage.VERIFY, 2, JobState.DONE, 0),
    ],
)
def test_only_failures_at_the_stage_since_it_last_went_well_are_counted(
    stage: Stage, attempt: int, state: JobState, counted: int
) -> None:
    before = (failure(Stage.PLAN, 1), failure(Stage.VERIFY, 1), failure(Stage.VERIFY, 1), failure(Stage.VERIFY, 2))
    job = tried(*before, stage=stage, attempt=attempt, state=state)
    assert len(failures_of([job], "itm_1", None)) == counted


def test_what_failed_before_a_person_resumed_the_work_is_not_counted() -> None:
    first = tried(failure(Stage.PLAN, 1), stage=Stage.PLAN, attempt=1, state=JobState.FAILED)
    for act, since in (("", NOW + timedelta(minutes=5)), ("act_2", None)):
        second = tried(retry_of="job_1", act=act, created_at=NOW + timedelta(minutes=5))
        assert forgiven_at((), "prj_1", (first, second), "itm_1") == since
        assert forgiven_at((), "prj_1", (first, second)) == since
        assert forgiven_at((), "prj_1", (first, second), "itm_2") is None
        assert len(failures_of((first, second), "itm_1", since)) == (0 if since else 1)


@pytest.mark.parametrize(
    ("stage", "state", "cause", "kept"),
    [
        (Stage.DELIVER, JobState.FAILED, "auth", True),
        (Stage.PULL_REQUEST, JobState.FAILED, "network", True),
        (Stage.PULL_REQUEST, JobState.FAILED, "unknown", True),
        (Stage.DELIVER, JobState.FAILED, "logic", False),
        (Stage.DELIVER, JobState.FAILED, "conflict", False),
        (Stage.VERIFY, JobState.FAILED, "tls", False),
        (Stage.DELIVER, JobState.STOPPED, "", False),
    ],
)
def test_only_finished_work_that_was_kept_from_leaving_is_gone_on_with(
    stage: Stage, state: JobState, cause: str, *, kept: bool
) -> None:
    assert not_let_out(a_job(stage=stage, state=state, cause=cause)) is kept
