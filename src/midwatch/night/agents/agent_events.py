"""Records what an agent does while it runs; the log has everything, the journal what matters later."""

from midwatch.journal.events.crew import AgentBegan, AgentEnded, AgentLimited
from midwatch.ports.journal import Blobs, Journal
from midwatch.terms.agents import AgentEvent, Errand, LimitMet, Prompted, RunBegan, RunEnded, TurnEnded
from midwatch.terms.records import JobRow
from midwatch.views.pages.job_story import turns_in

NOTHING_SAID = Prompted(errand=Errand.EXECUTE, text="", template="", version="")


class Teller:
    """Receives the events of one attempt. After a restart they all come again, so each is recorded under a key."""

    def __init__(self, journal: Journal, blobs: Blobs, job: JobRow, provider: str, attempt: int) -> None:
        """`attempt` is the attempt that made the room; it is the same after a restart, when all events come again."""
        self._attempt = attempt
        self._journal = journal
        self._blobs = blobs
        self._job = job
        self._provider = provider
        self._prompted = NOTHING_SAID
        self._turns: int | None = None

    async def __call__(self, event: AgentEvent) -> None:
        """Record the event if it matters later."""
        match event:
            case Prompted():
                self._prompted = event
            case RunBegan():
                await self._began(event)
            case TurnEnded():
                self._turns = event.number
            case LimitMet(rejected=True):
                limited = AgentLimited(
                    job=self._job.id,
                    epoch=self._job.epoch,
                    provider=self._provider,
                    limit=event.limit,
                    resets_at=event.resets_at,
                )
                await self._once(limited, f"limit:{event.limit}")
            case RunEnded():
                ended = AgentEnded(
                    job=self._job.id,
                    epoch=self._job.epoch,
                    outcome=event.outcome,
                    why=event.why,
                    conversation=event.conversation,
                    turns=self._turns,
                )
                await self._once(ended, "ended")
            case _:
                pass  # it is in the log

    async def _began(self, event: RunBegan) -> None:
        blob = await self._blobs.keep(self._prompted.text.encode(errors="replace"))
        began = AgentBegan(
            job=self._job.id,
            epoch=self._job.epoch,
            agent=self._job.agent,
            version=event.version,
            model=event.model,
            errand=self._prompted.errand,
            conversation=event.conversation,
            template=self._prompted.template,
            template_version=self._prompted.version,
            prompt_blob=blob,
        )
        await self._once(began, "began")

    async def _once(self, event: AgentBegan | AgentLimited | AgentEnded, what: str) -> None:
        key = _key(self._job.id, self._attempt, what)
        if await self._journal.known(key) is None:  # a provider may report the same again in other words
            await self._journal.record(event, key=key)


async def turns_of(journal: Journal, job: JobRow) -> int | None:
    """Add up the turns of every agent that worked on a job; None if one of them did not show its turns (A9)."""
    runs = [await journal.known(_key(job.id, attempt, "ended")) for attempt in range(1, job.epoch + 1)]
    return turns_in(entry.event for entry in runs if entry is not None)


def _key(job: str, attempt: int, what: str) -> str:
    return f"agent:{job}:{attempt}:{what}"
