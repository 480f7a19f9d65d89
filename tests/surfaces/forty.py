"""A night at forty jobs in eight projects with fifteen open asks, written down as the night writes it."""

import shutil
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Final, Literal

from midwatch.compose.house import House
from midwatch.journal.events import Event
from midwatch.journal.events import jobs as ev
from midwatch.journal.events import session as se
from midwatch.journal.events.crew import AgentBegan
from midwatch.journal.events.signals import MilestoneReached
from midwatch.rules.gate import council
from midwatch.rules.gate.gate import judge
from midwatch.terms.acts import ActKind, Proposal
from midwatch.terms.agents import Errand
from midwatch.terms.asks import AskDraft, AskKind, Silence, held_question
from midwatch.terms.contract import RunContract
from midwatch.terms.facts import Facts, ProjectFacts
from midwatch.terms.jobs import Done, Plan, RepositoryFacts, Stage
from midwatch.terms.orders import OrderedWork
from midwatch.terms.records import JobRow, SessionRow
from midwatch.terms.trust import Isolation, Level
from tests.nights.house import TestHouse, orders, sample_repository
from tests.surfaces.doings import WHY, called, decided

State = Literal["done", "failed", "stopped", "declined", "nothing_delivered"]
PROJECTS: Final = ("api", "billing", "cli", "docs-site", "mobile", "search", "storefront", "warehouse")
TITLES: Final = (
    "Give line and column in every parse error",
    "Replace the home-made retry loop by tenacity",
    "Remove unused imports",
    "Add a test for the empty cart",
    "Make the export stream instead of building one large list in memory first",
)
TIMED_OUT: Final = ("failed", "The provider did not answer: network timed out.")
FAILED: Final[tuple[tuple[State, str], ...]] = (
    ("failed", "The checks are red: 3 of 41 tests fail after 3 repairs. tests/test_cart.py::test_empty"),
    ("nothing_delivered", "The agent said it was done and committed nothing."),
    ("failed", "The agent ended with exit code 1. Its last words: cannot find module './retry'"),
    ("declined", "The plan was rejected by ann: too broad."),
    ("stopped", "Stopped by ann; its work is kept."),
    ("failed", "Quarantine refused it: it changes .github/workflows/release.yml, which is not to be touched."),
)
ENDED: Final = 28
ALIVE: Final = 8
"""Of the forty items, and four have not begun. Six of the ended ones failed once before: so there are 42 jobs."""
CHECKED_IN: Final = "19 of 40 done, 6 at work. $4.40 of $50.00 spent. Next: the export of warehouse."
PLAN: Final = Plan(
    summary="Change one function and add a test, in one commit.",
    files=("sample/greet.py", "sample/cart.py", "tests/test_cart.py", "README.md"),
    approach=("Read the callers.", "Change the function.", "Add a test that fails today."),
    risks=("Callers outside the repository may rely on the old text.",),
    estimate_files=4,
    estimate_lines=60,
)


async def forty_items(house: TestHouse, folder: Path) -> tuple[OrderedWork, ...]:
    """Add eight projects; give five works for each."""
    first = sample_repository(folder / PROJECTS[0])
    for name in PROJECTS:
        if name != PROJECTS[0]:
            shutil.copytree(first, folder / name)
        await house.project(folder / name, name=name)
    return tuple(OrderedWork(project=name, title=title) for title in TITLES for name in PROJECTS)


async def forty_jobs(house: TestHouse, folder: Path) -> SessionRow:
    """Begin a night of forty items and write down its course up to the middle."""
    session = await house.begin(orders(work=await forty_items(house, folder)))
    for place in range(ENDED + ALIVE):
        for end in _ends(place):
            await _job(house.house, session, place, end)
        house.clock.jump_to(house.clock.now() + timedelta(minutes=6))
    await house.house.journal.record(*_round(house.house, session))
    alive = [row for row in await house.house.records.find(JobRow, session=session.id) if not row.state.over]
    due = house.house.clock.now() + timedelta(minutes=18)
    for draft in _asks(alive):
        ask = house.house.ids.new("ask")
        await house.house.journal.record(se.AskOpened(ask=ask, session=session.id, draft=draft, due_at=due))
    checked_in = se.CheckInMade(session=session.id, type="progress", trigger="time", text=CHECKED_IN)
    await house.house.journal.record(checked_in)
    return session


