"""A model-driven agent: its driver runs one program for a plan, its execution or a repair."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from midwatch.crew.drivers.claude.driver import ClaudeDriver
from midwatch.crew.drivers.claude.launching import interactive as claude_by_hand
from midwatch.crew.drivers.codex.driver import CodexDriver
from midwatch.crew.drivers.codex.executing import CodexExecDriver
from midwatch.crew.drivers.codex.launching import interactive as codex_by_hand
from midwatch.crew.drivers.command import CommandDriver
from midwatch.crew.drivers.templates import filled
from midwatch.crew.prompting.plans import plan_schema, read_plan
from midwatch.crew.prompting.prompts import build_prompt
from midwatch.errors import Away, Broken, JobSpent, Limited, Locked, MidwatchError, NightSpent, Refused, Unavailable
from midwatch.ports.agent import AgentBrief, Driver, Launch, Task, TaskFacts, Tell
from midwatch.terms.agents import AgentEvent, Errand, Met, Outcome, Prompted, RunEnded, Said
from midwatch.terms.jobs import Done, Plan

WRONG: dict[Outcome, tuple[type[MidwatchError], str]] = {
    Outcome.FAILED: (Broken, "Look at its log for what it tried."),
    Outcome.MAX_TURNS: (Broken, "Ask for less at once, or allow more turns."),
    Outcome.BUDGET: (JobSpent, "Raise the ceiling, or ask for less."),
    Outcome.LIMIT: (Limited, "It resumes when the provider's limit resets."),
    Outcome.AUTH: (Locked, "Check its credential: midwatch agent test."),
    Outcome.NETWORK: (Away, "It is tried again; look at the provider's status page."),
    Outcome.CANCELLED: (Unavailable, "Its checkout is kept."),
    Outcome.CRASHED: (Broken, "Look at its log for its last output."),
}
"""Who must act next when a run did not end well."""


VAGUE = frozenset({Outcome.FAILED, Outcome.CRASHED, Outcome.NETWORK})
"""Outcomes that may hide a more exact one seen by the model proxy."""


class ModelAgent:
    """Runs one agent program through its driver."""

    amends = True

    def __init__(self, driver: Driver, program: str, model: str, *, small_model: str = "", name: str = "") -> None:
        self.driver = driver
        self.name = name or driver.name
        self._program = program
        self._model = model
        self._small_model = small_model

    async def plan(self, task: Task) -> Plan:
        """Return what would be done; nothing is written."""
        ended, _ = await self._run(task, task.facts, schema=plan_schema())
        return read_plan(ended.structured, root=str(task.room.inside))

    async def execute(self, task: Task, plan: Plan) -> Done:
        _, said = await self._run(task, replace(task.facts, plan=plan))
        return Done(summary=said, base="", head="")

    async def repair(self, task: Task, base: str, failure: str) -> Done:
        _, said = await self._run(task, replace(task.facts, failure=failure))
        return Done(summary=said, base=base, head="")

    def interactive_command(self, task: Task) -> tuple[tuple[str, ...], Mapping[str, str]]:
        launch = interactive_launch(self.driver, self._brief(task, ""), self._program)
        for name, content in launch.files.items():
            task.room.put(name, content)
        return launch.argv, launch.environment

    def _brief(self, task: Task, prompt: str) -> AgentBrief:
        return AgentBrief(
            errand=task.facts.errand,
            prompt=prompt,
            model=self._model,
            small_model=self._small_model,
            access=task.access,
            conversation=task.conversation,
            tools=task.facts.tools,
            extra={"folder": str(task.room.inside)},
            hear=task.hear if self.driver.takes_turns else None,
            note=task.note,
        )

    async def _run(self, task: Task, facts: TaskFacts, schema: Mapping[str, Any] | None = None) -> tuple[RunEnded, str]:
        if task.hear is not None and facts.errand is not Errand.PLAN:
            facts = replace(facts, telling=str(task.room.signals_inside), turns=self.driver.takes_turns)
        prompt = build_prompt(facts)
        brief = replace(self._brief(task, prompt.text), schema=schema)
        launch = self.driver.launch(brief, self._program)
        for name, content in launch.files.items():
            task.room.put(name, content)
        await task.tell(
            Prompted(errand=facts.errand, text=prompt.text, template=prompt.template, version=prompt.version)
        )
        last = _LastWords(task.tell, task.met)
        async with task.room.talk(launch.argv, launch.environment) as talk:
            ended = last.seen(await self.driver.drive(talk, brief, task.decide, last))
            left = await talk.left()
        if ended.outcome is not Outcome.OK:
            raise _wrong(ended, self.name, task.met()).with_exit(left.exit_code)
        return ended, last.text or "It gave no summary of its work."


def _wrong(ended: RunEnded, name: str, met: Met | None) -> MidwatchError:
    kind, hint = WRONG[ended.outcome]
    why = ended.why or f"{name} ended without any output."
    if kind is JobSpent and met is not None and met.whose == "session":
        return NightSpent(met.why)
    if kind is Limited:
        return Limited(why, hint=hint, until=ended.resets_at)
    return kind(why, hint=hint)


class _LastWords:
    """Forwards every event, and keeps the last message: that is the agent's own summary."""

    def __init__(self, tell: Tell, met: Callable[[], Met | None]) -> None:
        self._tell = tell
        self._met = met
        self.text = ""

    async def __call__(self, event: AgentEvent) -> None:
        if isinstance(event, Said):
            self.text = event.text
        await self._tell(self.seen(event) if isinstance(event, RunEnded) else event)

    def seen(self, ended: RunEnded) -> RunEnded:
        """Return how it really ended: the model proxy may have seen the cause of a vague failure."""
        met = self._met()
        # Our own proxy also answers 402 to a limit, and programs read that as a budget.
        vague = VAGUE | ({Outcome.BUDGET} if met is not None and met.outcome is Outcome.LIMIT else set())
        if met is None or ended.outcome not in vague | {met.outcome}:
            return ended
        why = met.why if ended.outcome in vague else ended.why or met.why
        found = {"outcome": met.outcome, "why": why, "resets_at": ended.resets_at or met.resets_at}
        return ended.model_copy(update=found)


def interactive_launch(driver: Driver, brief: AgentBrief, program: str) -> Launch:
    """Return how to start the program on a terminal: the same model and placeholder, none of the person's files."""
    match driver:
        case ClaudeDriver():
            return claude_by_hand(brief, program)
        case CodexDriver() | CodexExecDriver():
            return codex_by_hand(brief, program)
        case CommandDriver():
            environment = {name: filled(value, brief) for name, value in driver.environment.items()}
            return Launch(argv=(program,), environment=environment, files={}, takes_input=True)
        case _:
            raise Refused(
                f"{driver.name} has no interactive mode that Midwatch can start.",
                hint="Use claude, codex, a command, or a plain shell: --agent shell",
            )
