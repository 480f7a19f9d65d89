"""Listens to one running agent: reads its signals and commits as they come, and delivers answers.

A restart loses nothing: a claimed signal stays in the job's folder until it is recorded, every entry is written
under a key, and the rows say which questions are open, answered and delivered to the agent.
"""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta

from midwatch.journal.events import Event
from midwatch.journal.events.session import NoticeRaised
from midwatch.journal.events.signals import SignalAnswered, SignalPassed, SignalSeen
from midwatch.night.agents.assignment import assign
from midwatch.night.asks import agent_questions
from midwatch.night.asks.held_calls import SLACK, first_of
from midwatch.night.context import Roster, Workspace
from midwatch.night.jobs.milestones import Stones
from midwatch.night.jobs.time_box_warning import TimeLeft
from midwatch.night.notify.notice import cut, job_notice
from midwatch.ports.agent import Agent, Task
from midwatch.ports.books import Books
from midwatch.ports.room import Room
from midwatch.rules.people.notices import NoticeKind, tier_of
from midwatch.rules.recovery.recovery import classify
from midwatch.rules.recovery.signals import MOST_QUESTIONS, read_signal
from midwatch.terms.agents import Claimed, Signal, SignalKind, SignalState
from midwatch.terms.asks import AskState
from midwatch.terms.jobs import JobState
from midwatch.terms.records import AskRow, JobRow, SignalRow
from midwatch.views.text.plain import harmless

LOOK_SECONDS = 1.0
MOST_ERRORS_REPORTED = 3
log = logging.getLogger("midwatch.signals")
OWED = (SignalState.OPEN, SignalState.ANSWERED)


