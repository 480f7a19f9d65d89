"""The demo's night: a sample repository with real faults, the real housekeeper, a faster clock."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from midwatch.compose.house import House, Parts
from midwatch.compose.local_checks import commit_everything, fast_clock
from midwatch.compose.opening import open_house
from midwatch.errors import Broken, Misuse, Refused
from midwatch.evening import projects as by_day
from midwatch.evening import sign_orders
from midwatch.journal.events.jobs import JobClaimed
from midwatch.journal.events.morning import ReportWritten
from midwatch.journal.events.session import ActJudged, AskOpened
from midwatch.morning import review
from midwatch.settings.folder import OF_A_DEMO
from midwatch.settings.zone import local_time
from midwatch.surfaces.demo.sample import CHECK, FILES
from midwatch.surfaces.queries.names import NameBook
from midwatch.terms.acts import WAITING
from midwatch.terms.jobs import Stage
from midwatch.terms.orders import Limits, OrderedWork, Orders, Permissions
from midwatch.terms.projects import Horizon
from midwatch.terms.records import EvidenceRow, JobRow, PullRequestRow, RunRow
from midwatch.terms.report import Given, Review, ReviewOutcome
from midwatch.terms.trust import Level
from midwatch.views.entries.describe import describe

Say = Callable[[str, str], None]
SCALE = 120
APPROVE_MINUTES = 4
FLAGS: dict[str, JsonValue] = {
    "asks.approve_plan_minutes": APPROVE_MINUTES,
    "server.queue_poll_seconds": 0.1,
    "jobs.min_free_memory_mib": 256,
    "jobs.min_free_disk_mib": 256,
    "sandbox.min_free_disk_mib": 128,
    "execution.max_duration_minutes": 480,
    "execution.idle_minutes": 480,
    "execution.soft_box_minutes": 480,
}
"""The clock is faster, this machine is not: limits on a job's time would end it on a busy one."""
STEPS = {
    Stage.MIRROR: "1 of 9: the mirror is updated",
    Stage.SETUP: "2 of 9: setup",
    Stage.PLAN: "3 of 9: the agent plans, read-only",
    Stage.EXECUTE: "4 of 9: the agent works",
    Stage.BUNDLE: "5 of 9: its work is packed",
    Stage.QUARANTINE: "6 of 9: quarantine",
    Stage.VERIFY: "7 of 9: checks on fresh checkouts",
    Stage.REPAIR: "7 of 9: repair",
    Stage.DELIVER: "8 of 9: the branch",
    Stage.PULL_REQUEST: "9 of 9: the pull request",
    Stage.NOTICE: "9 of 9: notice sent",
}
TOLD = (
    "orders.signed",
    "session.started",
    "act.judged",
    "job.planned",
    "ask.opened",
    "ask.expired",
    "job.approved",
    "job.executed",
    "job.quarantined",
    "job.verified",
    "pull_request.opened",
    "job.ended",
    "session.debriefing",
    "report.written",
)
"""What the progress shows; `midwatch replay` has the rest."""


