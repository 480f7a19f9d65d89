"""Bring the agents' programs that the tests drive, each in the one version the tests were written for.

usage: python3 tools/agents.py [NAME ...]     all of them, or only those named: claude, codex, opencode

They go into MIDWATCH_AGENTS (else ~/.cache/midwatch-agents), a folder per version, and `bin/NAME` there points at the
native program: a kill must reach the agent itself, not a launcher in front of it. Standard library only. npm's own
settings decide where packages come from; no package's install script is run. Their licences let us install them for
tests, and never let us ship them.
"""

import contextlib
import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Agent:
    """One program: what npm calls it, and where its package hides the native file."""

    name: str
    package: str
    version: str
    natives: tuple[str, ...]


AGENTS = (
    Agent("claude", "@anthropic-ai/claude-code", "2.1.325", ("@anthropic-ai/claude-code-*/claude",)),
    Agent("codex", "@openai/codex", "0.166.0", ("@openai/codex-*/vendor/*/bin/codex",)),
    Agent("opencode", "opencode-ai", "1.18.33", ("opencode-*/bin/opencode",)),
)

QUIET = ("--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", "--engine-strict=false")
"""Claude's package asks for Node 22, but only for its launcher: the native program needs no Node at all."""


class CannotBring(Exception):
    """Why an agent is not here, as the sentence a person reads."""


def main(words: list[str]) -> int:
    """Bring what is missing, and say loudly what cannot be had; the tests then say what they skip."""
    unknown = set(words) - {agent.name for agent in AGENTS}
    if unknown:
        print(f"midwatch: no agent is called {', '.join(sorted(unknown))}.", file=sys.stderr)
        return 2
    failed = 0
    for agent in AGENTS:
        if words and agent.name not in words:
            continue
        try:
            bring(agent, home())
        except (CannotBring, OSError) as problem:
            failed += 1
            print(f"midwatch: NO {agent.name.upper()} HERE, so its tests will be skipped. {problem}", file=sys.stderr)
    return 1 if failed and words else 0


def home() -> Path:
    """Where the programs are kept."""
    return Path(os.environ.get("MIDWATCH_AGENTS") or Path.home() / ".cache" / "midwatch-agents")


def program(name: str) -> Path:
    """Where an agent's program is, or would be."""
    return home() / "bin" / name


def bring(agent: Agent, folder: Path) -> None:
    """Install one agent unless it is there; a half-done install never gets the final name."""
    place = folder / f"{agent.name}-{agent.version}"
    link = folder / "bin" / agent.name
    if link.exists() and place in link.resolve().parents:
        return
    link.parent.mkdir(parents=True, exist_ok=True)
    with one_at_a_time(folder):
        if not place.exists():
            install(agent, place)
        fresh = link.with_name(f".{agent.name}-{os.getpid()}")
        fresh.symlink_to(native(agent, place))
        fresh.replace(link)


def install(agent: Agent, place: Path) -> None:
    """Let npm fetch it into a folder beside, prove that it starts, and rename."""
    npm = shutil.which("npm")
    if npm is None:
        raise CannotBring("There is no npm: install Node.js (which brings npm), and run the same command again.")
    say(f"bringing {agent.name} {agent.version} (some 10 seconds, once)")
    unfinished = place.with_name(f"{place.name}.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    command = [npm, "install", "--prefix", str(unfinished), *QUIET, f"{agent.package}@{agent.version}"]
    done = subprocess.run(command, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        print("\n".join(done.stdout.splitlines()[-15:]), file=sys.stderr)
        raise CannotBring("npm could not fetch it; its own words are above. Run the same command again when it can.")
    native(agent, unfinished)
    unfinished.rename(place)


def native(agent: Agent, place: Path) -> Path:
    """Find the program that starts here; some packages bring several, for older processors too."""
    for pattern in agent.natives:
        for found in sorted((place / "node_modules").glob(pattern)):
            with contextlib.suppress(OSError, subprocess.TimeoutExpired):
                asked = subprocess.run([found, "--version"], check=False, capture_output=True, text=True, timeout=60)
                if asked.returncode == 0 and agent.version in asked.stdout:
                    return found
    raise CannotBring(f"What npm brought into {place} does not start as version {agent.version} on this machine.")


@contextlib.contextmanager
def one_at_a_time(folder: Path) -> Iterator[None]:
    """Two at once take turns; the lock is on the folder itself, so no file is left behind."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def say(line: str) -> None:
    """Tell the waiting person at once, also through a pipe."""
    print(f"midwatch: {line}", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
