"""Any program as an agent: the prompt goes in, text comes out, and Midwatch decides none of its calls."""

from collections.abc import Mapping
from types import MappingProxyType

from midwatch.crew.drivers.line_protocol import STOPPED, shortened
from midwatch.crew.drivers.templates import PROMPT_FILE, asked_for, filled, in_home, shape
from midwatch.errors import Misuse
from midwatch.ports.agent import AgentBrief, Decide, Launch, Tell
from midwatch.ports.room import ProgramEnd, Talk
from midwatch.rules.recovery.failure_texts import telling_line
from midwatch.terms.agents import AgentEvent, Errand, Outcome, PlanSpoken, RunBegan, RunEnded, Said

PROMPT = "{prompt}"
TASK = "MIDWATCH_TASK"
"""Tells the program what it is started for: plan, execute or repair."""
PLAN = '{"summary": "...", "files": ["..."]}'
LONGEST = 4000
NOTHING: Mapping[str, str] = MappingProxyType({})


class CommandDriver:
    """Runs a command line once per task; it cannot be resumed or asked, and reports no usage and no turns.

    `{prompt}` in an argument becomes the path of a file with the prompt; without one, the prompt is its stdin. In
    arguments and environment `{base_url}`, `{key}` and `{model}` become the brief's values, and `MIDWATCH_TASK` is the
    errand. The exit code is the outcome, because there is nothing else.
    """

    governance = (
        "None: nothing the program does passes Midwatch, not even while planning; only the sandbox, the model proxy"
        " and the gate hold it."
    )
    tested: tuple[str, ...] = ()
    install = "Install the program yourself, and name it with its words in the settings."
    takes_turns = False

    def __init__(
        self, words: tuple[str, ...], *, name: str = "command", environment: Mapping[str, str] = NOTHING
    ) -> None:
        if not words:
            raise Misuse("The agent's command is empty.", hint="Give the program and its words in the settings.")
        self.name = name
        self.words = words
        self.environment = environment

    def launch(self, brief: AgentBrief, program: str) -> Launch:
        """Return its command line and environment; `program` replaces the first word."""
        given = [filled(word, brief) for word in self.words[1:]]
        words = [program, *(word.replace(PROMPT, f"{{home}}/{PROMPT_FILE}") for word in given)]
        in_file = any(PROMPT in word for word in self.words[1:])
        return Launch(
            argv=in_home(words, reads="" if in_file else PROMPT_FILE),
            environment={name: filled(value, brief) for name, value in self.environment.items()}
            | {TASK: brief.errand.value},
            files={PROMPT_FILE: asked_for(brief)},
            takes_input=False,
        )

    async def drive(self, talk: Talk, brief: AgentBrief, decide: Decide, tell: Tell) -> RunEnded:
        """Read its output to the end; it asks nothing, so nothing is decided."""
        del decide
        await tell(RunBegan(conversation="", model=brief.model))
        said: list[str] = []
        async for line in talk.lines():
            text = line.decode(errors="replace").rstrip()
            if text:
                said.append(text)
                await tell(Said(text=shortened(text, LONGEST)))
        ended = judge(brief, await talk.left(), said)
        for event in _last(brief, said, ended):
            await tell(event)
        return ended


def judge(brief: AgentBrief, left: ProgramEnd, said: list[str]) -> RunEnded:
    """Return how it ended, by its exit code."""
    last = (said or [""])[-1]
    complaint = shortened(left.last_words or telling_line(left.tail) or last, 300)
    structured = None
    if left.stopped:
        outcome, why = STOPPED
    elif left.exit_code < 0 or left.exit_code >= 128:
        outcome, why = Outcome.CRASHED, left.sentence
    elif left.exit_code:
        outcome, why = Outcome.FAILED, f"{left.sentence} {complaint}".strip()
    else:
        outcome, why = Outcome.OK, ""
    if outcome is Outcome.OK and brief.schema is not None:
        structured = shape("\n".join(said)) or shape(last)
        if structured is None:
            outcome, why = Outcome.FAILED, _no_plan(last)
    return RunEnded(outcome=outcome, why=why, structured=structured)


def _no_plan(last: str) -> str:
    printed = f"Its last line was: {shortened(last, 200)}" if last else "It printed nothing."
    return f"The command printed no plan. While planning, its last line must be a JSON object such as {PLAN}. {printed}"


def _last(brief: AgentBrief, said: list[str], ended: RunEnded) -> list[AgentEvent]:
    plan = [PlanSpoken(text="\n".join(said), structured=ended.structured)]
    return [*(plan if brief.errand is Errand.PLAN and said else []), ended]