class DemoNight:
    """Runs one day from the orders to the verdict in its own data folder."""

    def __init__(self, home: Path, *, say: Say) -> None:
        self._home = home
        self._say = say

    async def run(self) -> dict[str, Any]:
        source = await self._prepare()
        clock = fast_clock(self._home / "clock.json", scale=SCALE)
        self._say("demo", f"the clock runs {SCALE} times as fast as yours")
        minutes, seconds = APPROVE_MINUTES, APPROVE_MINUTES * 60 / SCALE
        self._say("demo", f"silence approves a plan after {minutes} of its minutes ({seconds:g} s); yours waits 20")
        async with open_house(self._home, flags=FLAGS, parts=Parts(clock=clock)) as house:
            await self._evening(house, source)
            session = await self._night(house)
            return await self._morning(house, session)

    async def _prepare(self) -> Path:
        """Begin with an empty folder, but never empty one that does not belong to a demo."""
        if self._home.exists() and not self._home.is_dir():
            raise Misuse(f"{self._home} is not a folder.", hint="Name another with --home.")
        if self._home.exists() and any(self._home.iterdir()) and not (self._home / OF_A_DEMO).exists():
            raise Refused(f"{self._home} is not a demo's folder.", hint="Name another with --home.")
        shutil.rmtree(self._home, ignore_errors=True)
        source = self._home / "sample-shop"
        source.mkdir(parents=True)
        (self._home / OF_A_DEMO).touch()
        for name, content in FILES.items():
            path = source / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        await commit_everything(source, "A small shop, with the faults such code has")
        (source / "NOTES.txt").write_text("not committed: the night will not see this\n")
        self._say("step", "A sample repository")
        self._say("line", f"{source}: {len(FILES)} files, one left uncommitted")
        return source

    async def _evening(self, house: House, source: Path) -> None:
        self._say("step", "Evening: the orders")
        evening = house.evening
        await by_day.add_project(evening, source, by="you", name="sample-shop", purpose="Show a night", checks=(CHECK,))
        await by_day.set_goal(evening.books, "sample-shop", "Code that reads well", by="you", horizon=Horizon.MEDIUM)
        orders = Orders(
            level=Level.CAUTIOUS,
            goals=("Tidy code without changing what it does",),
            success_criteria=("The tests stay green",),
            work=(OrderedWork(project="sample-shop", title="Tidy up the shop"),),
            limits=Limits(usd=0, minutes=480, rounds=50),
            permissions=Permissions(silence_approves=True),
            do_not_touch=("data/**",),
        )
        await sign_orders.draft(evening, orders, by="you", source="demo")
        self._say("line", "level cautious, 480 minutes, $0, never touches data/**")
        await sign_orders.start(evening, by="you")

    async def _night(self, house: House) -> str:
        self._say("step", "Night")
        self._say("now", "the night thinks")
        names = NameBook(house)
        async for entry in house.journal.tail(after=0):
            if isinstance(entry.event, JobClaimed):
                self._say("now", f"job 1 of 1, {STEPS[entry.event.stage]}")
            elif isinstance(entry.event, AskOpened):
                self._say("now", "the plan waits for you, or for its deadline")
            waits = isinstance(entry.event, ActJudged) and entry.event.proposal.kind in WAITING
            if entry.event.kind in TOLD and not waits:
                at = local_time(house.loaded.settings, entry.at)
                self._say("entry", f"{at:%H:%M}  {describe(entry.event, await names.of([entry]))}")
            if isinstance(entry.event, ReportWritten):
                return entry.event.session
        raise Broken("The night ended without a brief.")

    async def _morning(self, house: House, session: str) -> dict[str, Any]:
        self._say("step", "Morning: the brief")
        _, report = await review.last_report(house.records, session)
        self._say("line", report.brief.headline)
        for section in report.brief.sections:
            self._say("good", section.title)
            for line in section.lines:
                self._say("line", f"  {line}")
        self._say("step", "Morning: the review")
        self._say(
            "demo", "you would press A, E, R; here the demo accepts the first and defers the rest, rating 4, 4, 5"
        )
        given = Review(usefulness=4, trust=4, brevity=5, outcomes=_verdicts(report.recommendations))
        await review.submit(house.books, given, by="demo", night=session)
        runs = await house.records.find(RunRow, session=session)
        for run in runs:
            self._say(
                "line", f"run {run.number}: score {run.score_pre or 0:.2f} before, {run.score_post or 0:.2f} after"
            )
        jobs = await house.records.find(JobRow, session=session)
        return {
            "session": session,
            "jobs": len(jobs),
            "pull_requests": len(await house.records.find(PullRequestRow)),
            "brief_words": report.brief.words,
            "recommendations": len(report.recommendations),
            "decisions": len(report.decisions),
            "evidence": len(await house.records.find(EvidenceRow)),
            "score_pre": runs[0].score_pre if runs else None,
            "score_post": runs[0].score_post if runs else None,
            "authority": runs[0].contract.authority_policy.start_level.value if runs else None,
            "journal_entries": await house.records.head(),
        }


def _verdicts(recommendations: tuple[Any, ...]) -> tuple[Given, ...]:
    said = (ReviewOutcome.ACCEPTED, *([ReviewOutcome.DEFERRED] * len(recommendations)))
    return tuple(
        Given(recommendation=one.id, outcome=outcome) for one, outcome in zip(recommendations, said, strict=False)
    )
