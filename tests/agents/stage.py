"""Where a real agent plays against the scripted model: a repository, a fresh home, a sealed network.

    async with open_stage(folder, sealed) as stage:
        stage.model.play("job", Say("Hello."))
        run = await stage.run(ClaudeDriver(), stage.brief("job", prompt="Say hello."))
        assert run.ended.outcome is Outcome.OK
        stage.quiet()                                   # no name was asked for, no packet strayed

`stage.begin(...)` starts the program without leading it, for tests that restart, kill or stop it.
"""

import asyncio
import json
import subprocess
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from midwatch.crew.drivers.output import AgentOutput
from midwatch.ports.agent import AgentBrief, Decide, Driver
from midwatch.terms.agents import Access, AgentEvent, Decision, Errand, Printed, RunEnded
from tests.agents.model import Model, scripted_model
from tests.agents.plain_talk import PlainTalk
from tests.agents.sealed import Sealed
from tools.agents import program

SHAPE = {
    "type": "object",
    "properties": {"steps": {"type": "array", "items": {"type": "string"}}},
    "required": ["steps"],
    "additionalProperties": False,
}
EVERY_KIND = {"began", "said", "tool_requested", "tool_decided", "tool_ended", "counted", "turn", "ended"}
"""The kinds of event in a run that works, whichever agent it is."""


@dataclass
class Judge:
    """Decides in a test: says no to whatever contains one of the words, and remembers what was asked."""

    no: tuple[str, ...] = ()
    why: str = "The orders do not allow this."
    asked: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list)

    async def __call__(self, tool: str, given: Mapping[str, Any]) -> Decision:
        self.asked.append((tool, given))
        text = f"{tool} {json.dumps(given)}"
        if any(word in text for word in self.no):
            return Decision(allowed=False, why=self.why)
        return Decision(allowed=True, why="Inside the orders.")


@dataclass
class Word:
    """Something that is said once."""

    text: str

    async def __call__(self, call: str) -> str:
        assert call
        text, self.text = self.text, ""
        return text


@dataclass
class Played:
    """A run that is over."""

    ended: RunEnded
    events: list[AgentEvent]
    talk: PlainTalk

    def kinds(self) -> list[str]:
        return [event.kind for event in self.events]

    def only(self, kind: str) -> list[Any]:
        """Give the events of one kind."""
        return [event for event in self.events if event.kind == kind]


def reads_again(run: Played, root: Path) -> None:
    """Insist that its log alone tells a reader what the driver told while it ran."""
    output = AgentOutput(str(root))
    again = [one for line in run.talk.heard for one in output.read(line)]
    kinds = ("began", "said", "tool_requested", "tool_ended")
    assert [_gist(one) for one in again if one.kind in kinds] == [_gist(one) for one in run.events if one.kind in kinds]
    assert {one.kind for one in again} <= {*kinds, "counted", "turn", "limit"}, "nothing of it is left as bare lines"


def _gist(event: AgentEvent | Printed) -> dict[str, Any]:
    gist = event.model_dump(exclude={"model"})
    gist.get("input", {}).pop("cwd", None)  # Claude's hook names it beside the input
    return gist


@dataclass
class Stage:
    """One repository and one home; several runs may follow each other on it."""

    folder: Path
    sealed: Sealed
    model: Model
    talks: list[PlainTalk] = field(default_factory=list)

    @property
    def repository(self) -> Path:
        return self.folder / "repository"

    @property
    def home(self) -> Path:
        return self.folder / "home"

    def brief(self, name: str, **more: Any) -> AgentBrief:
        """Ask for the script of this name to be played; the errand is to execute unless said otherwise."""
        kind = more.pop("kind", "api_key")
        prefix = "sk-ant-oat01-" if kind == "oauth" else "sk-ant-api03-"
        access = Access(
            base_url=more.pop("base_url", self.model.url), placeholder=self.model.key(name, prefix), kind=kind
        )
        plain = AgentBrief(
            Errand.EXECUTE, "Do what the orders say.", "claude-sonnet-4-5", access, extra={"retries": "1"}
        )
        return replace(plain, **more)

    def planning(self, name: str, **more: Any) -> AgentBrief:
        """Ask for a plan of the agreed shape."""
        return self.brief(name, errand=Errand.PLAN, schema=SHAPE, **more)

    async def begin(self, driver: Driver, brief: AgentBrief) -> PlainTalk:
        """Start the program."""
        launch = driver.launch(brief, str(program(driver.name)))
        for name, content in launch.files.items():
            place = self.home / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(content)
        plain = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(self.home), "LANG": "C.UTF-8"}
        talk = await PlainTalk.begin(self.sealed.at(self.repository, *launch.argv), plain | dict(launch.environment))
        self.talks.append(talk)
        return talk

    async def run(self, driver: Driver, brief: AgentBrief, decide: Decide | None = None) -> Played:
        """Start the program and lead it to its end."""
        return await self.lead(await self.begin(driver, brief), driver, brief, decide)

    async def lead(self, talk: PlainTalk, driver: Driver, brief: AgentBrief, decide: Decide | None = None) -> Played:
        """Lead a program that was started."""
        events: list[AgentEvent] = []

        async def tell(event: AgentEvent) -> None:
            events.append(event)

        ended = await driver.drive(talk, brief, decide or Judge(), tell)
        return Played(ended, events, talk)

    def git(self, *words: str) -> str:
        """Run git in the repository."""
        done = subprocess.run(["git", "-C", self.repository, *words], check=True, capture_output=True, text=True)
        return done.stdout

    def files(self) -> list[str]:
        """List what lies in the repository's top folder."""
        return sorted(path.name for path in self.repository.iterdir() if path.name != ".git")

    def quiet(self) -> None:
        """Insist that nothing looked outside."""
        assert self.sealed.names() == []
        assert self.sealed.strays() == 0


def lay_down(repository: Path, files: Mapping[str, str]) -> None:
    """Make a git repository with these files in its first commit."""
    repository.mkdir(parents=True)
    for name, content in files.items():
        place = repository / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(content)
    for words in (
        ("init", "-q", "-b", "main"),
        ("config", "user.name", "Test"),
        ("config", "user.email", "test@example.invalid"),
        ("add", "-A"),
        ("commit", "-q", "-m", "Begin"),
    ):
        subprocess.run(["git", "-C", repository, *words], check=True)


@asynccontextmanager
async def open_stage(folder: Path, sealed: Sealed, files: Mapping[str, str] | None = None) -> AsyncIterator[Stage]:
    """Set the stage, and clear it whatever happened."""
    await asyncio.to_thread(lay_down, folder / "repository", files or {"README.md": "hello\n"})
    (folder / "home").mkdir()
    async with scripted_model(sealed.listen()) as model:
        stage = Stage(folder, sealed, model)
        try:
            yield stage
        finally:
            for talk in stage.talks:
                await talk.clear()
