"""Which work follows an event is a total function of the event."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from midwatch.journal.events import Event, stack
from midwatch.journal.events import jobs as ev
from midwatch.journal.events import session as night
from midwatch.journal.events.jobs import JobBoxed
from midwatch.journal.events.notices import PushBegun
from midwatch.journal.events.preflight import PreflightBegun, PreflightEnded, SigningAsked
from midwatch.journal.follows import QueuedWork, follows
from midwatch.terms.asks import Tier
from midwatch.terms.jobs import Stage
from tests.journal.samples import KINDS, events, sample

STAGES: list[tuple[type[Event], dict[str, Any], Stage]] = [
    (ev.JobCreated, {"stage": Stage.MIRROR}, Stage.MIRROR),
    (ev.JobCreated, {"stage": Stage.EXECUTE}, Stage.EXECUTE),
    (ev.JobMirrored, {}, Stage.SETUP),
    (ev.JobPrepared, {}, Stage.PLAN),
    (ev.PlanReturned, {}, Stage.PLAN),
    (ev.JobApproved, {}, Stage.EXECUTE),
    (ev.JobExecuted, {}, Stage.BUNDLE),
    (ev.JobBundled, {}, Stage.QUARANTINE),
    (ev.JobQuarantined, {}, Stage.VERIFY),
    (ev.JobVerified, {"repair": True}, Stage.REPAIR),
    (ev.JobVerified, {"repair": False}, Stage.DELIVER),
    (ev.JobRepaired, {}, Stage.BUNDLE),
    (ev.JobDelivered, {}, Stage.PULL_REQUEST),
    (ev.PullRequestOpened, {}, Stage.NOTICE),
]
OTHERS: list[tuple[type[Event], dict[str, Any], QueuedWork]] = [
    (night.RoundCalled, {"session": "s", "number": 3}, QueuedWork("round", {"session": "s", "number": 3})),
    (night.AskAnswered, {"ask": "a"}, QueuedWork("settle", {"ask": "a"})),
    (night.AskExpired, {"ask": "a"}, QueuedWork("settle", {"ask": "a"})),
    (night.SessionDebriefing, {"session": "s"}, QueuedWork("debrief", {"session": "s"})),
    (stack.StackBegun, {"stack": "k"}, QueuedWork("stack", {"stack": "k"})),
    (stack.StackMade, {"session": "s"}, QueuedWork("debrief", {"session": "s"})),
    (ev.RunFinished, {"session": "s"}, QueuedWork("debrief", {"session": "s"})),
    (ev.JobEnded, {"job": "j"}, QueuedWork("close", {"job": "j"})),
    (ev.JobStopRequested, {"job": "j"}, QueuedWork("halt", {"job": "j"})),
    (JobBoxed, {"job": "j"}, QueuedWork("halt", {"job": "j"})),
    (PreflightBegun, {"preflight": "p"}, QueuedWork("preflight", {"preflight": "p"})),
    (PreflightEnded, {"preflight": "p"}, QueuedWork("sign", {"preflight": "p"})),
    (SigningAsked, {"preflight": "p"}, QueuedWork("sign", {"preflight": "p"})),
    (PushBegun, {"push": "p"}, QueuedWork("push", {"push": "p"})),
    (night.NoticeRaised, {"notice": "n", "tier": Tier.URGENT}, QueuedWork("tell", {"notice": "n"})),
]
NAMES = {"stage", *(work.name for _, _, work in OTHERS)}
WORKERS = {kind for kind, _, _ in STAGES} | {kind for kind, _, _ in OTHERS} | {ev.JobStumbled, ev.JobWoken}


@pytest.mark.parametrize(("kind", "given", "stage"), STAGES)
def test_each_stage_event_queues_exactly_the_next_stage(kind: type[Event], given: dict[str, Any], stage: Stage) -> None:
    event = sample(kind, job="job_1", **given)
    assert follows(event) == (QueuedWork("stage", {"job": "job_1", "stage": stage.value, "attempt": 1}),)


@pytest.mark.parametrize("stage", Stage)
def test_a_stumble_queues_the_same_stage_once_more(stage: Stage) -> None:
    event = sample(ev.JobStumbled, job="job_1", stage=stage, attempt=4)
    assert follows(event) == (QueuedWork("stage", {"job": "job_1", "stage": stage.value, "attempt": 5}),)


@pytest.mark.parametrize("stage", Stage)
def test_a_job_that_wakes_goes_on_at_its_stage(stage: Stage) -> None:
    event = sample(ev.JobWoken, job="job_1", stage=stage, attempt=2)
    assert follows(event) == (QueuedWork("stage", {"job": "job_1", "stage": stage.value, "attempt": 2}),)


@pytest.mark.parametrize(("kind", "given", "work"), OTHERS)
def test_what_else_is_queued(kind: type[Event], given: dict[str, Any], work: QueuedWork) -> None:
    assert follows(sample(kind, **given)) == (work,)


def test_a_notice_for_the_log_wakes_nobody() -> None:
    assert follows(sample(night.NoticeRaised, tier=Tier.LOG)) == ()


@pytest.mark.parametrize("kind", [name for name, kind in KINDS.items() if kind not in WORKERS])
def test_all_other_events_queue_nothing(kind: str) -> None:
    assert follows(sample(KINDS[kind])) == ()


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(data=st.data())
def test_work_has_a_known_name_once_and_plain_arguments(data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from(sorted(WORKERS, key=str)))
    work = follows(data.draw(events(kind)))
    names = [one.name for one in work]
    assert len(names) == len(set(names))  # the queue names a workflow after its work and the entry
    assert set(names) <= NAMES
    assert all(json.loads(json.dumps(one.args)) == one.args for one in work)