def _ends(place: int) -> Iterator[tuple[State, str] | None]:
    """How each job of an item ended; the last ones are still running."""
    if place >= ENDED:
        yield None
        return
    if place % 5 == 1:
        yield "failed", TIMED_OUT[1]
    yield FAILED[place // 3 % len(FAILED)] if place % 3 == 2 else ("done", "")


async def _job(house: House, session: SessionRow, place: int, end: tuple[State, str] | None) -> None:
    job = house.ids.new("job")
    await house.journal.record(*_planned(house, session, place, job))
    if end is None and place - ENDED < 2:
        return  # it waits for approval
    (row,) = await house.records.find(JobRow, id=job)
    await house.journal.record(
        ev.JobApproved(job=job, by="silence", plan_hash=f"plan {place}"),
        _claimed(job, Stage.EXECUTE, 2),
        AgentBegan(
            job=job, epoch=2, agent="claude", version="2.0.14", model="claude-sonnet-4-5", errand=Errand.EXECUTE,
            conversation="c1", template="execute", template_version="execute 1", prompt_blob="",
        ),
        called(row, usd=0.11, tokens=41_200, epoch=2),
        decided(row, "allow", "$ python -m pytest -q tests/test_cart.py").model_copy(update={"epoch": 2}),
        MilestoneReached(job=job, epoch=2, stone="remark", text="Wrote a test that fails on main"),
    )  # fmt: skip
    if end and end[0] == "done":
        await house.journal.record(ev.JobExecuted(job=job, epoch=2, done=Done(summary="Done.", base="", head="")))
    if end:
        unneeded = "It was shown." if end[0] == "done" else ""
        await house.journal.record(ev.JobEnded(job=job, epoch=2, state=end[0], why=end[1], unneeded=unneeded))


def _planned(house: House, session: SessionRow, place: int, job: str) -> tuple[Event, ...]:
    item = session.items[place]
    run, mission, project = house.ids.new("run"), house.ids.new("mission"), item["project"]
    title, works, night = item["title"], (item["work_item"],), session.id
    facts = RepositoryFacts(path="/repo", branch="main", head="0" * 40)
    contract = RunContract(project_id=project, mission_id=mission, objective=title)
    return (
        ev.MissionCreated(
            mission=mission, session=night, project=project, title=title, objective="", work_items=works
        ),
        ev.RunStarted(run=run, session=night, mission=mission, project=project, contract=contract),
        ev.JobCreated(
            job=job, session=night, run=run, project=project, work_item=works[0], title=title, agent="claude"
        ),
        _claimed(job, Stage.MIRROR, 1),
        ev.JobMirrored(job=job, epoch=1, repository=facts),
        ev.JobPrepared(job=job, epoch=1, repository=facts),
        ev.JobPlanned(job=job, epoch=1, version=1, plan=PLAN, plan_hash=f"plan {place}"),
    )  # fmt: skip


def _claimed(job: str, stage: Stage, epoch: int) -> ev.JobClaimed:
    return ev.JobClaimed(job=job, stage=stage, attempt=1, epoch=epoch, worker="w", isolation=Isolation.BUBBLEWRAP)


def _round(house: House, session: SessionRow) -> Iterator[Event]:
    """One round decides about three items, with the council's own words."""
    yield se.RoundCalled(session=session.id, number=1, why="timer")
    for item in session.items[ENDED : ENDED + 3]:
        reason = f"Ordered for tonight: {item['title']}"
        proposal = Proposal(
            kind=ActKind.START, project=item["project"], target=item["work_item"], confidence=0.8, reason=reason
        )
        project = ProjectFacts(id=item["project"])
        facts = Facts(now=house.clock.now(), level=Level.CAUTIOUS, in_session=True, project=project)
        opinions = council.deliberate(proposal, facts)
        facts = facts.model_copy(update={"council": council.tally(opinions)})
        act, verdict = house.ids.new("act"), judge(proposal, facts)
        yield se.CouncilSpoke(
            session=session.id,
            number=1,
            act=act,
            opinions=tuple(
                se.Opinion(voice=one.voice.value, stance=one.stance.value, words=one.words) for one in opinions
            ),
            decision=verdict.first.text,
        )
        yield se.ActJudged(act=act, session=session.id, number=1, proposal=proposal, facts=facts, verdict=verdict)


def _asks(alive: Sequence[JobRow]) -> Iterator[AskDraft]:
    for job in alive[:2]:
        plan = _draft(AskKind.APPROVE_PLAN, "May it go ahead?", job, Silence.APPROVED, ("approve", "edit", "reject"))
        yield plan.model_copy(update={"shown_hash": job.plan_hash})
    for job in alive[2:5]:
        question = held_question(job.number, "Bash", f"$ pip download requests=={job.number}.0\nin /work/tree")
        yield _draft(AskKind.CONFIRM_ACT, question, job, Silence.NOT_DONE, ("yes", "no"))
    for place, job in enumerate(alive[:5], 1):
        question = f"Two names fit field {place}. Which one do you want?"
        yield _draft(AskKind.QUESTION, question, job, Silence.TO_BRIEF, ("line_no", "line"))
    for job in alive[3:8]:
        question = f"Job {job.number} failed twice at the same test. What now?"
        yield _draft(AskKind.GUIDANCE_UNCERTAIN, question, job, Silence.PARKED, ("try again", "park it"))


def _draft(kind: AskKind, question: str, job: JobRow, silence: Silence, options: tuple[str, ...]) -> AskDraft:
    return AskDraft(
        kind=kind, question=question, options=options, recommendation=options[0], rationale=WHY, deadline_minutes=18,
        silence=silence, blocking=True, subject=job.id, project=job.project,
    )  # fmt: skip
