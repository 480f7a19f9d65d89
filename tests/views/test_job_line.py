"""One job in a line, money in words, and what providers have left."""

from datetime import timedelta

import pytest

from midwatch.terms.contract import Constraints, RunContract
from midwatch.terms.figures import dollars, many, micros
from midwatch.terms.records import FuelRow
from midwatch.views.pages.job_line import job_line, spent_by
from midwatch.views.text.quota import fuel_shown
from tests.views.test_live import DUSK, a_job

BOUNDS = Constraints(max_runtime_minutes=60, max_usd_micros=5_000_000)
CONTRACT = RunContract(project_id="p", mission_id="m", objective="Tidy", constraints=BOUNDS)
SPENT = {"usd_micros": 420_000, "tokens": 38_210, "requests": 12, "model": "sonnet"}
NIGHT = DUSK + timedelta(hours=8)


def test_a_job_at_work_says_phase_requests_tokens_dollars_and_minutes_left() -> None:
    began = DUSK - timedelta(minutes=5)
    job = a_job(stage="execute", agent_began_at=began, ran_seconds=180, **SPENT)
    line = job_line(job, DUSK, CONTRACT, night_ends_at=NIGHT)
    assert line.said == "at work · 12 requests · 38.2 k tokens · $0.42 of $5 · up to 52 min left"
    assert (line.ended_by, line.ends_at) == ("its time", DUSK + timedelta(minutes=52))


def test_the_end_of_the_night_comes_first_where_it_is_nearer() -> None:
    job = a_job(stage="execute", agent_began_at=DUSK)
    line = job_line(job, DUSK, CONTRACT, night_ends_at=DUSK + timedelta(seconds=90))
    assert (line.ended_by, line.minutes_left) == ("the night", 1)
    over_time = job_line(job, DUSK + timedelta(hours=2), CONTRACT, night_ends_at=NIGHT)
    assert over_time.left == "under a minute left"


def test_a_job_no_model_drives_speaks_of_no_requests_and_of_the_night_only() -> None:
    line = job_line(a_job(stage="verify"), DUSK, CONTRACT, night_ends_at=DUSK + timedelta(minutes=30))
    assert line.said == "its work is checked · up to 30 min left"


def test_a_plan_has_its_own_budget_and_a_grant_is_on_top() -> None:
    plan = a_job(stage="plan", **SPENT)
    assert job_line(plan, DUSK, CONTRACT, planning_usd_micros=1_000_000).spent[-1] == "$0.42 of $1"
    assert job_line(plan, DUSK, CONTRACT, planning_usd_micros=9_000_000).spent[-1] == "$0.42 of $5"
    granted = a_job(stage="plan", granted_usd_micros=500_000, **SPENT)
    assert job_line(granted, DUSK, CONTRACT, planning_usd_micros=1_000_000).max_usd_micros == 1_500_000
    work = a_job(stage="execute", granted_usd_micros=500_000, **SPENT)
    assert job_line(work, DUSK, CONTRACT, planning_usd_micros=1_000_000).spent[-1] == "$0.42 of $5.50"


@pytest.mark.parametrize(
    ("state", "stage", "said"),
    [
        ("queued", "plan", "waits for its turn"),
        ("waiting", "approve", "waits for approval"),
        ("waiting", "execute", "waits · The limit resets soon."),
        ("stopping", "execute", "stopping · The limit resets soon."),
        ("done", "deliver", "done"),
        ("failed", "verify", "failed at verify"),
    ],
)
def test_who_is_not_at_work_has_no_time_to_lose(state: str, stage: str, said: str) -> None:
    waits = "The limit resets soon." if "limit" in said else ""
    job = a_job(state=state, stage=stage, agent_began_at=DUSK, waits_for=waits)
    assert job_line(job, DUSK, CONTRACT, night_ends_at=NIGHT).said == said


def test_what_jobs_spent_adds_up() -> None:
    spent = spent_by([a_job(**SPENT), a_job(**SPENT), a_job()])
    assert (spent.requests, spent.tokens, spent.usd_micros) == (24, 76_420, 840_000)
    assert spent_by([a_job()]).parts == ()


@pytest.mark.parametrize(
    ("amount", "said"),
    [(0, "$0"), (1, "under $0.0001"), (4_200, "$0.0042"), (9_970, "$0.01"), (420_000, "$0.42"), (1_200_000, "$1.20"),
     (5_000_000, "$5"), (1_234_567_890, "$1,234.57")],
)  # fmt: skip
def test_money_is_said_as_people_say_it(amount: int, said: str) -> None:
    assert dollars(amount) == said


@pytest.mark.parametrize(
    ("number", "said"),
    [(0, "0"), (9_210, "9,210"), (38_210, "38.2 k"), (60_000, "60 k"), (999_499, "999 k"), (999_500, "1 M"),
     (1_490_000, "1.49 M"), (20_000_000, "20 M"), (1_200_000_000, "1,200 M")],
)  # fmt: skip
def test_large_counts_are_short(number: int, said: str) -> None:
    assert many(number) == said


def test_dollars_become_millionths_without_losing_one() -> None:
    assert [micros(usd) for usd in (0.29, 0.57, 1.1, 50)] == [290_000, 570_000, 1_100_000, 50_000_000]


def a_reading(limit: str, left: float | None, hours: float | None, *, rejected: bool = False) -> FuelRow:
    resets = DUSK + timedelta(hours=hours) if hours is not None else None
    return FuelRow(
        id=limit, provider="anthropic", limit=limit, remaining=left, resets_at=resets, rejected=rejected, read_at=DUSK
    )


def test_a_reading_is_worth_nothing_once_its_limit_has_reset() -> None:
    rows = [a_reading("5h", 0.0, -1, rejected=True), a_reading("7d", 0.62, 90), a_reading("retry-after", 0.0, -1)]
    shown = fuel_shown(rows, DUSK)
    assert [(one.limit, one.said, one.refused, one.left) for one in shown] == [
        ("7-day", "62 % left", False, 0.62),
        ("5-hour", "has reset since", False, None),
    ]


def test_what_is_refused_now_comes_first_and_what_nobody_told_is_not_known() -> None:
    rows = [
        a_reading("requests", None, None),
        a_reading("input-tokens", 0.4, 1),
        a_reading("5h", 0.9, 2, rejected=True),
    ]
    assert [(one.limit, one.said) for one in fuel_shown(rows, DUSK)] == [
        ("5-hour", "refused now"),
        ("input tokens", "40 % left"),
        ("requests", "not known"),
    ]
