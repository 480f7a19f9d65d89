"""An agent at work, with somebody who listens to it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from midwatch.night.agents.assignment import assign
from midwatch.night.agents.listener import Listener, listening
from midwatch.night.context import Night
from midwatch.ports.agent import Agent, Task
from midwatch.terms.records import JobRow


@asynccontextmanager
async def at_work(night: Night, job: JobRow, commit: str) -> AsyncIterator[tuple[Agent, Task, Listener]]:
    """Give an agent its assignment and listen to it until the block ends."""
    agent, assignment = await assign(night, job, commit)
    async with listening(Listener(night, job, assignment.room, commit)) as listener:
        yield agent, replace(assignment, hear=listener.hear, note=listener.time.note), listener
