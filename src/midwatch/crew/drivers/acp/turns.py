"""The turns of an ACP agent: one prompt after the other, until it may end."""

from midwatch.crew.drivers import rpc
from midwatch.crew.drivers.acp.deciding import AcpDeciding
from midwatch.crew.drivers.acp.reading import PROMPT, AcpReader
from midwatch.crew.drivers.line_protocol import owed
from midwatch.crew.drivers.templates import asked_for, reminder, shape
from midwatch.ports.agent import AgentBrief
from midwatch.ports.room import Talk

PATIENCE = 3
"""How often in a row it is asked to continue after a refused call ended its turn; an allowed one ends the count."""
REFUSED = "Midwatch denied one of your tool calls. {} Continue without it, or say what you need it for."


class Turns:
    """Counts the prompts of one run; each is written once, even after a restart."""

    def __init__(self, talk: Talk, brief: AgentBrief, reader: AcpReader, deciding: AcpDeciding) -> None:
        self._talk = talk
        self._brief = brief
        self._reader = reader
        self._deciding = deciding
        self._given = 0
        self._refusals = 0
        self._allowed = 0
        self._reminded = False
        self._over = False

    async def go_on(self) -> None:
        """Check after each line whether it waits for us."""
        reader = self._reader
        if self._given == 0 and reader.live:
            await self._give(1, asked_for(self._brief))
        elif reader.refused is not None:
            await self._stop()
        elif self._given and self._given == len(reader.results):
            await self._turn_over()

    async def _turn_over(self) -> None:
        """Continue after a refusal, remind it of the answer it owes, send waiting messages, or end it."""
        number, ended_badly = self._given, self._deciding.closed or "error" in self._reader.results[-1]
        if self._reader.unheard and not ended_badly and self._has_patience():
            await self._give(number + 1, REFUSED.format(" ".join(self._deciding.reasons[-1:])))
        elif self._owes_its_answer() and not ended_badly:
            self._reminded = True
            await self._give(number + 1, reminder(self._brief))
        elif await self._talk.answered(f"midwatch-prompt-{number + 1}"):
            self._given += 1  # it got another prompt before a restart
        elif ended_badly:
            await self._stop()
        else:
            self._deciding.questions.begin(f"midwatch-turn-{number}", self._tell_what_is_owed(number))

    def _has_patience(self) -> bool:
        before, self._allowed = self._allowed, len(self._reader.allowed)
        self._refusals = 1 if self._allowed > before else self._refusals + 1
        return self._refusals <= PATIENCE

    def _owes_its_answer(self) -> bool:
        """Whether its last words lack the object that was asked for; it is reminded once."""
        if self._brief.schema is None or self._reminded or self._reader.results[-1].get("stopReason") != "end_turn":
            return False
        return shape(self._reader.said) is None

    async def _tell_what_is_owed(self, number: int) -> None:
        if more := await owed(self._brief, number):
            await self._give(number + 1, more)
        else:
            await self._stop()

    async def _give(self, number: int, text: str) -> None:
        self._given = number
        self._reader.refused_one = self._reader.unheard = False
        given = {"sessionId": self._reader.conversation, "prompt": [{"type": "text", "text": text}]}
        await rpc.once(self._talk, f"midwatch-prompt-{number}", rpc.request(PROMPT + number, "session/prompt", given))

    async def _stop(self) -> None:
        """End it: it would wait for another prompt, and the protocol has no message to end it."""
        if not self._over:
            self._over = True
            await self._talk.stop()
