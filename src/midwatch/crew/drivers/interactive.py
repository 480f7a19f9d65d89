"""How an agent's own program is begun for a person who types into it, instead of being led by us (A14)."""

from midwatch.crew.drivers.claude.driver import ClaudeDriver
from midwatch.crew.drivers.claude.launching import interactive as claude_by_hand
from midwatch.crew.drivers.codex.driver import CodexDriver
from midwatch.crew.drivers.codex.executing import CodexExecDriver
from midwatch.crew.drivers.codex.launching import interactive as codex_by_hand
from midwatch.crew.drivers.command import CommandDriver
from midwatch.crew.drivers.templates import filled
from midwatch.errors import Refused
from midwatch.ports.agent import Brief, Driver, Launch


def seat(driver: Driver, brief: Brief, program: str) -> Launch:
    """Say how to begin the program on a terminal: the same model, the same placeholder, none of the person's files."""
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
