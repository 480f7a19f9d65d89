"""How a job gets on: at work, waiting for something named, recovering, or stranded (X4)."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midwatch.rules.recovery.liveness import Path, standing_of
from midwatch.terms.asks import AskKind, AskState
from midwatch.terms.jobs import JobState, Stage
from midwatch.terms.records import AskRow, JobRow, TimerRow
from tests.journal.samples import _filled

NOW = datetime(2026, 3, 1, 2, 0, tzinfo=UTC)


def a_job(**more: Any) -> JobRow:
    """A job at work, unless told otherwise."""
    plain = {"id": "job_1", "session": "ses_1", "state": "running", "stage": "execute", "waits_for": "", "cause": ""}
    since = {"agent_began_at": None, "started_at": None, "created_at": NOW, "epoch": 1}
    return JobRow.model_validate(_filled(JobRow) | plain | since | more)


def an_ask(**more: Any) -> AskRow:
    plain = {"session": "ses_1", "subject": "job_1", "kind": AskKind.APPROVE_PLAN, "state": AskState.OPEN}
    return AskRow.model_validate(_filled(AskRow) | plain | more)


def timer(job: str = "job_1", kind: str = "job") -> TimerRow:
    return TimerRow(id=f"{kind}:{job}", kind=kind, subject=job, due_at=NOW + timedelta(minutes=14))


def said(job: JobRow, *rows: AskRow | TimerRow) -> str:
    asks = [row for row in rows if isinstance(row, AskRow)]
    timers = [row for row in rows if isinstance(row, TimerRow)]
    standing = standing_of(job, asks, timers)
    return f"{standing.path.value}: {standing.said(lambda at: f'{at:%H:%M}')}"


@pytest.mark.parametrize(
    ("job", "rows", "sentence"),
    [
        ({"worker": "host-1-a", "started_at": NOW}, (), "live: running execute since 02:00"),
        ({"worker": ""}, (), "stranded: running execute"),
        ({"state": JobState.QUEUED, "epoch": 2}, (), "queued: waits for its turn"),
        ({"state": JobState.STOPPING}, (), "live: is stopping"),
        (
            {"state": JobState.WAITING, "stage": Stage.APPROVE},
            (an_ask(number=3, due_at=NOW + timedelta(minutes=10)),),
            "waits: waits for you: ask 3 until 02:10",
        ),
        (
            {"state": JobState.WAITING, "cause": "transient"},
            (timer(),),
            "recovers: backs off, because a service was busy or slow, until 02:14",
        ),
        (
            {"state": JobState.WAITING, "cause": "limit"},
            (timer(),),
            "waits: waits for the provider's limit until 02:14",
        ),
        (
            {"state": JobState.WAITING, "cause": "auth"},
            (an_ask(number=5, subject="job_9", kind=AskKind.GUIDANCE_ERROR, due_at=None),),
            "waits: waits for you: ask 5",
        ),
        (
            {"state": JobState.WAITING, "cause": "budget", "waits_for": "It is spent."},
            (an_ask(state=AskState.ANSWERED), timer("job_2"), timer(kind="box")),
            "stranded: waits: It is spent.",
        ),
        ({"state": JobState.DONE}, (), "over: done"),
    ],
)
def test_each_job_says_how_it_gets_on(job: dict[str, Any], rows: tuple[Any, ...], sentence: str) -> None:
    assert said(a_job(**job), *rows) == sentence


@given(st.sampled_from(JobState), st.sampled_from(Stage), st.sampled_from(["", "auth", "limit", "transient", "budget"]))
def test_without_an_ask_or_a_timer_a_waiting_job_is_always_found(state: JobState, stage: Stage, cause: str) -> None:
    path = standing_of(a_job(state=state, stage=stage, cause=cause, worker="host-1-a"), (), ()).path
    assert (path is Path.STRANDED) == (state is JobState.WAITING)
    assert (path is Path.OVER) == state.over
