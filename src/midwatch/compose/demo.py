"""What only the demo needs: a clock that runs faster, and a repository of its own."""

from pathlib import Path

from midwatch.engine.clocks import ScaledClock
from midwatch.ports.clock import Clock
from midwatch.workshop.git.git import Git


def fast_clock(file: Path, *, scale: float) -> Clock:
    """Make a clock that runs `scale` times as fast and keeps its time in a file."""
    return ScaledClock.kept(file, scale=scale)


async def commit_everything(folder: Path, message: str) -> None:
    """Make a folder a repository with one commit."""
    git = Git()
    identity = ("-c", "user.name=You", "-c", "user.email=you@example.com", "-c", "commit.gpgsign=false")
    await git.run(folder, "init", "-q", "-b", "main")
    await git.run(folder, "add", "-A")
    await git.run(folder, *identity, "commit", "-q", "-m", message)
