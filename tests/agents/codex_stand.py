"""A program that says whatever a test wants, line by line, and writes down what it is told."""

import json
import sys
from pathlib import Path
from typing import Any

from midwatch.ports.agent import AgentBrief, Decide, Driver
from midwatch.terms.agents import AgentEvent, RunEnded
from tests.agents.plain_talk import PlainTalk
from tests.agents.stage import Judge

PROGRAM = """
import json, sys
for step in json.load(open(sys.argv[1])):
    if step == "listen":
        answer = sys.stdin.readline()
        with open(sys.argv[2], "a") as heard:
            heard.write(answer)
    elif isinstance(step, str):
        print(step, flush=True)
    elif "exit" in step:
        print("its last words", file=sys.stderr)
        sys.exit(step["exit"])
    else:
        print(json.dumps(step), flush=True)
"""


class Stand:
    """Runs the program with a script of lines."""

    def __init__(self, folder: Path, driver: Driver, brief: AgentBrief) -> None:
        self.folder = folder
        self.driver = driver
        self.brief = brief
        self.talks: list[PlainTalk] = []
        self.events: list[Any] = []

    async def begin(self, *steps: Any) -> PlainTalk:
        """Start it."""
        (self.folder / "steps.json").write_text(json.dumps(steps))
        words = (sys.executable, "-c", PROGRAM, str(self.folder / "steps.json"), str(self.folder / "heard"))
        self.talks.append(await PlainTalk.begin(words, {}))
        return self.talks[-1]

    async def lead(self, *steps: Any, decide: Decide | None = None, brief: AgentBrief | None = None) -> RunEnded:
        """Start it and lead it to its end."""
        talk = await self.begin(*steps)
        return await self.driver.drive(talk, brief or self.brief, decide or Judge(), self.tell)

    async def tell(self, event: AgentEvent) -> None:
        """Hear an event."""
        self.events.append(event)

    def only(self, kind: str) -> list[Any]:
        """Give the events of one kind."""
        return [event for event in self.events if event.kind == kind]

    def heard(self) -> list[dict[str, Any]]:
        """Give all that it was told."""
        return [json.loads(line) for line in (self.folder / "heard").read_text().splitlines()]

    def answer(self, number: Any) -> dict[str, Any]:
        """Give what it was told about its question."""
        (found,) = [one for one in self.heard() if one.get("id") == number and "method" not in one]
        return found
