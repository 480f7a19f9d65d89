"""A small world in which only what the gate lets through happens: whatever the sequence, the promises hold."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from midwatch.rules.gate.gate import judge
from midwatch.terms.acts import ActKind, Proposal, Proposer
from midwatch.terms.facts import Budget, Budgets, Facts, GateLimits, ProjectFacts, RunningJob
from midwatch.terms.trust import Level
from tests.rules.worlds import CONTRACT, NOW

GIB = 1024**3
LIMIT = 12
HOUSE = 2
RETRIES = 2
SAME_ACT = timedelta(minutes=25)
EACH = 1
MEMORY = 16 * GIB
KEPT_FREE = 2 * GIB
NAMES = ("a", "b", "c")
ACTS = (ActKind.START, ActKind.START_RUN, ActKind.STOP, ActKind.RESTART, ActKind.SCHEDULE)
AGENT_ACTS = {ActKind.START, ActKind.START_RUN, ActKind.RESTART}


@dataclass
class Place:
    job: RunningJob | None = None
    blocked: bool = False
    protected: bool = False
    pull_request: bool = False
    failures: int = 0


@dataclass(frozen=True)
class Deed:
    """What was done, and how the world looked just before, seen by the world itself and not by the gate's facts."""

    at: datetime
    kind: ActKind
    project: str
    by: Proposer
    level: Level
    blocked: bool
    protected: bool
    pull_request: bool
    ordered: bool
    failures: int
    free_memory: int
    job: RunningJob | None


@dataclass
class House:
    now: datetime = NOW
    level: Level = Level.FULL
    places: dict[str, Place] = field(default_factory=lambda: {name: Place() for name in NAMES})
    spent: int = 0
    reserved: dict[str, int] = field(default_factory=dict)
    deeds: list[Deed] = field(default_factory=list)
    jobs_made: int = 0
    memory_used_by_others: int = 0

    @property
    def running(self) -> list[str]:
        return [name for name, place in self.places.items() if place.job is not None and place.job.running]

    @property
    def free_memory(self) -> int:
        return MEMORY - self.memory_used_by_others - GIB * len(self.running)