class Listener:
    """Listens to one attempt."""

    def __init__(self, books: Books, workspace: Workspace, job: JobRow, room: Room, base: str) -> None:
        self._books = books
        self._workspace = workspace
        self._job = job
        self._room = room
        self._stones = Stones(books, workspace.rooms, job, room.epoch, base)
        self.time = TimeLeft(books, workspace.wake_ups, job, room)
        self._turn = asyncio.Lock()
        self._group: asyncio.TaskGroup
        self._following: asyncio.Task[None]
        self._waiting: dict[str, asyncio.Task[None]] = {}
        self._looked = False

    async def owed_from_before(self) -> tuple[Event, ...]:
        """Return a wait if a question from an earlier attempt is still open, before the agent starts in a new room."""
        rows = [one for one in await self._rows(SignalState.OPEN) if one.room != self._room.epoch]
        return (agent_questions.waits(self._books.clock, self._job, rows[0].text, answered=False),) if rows else ()

    async def owed_at_its_end(self) -> tuple[Event, ...]:
        """Return a wait if the agent ended before it read the answer to its question; the job then resumes with it."""
        await self.look(at_once=True)
        rows = [one for one in await self._rows(*OWED) if one.room == self._room.epoch]
        read = [one for one in rows if one.state is SignalState.ANSWERED and not await self._unread(one)]
        await self._passed(read, "file", "")
        left = [one for one in rows if one not in read and not one.refused]
        if not left or await self._stops():
            return ()
        answered = all(one.state is SignalState.ANSWERED for one in left)
        return (agent_questions.waits(self._books.clock, self._job, left[0].text, answered=answered),)

    async def hear(self, turn: int) -> str:
        """Wait for the answers to the agent's questions and return them; the same turn gets the same after a restart.

        It gives no warning about time: an agent that is done gets no further turn for that.
        """
        key = f"passed:{self._job.id}:{self._room.epoch}:{turn}"
        known = await self._books.journal.known(key)
        if known is not None and isinstance(known.event, SignalPassed):
            return known.event.text
        await self.look(at_once=True)
        if self._waiting:
            await asyncio.wait(self._waiting.values())
        if await self._stops():
            return ""
        rows = [one for one in await self._rows(SignalState.ANSWERED) if one.room == self._room.epoch]
        unread = [one for one in rows if await self._unread(one)]
        await self._passed([one for one in rows if one not in unread], "file", "")
        if not unread:
            return ""
        text = "\n\n".join(answer_text(one) for one in unread)
        await self._passed(unread, "turn", text, key=key, turn=turn)
        for one in unread:
            await asyncio.to_thread(self._room.letters.take_back, one.number)
        return text

    async def look(self, *, at_once: bool = False) -> None:
        """Claim the new signals, record them, and wait for the answers to questions."""
        async with self._turn:
            taken = await asyncio.to_thread(self._room.letters.claim, at_once=at_once)
            for claimed in taken:
                await self._take(claimed)
            if taken or not self._looked:
                await self._await_answers()
            self._looked = True

    async def _await_answers(self) -> None:
        for row in await self._rows(SignalState.OPEN):
            if row.room == self._room.epoch and (row.id not in self._waiting or self._waiting[row.id].done()):
                self._waiting[row.id] = self._group.create_task(self._wait(row))

    async def follow(self) -> None:
        """Look repeatedly; after an error, look again."""
        while True:
            try:
                await self.look()
                await self._stones.look()
                await self.time.look()
            except Exception:  # the agent continues even if its signals cannot be read
                log.exception("job %s: its signals could not be read just now", self._job.number)
            await asyncio.sleep(LOOK_SECONDS)

    def begin(self, group: asyncio.TaskGroup) -> None:
        """Look from now on, in a task of this group."""
        self._group = group
        self._following = group.create_task(self.follow())

    async def end(self) -> None:
        """Record the commits since the last look, and stop waiting for answers."""
        await self._stones.look()
        for task in (self._following, *self._waiting.values()):
            task.cancel()

    async def _take(self, claimed: Claimed) -> None:
        name = f"{self._job.id}.{claimed.number}"
        key = f"signal:{name}"
        if await self._books.journal.known(key) is None:
            await self._books.journal.record(*await self._events(claimed, name), key=key)
        row = await self._books.records.get(SignalRow, name)
        if row.state is SignalState.ANSWERED:
            await self._lay(row)
        await asyncio.to_thread(self._room.letters.archive, claimed.number)

    async def _events(self, claimed: Claimed, name: str) -> tuple[Event, ...]:
        seen = SignalSeen(
            signal=name,
            job=self._job.id,
            epoch=self._job.epoch,
            room=self._room.epoch,
            number=claimed.number,
            says=claimed.kind,
            text="",
            refused=claimed.wrong,
        )
        read = read_signal(claimed.kind, claimed.raw) if not claimed.wrong else None
        if not isinstance(read, Signal):
            refused = seen.model_copy(update={"refused": read.why if read else claimed.wrong})
            return self._refused(refused)
        said = read.model_copy(update={"text": harmless(read.text), "detail": harmless(read.detail)})
        said = said.model_copy(update={"options": tuple(map(harmless, read.options))})
        blob = await self._books.blobs.keep(claimed.raw)
        words = {"text": said.text, "detail": said.detail, "options": said.options, "blob": blob}
        return await self._followed(seen.model_copy(update=words), said)

    def _refused(self, seen: SignalSeen) -> tuple[Event, ...]:
        text = f"Job {self._job.number}: {seen.refused}"
        result = self._notice(NoticeKind.ROUTINE, text)
        if seen.says is not SignalKind.NEEDS_INPUT:
            return seen, result
        answer = f"{seen.refused} {agent_questions.NO_ANSWER}"
        return seen, SignalAnswered(signal=seen.signal, job=seen.job, answer=answer, by="midwatch"), result

    async def _followed(self, seen: SignalSeen, said: Signal) -> tuple[Event, ...]:
        match said.kind:
            case SignalKind.ERROR:
                cause = classify(f"{said.text}\n{said.detail}").value
                text = f"Job {self._job.number} ({self._job.title}) reports a problem: {said.text}"
                result = (self._notice(await self._trouble(), text),) if self._books.settings().notices.on_error else ()
                return seen.model_copy(update={"cause": cause}), *result
            case SignalKind.COMPLETED:
                return (seen,)
            case SignalKind.NEEDS_INPUT:
                return await self._asked(seen, said)

    async def _trouble(self) -> NoticeKind:
        """Only a job's first errors may use the day's message budget: an agent can report any number of them."""
        before = await self._books.records.find(SignalRow, job=self._job.id, says=SignalKind.ERROR)
        result = [one for one in before if not one.refused]
        return NoticeKind.ERROR if len(result) < MOST_ERRORS_REPORTED else NoticeKind.ROUTINE

    async def _asked(self, seen: SignalSeen, said: Signal) -> tuple[Event, ...]:
        before = await self._books.records.find(SignalRow, job=self._job.id, says=SignalKind.NEEDS_INPUT)
        if len(before) >= MOST_QUESTIONS:
            answer = f"You have asked {MOST_QUESTIONS} times. {agent_questions.NO_ANSWER}"
            return seen, SignalAnswered(signal=seen.signal, job=seen.job, answer=answer, by="midwatch")
        ask, events = await agent_questions.ask_or_answer(self._books, self._job, seen.signal, said)
        return seen.model_copy(update={"ask": ask}), *events

    async def _wait(self, row: SignalRow) -> None:
        """Wait for the answer; after an error the question stays open, and the job waits when its agent ends."""
        try:
            await self._answered(row)
        except Exception:
            log.exception("job %s: no longer waiting for the answer to its question", self._job.number)

    async def _answered(self, row: SignalRow) -> None:
        """Wait for a person or for the deadline, with the idle limit suspended; then write the answer for the agent."""
        ask = await self._books.records.get(AskRow, row.ask)
        left = 0.0 if ask.due_at is None else (ask.due_at - self._books.clock.now()).total_seconds()
        span = timedelta(seconds=self._books.clock.real_seconds(max(0.0, left))) + SLACK
        over = asyncio.Event()
        # A wait that is cut off here resumes after a restart; until then the agent's idle limit stays suspended.
        async with asyncio.TaskGroup() as group:
            holding = group.create_task(self._hold(span, over))
            await self._settled(row.ask)
            over.set()
            if not self._room.begun.is_set():
                holding.cancel()
        await self._lay(await self._books.records.get(SignalRow, row.id))

    async def _hold(self, span: timedelta, over: asyncio.Event) -> None:
        await self._room.begun.wait()
        async with self._room.waiting(span):
            await over.wait()

    async def _settled(self, name: str) -> None:
        wake_up, stop = self._workspace.wake_ups.of(name), self._workspace.wake_ups.of(self._job.id)
        try:
            while not stop.is_set():
                ask = await self._books.records.get(AskRow, name)
                if ask.state is not AskState.OPEN:
                    return await agent_questions.settled(self._books.journal, self._books.records, ask)
                await first_of(wake_up, stop)
        finally:
            self._workspace.wake_ups.put_away(name, wake_up)

    async def _lay(self, row: SignalRow) -> None:
        if row.state is SignalState.ANSWERED:
            content = {"question": row.text, "answer": row.answer, "by": row.answered_by}
            await asyncio.to_thread(self._room.letters.answer, row.number, content)

    async def _stops(self) -> bool:
        now = await self._books.records.get(JobRow, self._job.id)
        return now.state is JobState.STOPPING or now.state.over

    async def _unread(self, row: SignalRow) -> bool:
        return await asyncio.to_thread(self._room.letters.unread, row.number)

    async def _passed(self, rows: list[SignalRow], how: str, text: str, *, key: str = "", turn: int = 0) -> None:
        if rows:
            names = tuple(one.id for one in rows)
            event = SignalPassed.model_validate(
                {
                    "job": self._job.id,
                    "epoch": self._job.epoch,
                    "signals": names,
                    "how": how,
                    "turn": turn,
                    "text": text,
                }
            )
            await self._books.journal.record(event, key=key or f"passed:{names[0]}")

    async def _rows(self, *states: SignalState) -> tuple[SignalRow, ...]:
        found = await self._books.records.find(SignalRow, job=self._job.id, state=states)
        return tuple(sorted(found, key=lambda one: one.number))

    def _notice(self, kind: NoticeKind, text: str) -> NoticeRaised:
        return job_notice(self._books.ids, self._job, tier_of(kind), cut(text))


def answer_text(row: SignalRow) -> str:
    """Return the answer as a text for the agent that asked."""
    return f"You asked: {row.text}\n{row.answered_by} answered: {row.answer}\nContinue your work."


@asynccontextmanager
async def listening(listener: Listener) -> AsyncIterator[Listener]:
    """Listen while a block runs; at its end, stop all waits."""
    try:
        async with asyncio.TaskGroup() as group:
            listener.begin(group)
            yield listener
            await listener.end()
    except BaseExceptionGroup as several:
        raise several.exceptions[0] from None  # callers expect the error itself, not the group around it
    finally:
        listener.time.end()


@asynccontextmanager
async def at_work(
    books: Books, roster: Roster, workspace: Workspace, job: JobRow, commit: str
) -> AsyncIterator[tuple[Agent, Task, Listener]]:
    """Give an agent its task and listen to it until the block ends."""
    agent, assignment = await assign(books, roster, workspace, job, commit)
    async with listening(Listener(books, workspace, job, assignment.room, commit)) as listener:
        yield agent, replace(assignment, hear=listener.hear, note=listener.time.note), listener
