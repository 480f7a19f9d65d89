"""What may follow what: an event that does not fit the state is refused, and leaves nothing behind."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
import sqlalchemy as sa

from midwatch.errors import MidwatchError, Refused, Stale, Unknown
from midwatch.journal.events import Event, jobs, morning, projects, session
from midwatch.journal.follows import follows
from midwatch.journal.upcasts import read_event, write_event
from midwatch.store.rebuild import rebuild
from midwatch.terms.jobs import JobState, Stage
from midwatch.terms.records import AskRow, JobRow, ProjectRow, SessionRow, StepRow, TimerRow
from midwatch.terms.report import Review
from tests.store import scenes
from tests.store.opened import Store
from tests.store.scenes import AT_WORK, NIGHT, UNDER_WAY, of

Case = tuple[Sequence[Event], Event, type[MidwatchError], str]
PAUSE, RESUME = session.SessionPaused(session=NIGHT, why="rest"), session.SessionResumed(session=NIGHT)
DEBRIEF, END = session.SessionDebriefing(session=NIGHT, reason="time"), session.SessionEnded(session=NIGHT, reason="")
JUDGED = of(session.ActJudged, act="act_1", session=NIGHT)
DONE = session.ActEnded(act="act_1", end="done", text="")
EXPIRED = of(session.AskExpired, ask="ask_1")
TOLD = of(session.NoticeRaised, notice="ntc_1")
SENT = session.NoticeSent(notice="ntc_1", channel="log")
CALLED, OVER = of(session.ToolCalled, invocation="inv_1"), of(session.ToolFinished, invocation="inv_1")
PROPOSED, APPLIED = of(projects.SettingsProposed, proposal="set_1"), projects.SettingsApplied(proposal="set_1")
GOAL, REACHED = of(projects.GoalSet, goal="gol_1"), projects.GoalClosed(goal="gol_1", status="reached")
RUN, FINISHED = of(jobs.RunStarted, run="run_1"), of(jobs.RunFinished, run="run_1")
STOP = jobs.JobStopRequested(job="job_1", by="ann", why="enough")
MERGED, CLOSED = (of(kind, pull_request="pr_1") for kind in (jobs.PullRequestMerged, jobs.PullRequestClosed))
DELIVERED = (*AT_WORK, scenes.delivered(2))
WORKED = (*AT_WORK, scenes.approved(), scenes.claim(3, Stage.EXECUTE), scenes.executed(3))
REVIEW = Review.model_validate({"usefulness": 3, "trust": 3, "brevity": 3, "outcomes": [
    {"recommendation": "nobody's", "outcome": "accepted"}]})  # fmt: skip

CASES: dict[str, Case] = {
    "a second project of that name": ([scenes.project()], scenes.project(id_="prj_2"), Refused, "sample"),
    "changing a removed project": (
        [scenes.project(), projects.ProjectRemoved(project="prj_1")],
        projects.ProjectChanged(project="prj_1", priority=1),
        Stale,
        "projects",
    ),
    "changing work nobody wrote down": ([], projects.WorkChanged(item="wrk_1", priority=1), Stale, "work_items"),
    "closing a goal twice": ([GOAL, REACHED], REACHED, Stale, "goals"),
    "applying settings twice": ([PROPOSED, APPLIED], APPLIED, Stale, "settings"),
    "discarding applied settings": (
        [PROPOSED, APPLIED],
        projects.SettingsDiscarded(proposal="set_1"),
        Stale,
        "settings",
    ),
    "a briefing during a night": (UNDER_WAY, scenes.brief("ses_2"), Refused, "Night 1 is under way"),
    "the same briefing twice": ([scenes.brief()], scenes.brief(), Stale, "ses_1 already exists"),
    "starting unsigned": ([scenes.brief()], scenes.begin(), Stale, "not signed"),
    "starting what nobody opened": ([], scenes.begin(), Unknown, "no session ses_1"),
    "starting twice": (UNDER_WAY, scenes.begin(), Stale, "sessions"),
    "editing signed orders": (
        [scenes.brief(), scenes.sign()],
        of(session.OrdersChanged, session=NIGHT),
        Stale,
        "sessions",
    ),
    "signing a night under way": (UNDER_WAY, scenes.sign(), Stale, "sessions"),
    "pausing a briefing": ([scenes.brief()], PAUSE, Stale, "sessions"),
    "pausing twice": ([*UNDER_WAY, PAUSE], PAUSE, Stale, "sessions"),
    "resuming what goes on": (UNDER_WAY, RESUME, Stale, "sessions"),
    "debriefing twice": ([*UNDER_WAY, DEBRIEF], DEBRIEF, Stale, "sessions"),
    "debriefing a briefing": ([scenes.brief()], DEBRIEF, Stale, "sessions"),
    "ending twice": ([*UNDER_WAY, END], END, Stale, "sessions"),
    "a round while one is active": ([*UNDER_WAY, scenes.call(1)], scenes.call(2), Stale, "round_active"),
    "a round while paused": ([*UNDER_WAY, PAUSE], scenes.call(1), Stale, "sessions"),
    "a round out of count": (UNDER_WAY, scenes.call(2), Stale, "sessions"),
    "a round in the debrief": ([*UNDER_WAY, DEBRIEF], scenes.call(1), Stale, "sessions"),
    "planning a round twice": (
        [*UNDER_WAY, scenes.call(1), of(session.RoundPlanned, session=NIGHT, number=1)],
        of(session.RoundPlanned, session=NIGHT, number=1),
        Stale,
        "rounds",
    ),
    "ending a round twice": ([*UNDER_WAY, scenes.call(1), scenes.end_round(1)], scenes.end_round(1), Stale, "rounds"),
    "ending an act twice": ([*UNDER_WAY, JUDGED, DONE], DONE, Stale, "acts"),
    "judging an act twice": ([*UNDER_WAY, JUDGED], JUDGED, Stale, "act_1 already exists"),
    "answering twice": ([scenes.ask(), scenes.answer()], scenes.answer("no", "bob"), Refused, "answered 'yes' by ann"),
    "answering after silence": ([scenes.ask(), EXPIRED], scenes.answer(), Refused, "by silence"),
    "silence after an answer": ([scenes.ask(), scenes.answer()], EXPIRED, Refused, "settled already"),
    "answering nothing": ([], scenes.answer(), Unknown, "no ask ask_1"),
    "sending a notice twice": ([TOLD, SENT], SENT, Stale, "notices"),
    "finishing an effect twice": ([CALLED, OVER], OVER, Stale, "tool_invocations"),
    "finishing a run twice": ([RUN, FINISHED], FINISHED, Stale, "runs"),
    "a second job in a project": (AT_WORK, scenes.job("job_2"), Stale, "Job 1 is running"),
    "claiming an epoch twice": (AT_WORK[:6], scenes.claim(1), Stale, "epoch"),
    "skipping an epoch": (AT_WORK[:5], scenes.claim(2), Stale, "epoch"),
    "claiming a stage that is past": (AT_WORK, scenes.claim(3, Stage.MIRROR), Stale, "it is at approve"),
    "speaking for a superseded epoch": ([*AT_WORK[:6], scenes.claim(2)], scenes.prepared(1), Stale, "epoch 1"),
    "preparing twice": (AT_WORK[:7], scenes.prepared(1), Stale, "stage mirror or setup"),
    "working before approval": (AT_WORK, scenes.executed(2), Stale, "stage execute"),
    "approving another plan": (AT_WORK, scenes.approved("p2"), Stale, "plan_hash"),
    "approving twice": ([*AT_WORK, scenes.approved()], scenes.approved(), Stale, "stage approve"),
    "verifying before quarantine": (WORKED, scenes.verified(3), Stale, "stage verify"),
    "stumbling at another stage": (
        WORKED,
        of(jobs.JobStumbled, job="job_1", epoch=3, stage=Stage.PLAN),
        Stale,
        "stage plan",
    ),
    "claiming a job that is over": ([*AT_WORK, scenes.ended(2)], scenes.claim(3, Stage.APPROVE), Stale, "jobs"),
    "ending a job twice": ([*AT_WORK, scenes.ended(2)], scenes.ended(2), Stale, "jobs"),
    "stopping a job that is over": ([*AT_WORK, scenes.ended(2)], STOP, Stale, "jobs"),
    "delivering for a superseded epoch": (AT_WORK, scenes.delivered(1), Stale, "not the newest"),
    "delivering twice": (DELIVERED, scenes.delivered(2, "pr_2"), Stale, "delivered already"),
    "merging twice": ([*DELIVERED, MERGED], MERGED, Stale, "pull_requests"),
    "closing what was merged": ([*DELIVERED, MERGED], CLOSED, Stale, "pull_requests"),
    "scoring an unknown run": ([], of(morning.RunScored, run="run_9"), Unknown, "no run run_9"),
    "a verdict on somebody else's advice": (
        UNDER_WAY,
        morning.ReviewSubmitted(session=NIGHT, by="ann", review=REVIEW),
        Stale,
        "recommendation",
    ),
}


async def test_what_does_not_fit_is_refused_and_leaves_nothing_behind(store: Store, subtests: pytest.Subtests) -> None:
    for case, (history, event, error, words) in CASES.items():
        store.empty()
        with subtests.test(case):
            if history:
                await store.journal.record(*history)
            before, head = store.everything(), await store.records.head()
            with pytest.raises(error, match=words) as refused:
                await store.journal.record(event)
            assert refused.value.hint
            assert store.everything() == before
            assert await store.records.head() == head


STAGE_HISTORY: list[tuple[Stage, Event]] = [
    (Stage.MIRROR, scenes.mirrored(1)),
    (Stage.SETUP, scenes.prepared(2)),
    (Stage.PLAN, scenes.planned(3)),
    (Stage.APPROVE, scenes.approved()),
    (Stage.EXECUTE, scenes.executed(4)),
    (Stage.BUNDLE, of(jobs.JobBundled, job="job_1", epoch=5)),
    (Stage.QUARANTINE, of(jobs.JobQuarantined, job="job_1", epoch=6)),
    (Stage.VERIFY, scenes.verified(7, repair=True)),
    (Stage.REPAIR, of(jobs.JobRepaired, job="job_1", epoch=8, round=1, work_epoch=0)),
    (Stage.BUNDLE, of(jobs.JobBundled, job="job_1", epoch=9)),
    (Stage.QUARANTINE, of(jobs.JobQuarantined, job="job_1", epoch=10)),
    (Stage.VERIFY, scenes.verified(11)),
    (Stage.DELIVER, of(jobs.JobDelivered, job="job_1", epoch=12)),
    (Stage.PULL_REQUEST, scenes.delivered(13)),
]


async def test_the_stage_that_is_queued_is_the_stage_the_job_is_at(store: Store) -> None:
    await store.journal.record(*UNDER_WAY, scenes.job())
    epoch = 0
    for stage, event in STAGE_HISTORY:
        if stage is not Stage.APPROVE:
            epoch += 1
            await store.journal.record(scenes.claim(epoch, stage))
        await store.journal.record(event)
        row = await store.records.get(JobRow, "job_1")
        queued: list[Any] = [work.args["stage"] for work in follows(event)]
        assert queued == ([] if row.state is JobState.WAITING else [row.stage.value])
    row = await store.records.get(JobRow, "job_1")
    assert (row.stage, row.repairs, row.work_epoch) == (Stage.NOTICE, 1, 8)
    steps = await store.records.find(StepRow, job="job_1")
    assert [step.stage for step in steps] == [stage for stage, _ in STAGE_HISTORY]
    assert {step.state for step in steps} == {"done"}


async def test_a_journal_from_when_stages_were_fewer_is_still_read(store: Store) -> None:
    history = [
        *(scenes.claim(1), scenes.prepared(1), scenes.claim(2, Stage.PLAN), scenes.planned(2), scenes.approved()),
        *(scenes.claim(3, Stage.EXECUTE), scenes.executed(3), scenes.claim(4, Stage.QUARANTINE)),
        *(of(jobs.JobQuarantined, job="job_1", epoch=4), scenes.claim(5, Stage.VERIFY), scenes.verified(5)),
        *(scenes.claim(6, Stage.DELIVER), scenes.delivered(6), scenes.ended(6)),
    ]
    await store.journal.record(*UNDER_WAY, scenes.job(), *history)
    row = await store.records.get(JobRow, "job_1")
    assert (row.stage, row.state) == (Stage.DELIVER, JobState.DONE)
    assert read_event("job.claimed", {**write_event(scenes.claim(1)), "stage": "prepare"}) == scenes.claim(1)


async def test_an_attempt_that_another_replaced_is_told_as_lost(store: Store) -> None:
    waits = of(jobs.JobWaits, job="job_1", epoch=2, stage=Stage.MIRROR, attempt=1, why="the limit resets")
    await store.journal.record(*UNDER_WAY, scenes.job(), scenes.claim(1), scenes.claim(2), waits)
    steps = await store.records.find(StepRow, job="job_1")
    assert [(step.number, step.state, step.said) for step in steps] == [
        (1, "lost", "Another attempt took over."),
        (2, "waits", "the limit resets"),
    ]
    assert all(step.ended_at and step.ended_seq for step in steps)


async def test_a_newer_briefing_replaces_an_older_one(store: Store) -> None:
    await store.journal.record(scenes.brief("ses_1"))
    await store.journal.record(scenes.brief("ses_2"))
    assert [(row.state, row.number) for row in await store.records.find(SessionRow)] == [("ended", 0), ("briefing", 0)]


async def test_a_night_is_numbered_when_it_is_signed_and_a_command_never(store: Store) -> None:
    await store.journal.record(scenes.brief("ses_1"))
    await store.journal.record(scenes.command("ses_2"), scenes.sign("ses_2"))
    await store.journal.record(scenes.brief("ses_3"), scenes.sign("ses_3"), scenes.begin("ses_3"))
    await store.journal.record(session.SessionDebriefing(session="ses_3", reason="time"))
    await store.journal.record(scenes.brief("ses_4"), scenes.sign("ses_4"))
    rows = await store.records.find(SessionRow)
    assert [(row.id, row.number) for row in rows] == [("ses_1", 0), ("ses_2", 0), ("ses_3", 1), ("ses_4", 2)]
    with pytest.raises(Unknown):
        await store.records.get(SessionRow, "0")


async def test_sessions_of_an_older_journal_keep_the_numbers_that_people_know(store: Store) -> None:
    """They were counted as they opened: nights, drafts and commands alike."""
    for event in (scenes.brief("ses_1"), scenes.brief("ses_2"), scenes.command("ses_3")):
        await store.journal.record(event.model_copy(update={"numbered": True}))
    await store.journal.record(scenes.sign("ses_2"))
    before = store.everything()
    with store.behind() as connection:
        opened_then = sa.text("select seq, payload from journal where kind = 'session.opened'")
        for seq, payload in connection.execute(opened_then).all():
            body = {name: value for name, value in json.loads(payload).items() if name != "numbered"}
            told = {"seq": seq, "payload": json.dumps(body)}
            connection.execute(sa.text("update journal set payload = :payload where seq = :seq"), told)
        rebuild(connection)
    assert store.everything() == before
    await store.journal.record(scenes.sign("ses_3"), scenes.command("ses_4"))
    await store.journal.record(scenes.brief("ses_5"), scenes.sign("ses_5"))
    assert [row.number for row in await store.records.find(SessionRow)] == [1, 2, 3, 0, 4]


async def test_the_name_of_a_removed_project_is_free_again(store: Store) -> None:
    await store.journal.record(scenes.project(), projects.ProjectRemoved(project="prj_1"), scenes.project(id_="prj_2"))
    assert (await store.records.get(ProjectRow, "sample")).id == "prj_2"


async def test_settling_an_ask_clears_its_timer_and_calls_a_round(store: Store) -> None:
    await store.journal.record(*UNDER_WAY, scenes.call(1), scenes.end_round(1), scenes.ask())
    assert {row.id for row in await store.records.find(TimerRow)} == {"ask:ask_1", f"round:{NIGHT}", f"limit:{NIGHT}"}
    (entry,) = await store.journal.record(scenes.answer())
    timers = {row.id: row.due_at for row in await store.records.find(TimerRow)}
    assert set(timers) == {f"round:{NIGHT}", f"limit:{NIGHT}"}
    assert timers[f"round:{NIGHT}"] == entry.at
    assert (await store.records.get(AskRow, "1")).settled_at == entry.at


async def test_what_happens_during_a_round_is_thought_about_right_after_it(store: Store) -> None:
    await store.journal.record(*UNDER_WAY, scenes.ask(), scenes.call(1), scenes.answer())
    assert (await store.records.get(SessionRow, NIGHT)).round_wanted
    (entry,) = await store.journal.record(scenes.end_round(1))
    night = await store.records.get(SessionRow, NIGHT)
    assert (night.next_round_at, night.round_wanted) == (entry.at, False)


async def test_a_stopping_job_stays_so_when_it_is_claimed(store: Store) -> None:
    await store.journal.record(*AT_WORK[:7], STOP, scenes.claim(2, Stage.PLAN))
    assert (await store.records.get(JobRow, "job_1")).state is JobState.STOPPING
