"""No budget is passed by more than what was in flight: each kind of budget, to the last micro-dollar."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midwatch.journal.entry import Entry
from midwatch.journal.events.crew import ModelCalled
from midwatch.rules.budget.reservation import Held
from midwatch.rules.budget.spending import Amount
from midwatch.rules.invariants.records_seen import RecordsSeen
from midwatch.rules.invariants.spending import within_ceilings
from midwatch.terms.agents import Tokens
from midwatch.terms.contract import Constraints
from midwatch.terms.orders import Limits, Orders
from midwatch.terms.records import JobRow, RunRow, SessionRow
from tests.journal.samples import _filled, sample

LIMIT = 1_000_000
NOW = datetime(2026, 3, 1, 21, tzinfo=UTC)


def called(job: str, usd: int) -> Entry:
    event = sample(ModelCalled, job=job, usd_micros=usd, tokens=Tokens(output=1))
    return Entry(seq=1, at=NOW, actor="midwatch", key="k", because=(), event=event)


def seen(first: int, second: int, *, run: int = LIMIT, night: int = LIMIT, held: int = 0) -> RecordsSeen:
    """Two jobs of one run of one night, with what they have spent."""
    run_row = RunRow.model_validate(_filled(RunRow) | {"id": "run_1"})
    bounds = Constraints(max_usd_micros=run, max_tokens=10**9)
    contract = run_row.contract.model_copy(update={"constraints": bounds})
    orders = Orders(limits=Limits(usd=night / 1_000_000))
    spent = {
        "run": "run_1",
        "session": "ses_1",
        "tokens": 0,
        "requests": 0,
        "granted_usd_micros": 0,
        "granted_tokens": 0,
        "granted_requests": 0,
    }
    jobs = [
        JobRow.model_validate(_filled(JobRow) | spent | {"id": f"job_{n}", "number": n, "usd_micros": usd})
        for n, usd in ((1, first), (2, second))
    ]
    night_row = {"id": "ses_1", "number": 3, "ad_hoc": False, "orders": orders}
    return RecordsSeen(
        sessions=(SessionRow.model_validate(_filled(SessionRow) | night_row),),
        runs=(run_row.model_copy(update={"contract": contract}),),
        jobs=tuple(jobs),
        held=(Held("job_1", "run_1", "ses_1", Amount(held, 0, 1)),) if held else (),
    )


def told(entries: list[Entry], records: RecordsSeen) -> list[str]:
    return [text.partition(" has")[0] for text, _ in within_ceilings(entries, records)]


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        (seen(LIMIT, 0), []),
        (seen(LIMIT + 70, 0), []),
        (seen(LIMIT + 71, 0, night=2 * LIMIT), ["job 1"]),
        (seen(LIMIT // 2, LIMIT // 2 + 100), []),
        (seen(LIMIT // 2, LIMIT // 2 + 101), ["run run_1", "Night 3"]),
        (seen(LIMIT // 2, LIMIT // 2 + 101, run=2 * LIMIT), ["Night 3"]),
        (seen(LIMIT // 2, LIMIT // 2 + 101, night=2 * LIMIT), ["run run_1"]),
    ],
)
def test_one_request_of_each_job_may_go_over_and_not_a_micro_dollar_more(
    records: RecordsSeen, expected: list[str]
) -> None:
    """The dearest request of the first job came to 70, of the second to 30; the run pays for both."""
    entries = [called("job_1", 70), called("job_1", 5), called("job_2", 30)]
    assert told(entries, records) == expected


def test_what_is_set_aside_counts_and_is_itself_in_flight() -> None:
    assert told([], seen(LIMIT - 1, 0, held=10**9)) == [], "alone in its budget, as long as anything is left"
    assert told([], seen(LIMIT, 0, held=500)) == []
    assert told([], seen(LIMIT + 1, 0, held=500)) == ["job 1", "run run_1", "Night 3"]


def test_what_a_person_granted_may_be_spent_by_that_job_and_not_by_its_night() -> None:
    records = seen(LIMIT + 50, 0)
    granted = records.jobs[0].model_copy(update={"granted_usd_micros": 50})
    assert told([], replace(records, jobs=(granted, records.jobs[1]))) == ["Night 3"]


@given(st.lists(st.tuples(st.sampled_from(["job_1", "job_2"]), st.integers(0, 400_000)), max_size=30))
def test_whoever_stops_at_the_line_never_breaks_it(requests: list[tuple[str, int]]) -> None:
    spent, entries = {"job_1": 0, "job_2": 0}, []
    for job, usd in requests:
        if sum(spent.values()) < LIMIT:
            spent[job] += usd
            entries.append(called(job, usd))
    assert told(entries, seen(*spent.values())) == []