class Night(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.house = House()

    @rule(kind=st.sampled_from(ACTS), name=st.sampled_from(NAMES), cost=st.integers(0, 6))
    def a_brain_proposes(self, kind: ActKind, name: str, cost: int) -> None:
        self.propose(kind, name, Proposer.BRAIN, cost)

    @rule(kind=st.sampled_from(ACTS), name=st.sampled_from(NAMES), cost=st.integers(0, 6))
    def a_person_commands(self, kind: ActKind, name: str, cost: int) -> None:
        self.propose(kind, name, Proposer.PERSON, cost)

    @rule(minutes=st.sampled_from([0, 11, 20, 31]), cost=st.integers(0, 6), data=st.data())
    def a_brain_comes_back_to_what_runs(self, minutes: int, cost: int, data: st.DataObject) -> None:
        self.house.now += timedelta(minutes=minutes)
        if self.house.running:
            kind = data.draw(st.sampled_from([ActKind.STOP, ActKind.RESTART]))
            self.propose(kind, data.draw(st.sampled_from(self.house.running)), Proposer.BRAIN, cost)

    def propose(self, kind: ActKind, name: str, by: Proposer, cost: int) -> None:
        proposal = Proposal(kind=kind, project=name, by=by, confidence=0.9, peer="friend", estimated_usd_micros=cost)
        if judge(proposal, self.facts(proposal)).outcome.acts:
            self.carry_out(proposal)

    @rule(minutes=st.sampled_from([1, 4, 11, 11, 20, 31]))
    def time_passes(self, minutes: int) -> None:
        self.house.now += timedelta(minutes=minutes)

    @rule(name=st.sampled_from(NAMES), failed=st.booleans())
    def a_job_ends(self, name: str, failed: bool) -> None:
        place = self.house.places[name]
        if place.job is None or not place.job.running:
            return
        self.settle(name)
        place.job = place.job.model_copy(update={"running": False, "in_error": failed})
        place.failures = place.failures + 1 if failed else 0
        place.pull_request = not failed

    @rule(name=st.sampled_from(NAMES))
    def a_running_job_falls_into_error(self, name: str) -> None:
        place = self.house.places[name]
        if place.job is not None:
            place.job = place.job.model_copy(update={"in_error": True})

    @rule(name=st.sampled_from(NAMES), blocked=st.booleans(), protected=st.booleans())
    def a_person_pins_flags(self, name: str, blocked: bool, protected: bool) -> None:
        self.house.places[name].blocked = blocked
        self.house.places[name].protected = protected

    @rule(name=st.sampled_from(NAMES))
    def a_pull_request_is_merged(self, name: str) -> None:
        self.house.places[name].pull_request = False

    @rule(gib=st.sampled_from([0, 0, 8, 14]))
    def other_programs_take_memory(self, gib: int) -> None:
        self.house.memory_used_by_others = gib * GIB

    @rule(level=st.sampled_from([Level.OBSERVE, Level.MODERATE, Level.FULL, Level.FULL]))
    def a_person_sets_the_level(self, level: Level) -> None:
        self.house.level = level

    def facts(self, proposal: Proposal) -> Facts:
        house, place = self.house, self.house.places[proposal.project]
        earlier = [deed for deed in house.deeds if deed.project == proposal.project]
        same = [deed for deed in earlier if deed.kind is proposal.kind]
        running = place.job is not None and place.job.running
        return Facts(
            now=house.now,
            level=house.level,
            in_session=True,
            contract=CONTRACT,
            project=ProjectFacts(
                id=proposal.project,
                blocked=place.blocked,
                protected=place.protected,
                job=place.job,
                jobs_running=int(running),
                open_pull_request=place.pull_request,
                retries_in_a_row=place.failures,
            ),
            same_action_at=same[-1].at if same else None,
            same_project_at=earlier[-1].at if earlier else None,
            jobs_running=len(house.running),
            free_memory_bytes=house.free_memory,
            budgets=Budgets(usd_micros=Budget(spent=house.spent, reserved=sum(house.reserved.values()), limit=LIMIT)),
            limits=GateLimits(jobs_in_all=HOUSE, jobs_per_project=EACH, retries=RETRIES, same_action=SAME_ACT),
        )

    def carry_out(self, proposal: Proposal) -> None:
        house, place = self.house, self.house.places[proposal.project]
        house.deeds.append(
            Deed(
                at=house.now,
                kind=proposal.kind,
                project=proposal.project,
                by=proposal.by,
                level=house.level,
                blocked=place.blocked,
                protected=place.protected,
                pull_request=place.pull_request,
                ordered=proposal.ordered,
                failures=place.failures,
                free_memory=house.free_memory,
                job=place.job,
            )
        )
        if proposal.kind is ActKind.STOP and place.job is not None:
            self.settle(proposal.project)
            place.job = place.job.model_copy(update={"running": False})
        if proposal.kind in AGENT_ACTS:
            self.begin(proposal, place)

    def begin(self, proposal: Proposal, place: Place) -> None:
        """A second agent beside a running one would be a second job: only a restart may take its place."""
        if place.job is not None and place.job.running:
            assert proposal.kind is ActKind.RESTART
            self.settle(proposal.project)
        self.house.jobs_made += 1
        place.job = RunningJob(id=f"job_{self.house.jobs_made}", started_at=self.house.now, running=True)
        self.house.reserved[proposal.project] = proposal.estimated_usd_micros

    def settle(self, name: str) -> None:
        self.house.spent += self.house.reserved.pop(name, 0)

    @invariant()
    def never_more_jobs_than_the_house_holds(self) -> None:
        assert len(self.house.running) <= HOUSE

    @invariant()
    def never_more_promised_than_there_is(self) -> None:
        assert self.house.spent + sum(self.house.reserved.values()) <= LIMIT

    @invariant()
    def no_agent_was_set_to_work_in_a_blocked_project_or_without_memory(self) -> None:
        for deed in self.house.deeds:
            if deed.kind in AGENT_ACTS:
                assert not deed.blocked
                assert deed.free_memory >= KEPT_FREE

    @invariant()
    def only_what_was_there_was_stopped_or_restarted(self) -> None:
        for deed in self.house.deeds:
            if deed.kind is ActKind.RESTART:
                assert deed.job is not None
                assert deed.job.running or deed.job.in_error
            if deed.kind is ActKind.STOP:
                assert deed.job is not None
                assert deed.job.running

    @invariant()
    def a_brain_kept_its_distance(self) -> None:
        for number, deed in enumerate(self.house.deeds):
            if deed.by is Proposer.PERSON:
                continue
            assert deed.level is not Level.OBSERVE
            assert not deed.protected
            assert deed.kind not in AGENT_ACTS or deed.failures < RETRIES
            assert deed.kind not in {ActKind.START, ActKind.START_RUN} or deed.ordered or not deed.pull_request
            for earlier in self.house.deeds[:number]:
                near = earlier.project == deed.project
                least = SAME_ACT if earlier.kind is deed.kind else timedelta(minutes=10)
                assert not near or deed.at - earlier.at >= least

    @invariant()
    def a_brain_let_young_jobs_grow(self) -> None:
        for deed in self.house.deeds:
            ends = deed.kind in {ActKind.STOP, ActKind.RESTART} and deed.job is not None and deed.job.running
            if ends and deed.by is Proposer.BRAIN and deed.job is not None and not deed.job.in_error:
                assert deed.at - deed.job.started_at >= timedelta(minutes=30)


TestNight = Night.TestCase
TestNight.settings = settings(max_examples=max(150, settings().max_examples), stateful_step_count=60, deadline=None)
