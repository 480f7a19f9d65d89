"""What a model-driven agent leaves in the journal, written down as the night writes it."""

from datetime import timedelta

from midwatch.compose.house import House
from midwatch.journal.events.crew import AgentBegan, AgentEnded, AgentLimited, FuelRead, ModelCalled, ToolCallDecided
from midwatch.journal.events.session import AskOpened
from midwatch.terms.agents import Errand, Outcome, Tokens
from midwatch.terms.asks import AskDraft, AskKind, Silence, held_question
from midwatch.terms.records import JobRow

PROMPT = "You plan a small change.\n\nThe objective: tidy up <b>greet</b>.\n" + "Keep to the limits.\n" * 40
COMMAND = "$ git push --force origin HEAD:main \\\n    && rm -rf build\nin /work/tree"
WHY = "It would change what is outside its checkout."


def decided(job: JobRow, verdict: str, shown: str, *, tool: str = "Bash", by: str = "") -> ToolCallDecided:
    """One judged tool call."""
    given = {"job": job.id, "epoch": 1, "call": "1.1", "tool": tool, "shown": shown, "verdict": verdict}
    return ToolCallDecided.model_validate(given | {"code": "tool.rule", "why": WHY, "by": by})


def called(job: JobRow, *, usd: float, tokens: int, epoch: int = 1, status: int = 200) -> ModelCalled:
    """One settled request."""
    return ModelCalled(
        reservation="", job=job.id, epoch=epoch, provider="anthropic", model="claude-sonnet-4-5", api="messages",
        status=status, tokens=Tokens(input=tokens), usd_micros=round(usd * 1_000_000),
    )  # fmt: skip


async def began(house: House, job: JobRow, errand: Errand = Errand.PLAN, *, epoch: int = 1) -> None:
    """An agent begins, with what it was told."""
    blob = await house.blobs.keep(PROMPT.encode())
    await house.journal.record(
        AgentBegan(
            job=job.id,
            epoch=epoch,
            agent="claude",
            version="2.0.14",
            model="claude-sonnet-4-5",
            errand=errand,
            conversation="c1",
            template=errand.value,
            template_version=f"{errand.value} 1, context 1",
            prompt_blob=blob,
        )
    )


async def hold(house: House, job: JobRow, shown: str = COMMAND) -> None:
    """A tool call is held until somebody answers."""
    draft = AskDraft(
        kind=AskKind.CONFIRM_ACT, question=held_question(job.number, "Bash", shown), options=("yes", "no"),
        recommendation="no", rationale=WHY, priority=8, deadline_minutes=5, silence=Silence.NOT_DONE, blocking=True,
        subject=job.id, project=job.project,
    )  # fmt: skip
    due = house.clock.now() + timedelta(minutes=5)
    opened = AskOpened(ask=house.ids.new("ask"), session=job.session, draft=draft, due_at=due)
    await house.journal.record(decided(job, "ask", shown), opened)


async def a_plan(house: House, job: JobRow) -> None:
    """A whole errand: told, asked, refused, allowed by a person, limited, paid, ended."""
    await began(house, job)
    await house.journal.record(
        called(job, usd=0.31, tokens=41_200),
        decided(job, "allow", "Read /work/tree/sample/greet.py", tool="Read"),
        decided(job, "deny", COMMAND),
        decided(job, "ask", "$ pip download requests"),
        decided(job, "allow", "$ pip download requests", by="ann"),
        called(job, usd=0, tokens=0, status=529),
        called(job, usd=0.11, tokens=9_100),
        AgentLimited(
            job=job.id, epoch=1, provider="anthropic", limit="5-hour", resets_at=house.clock.now() + timedelta(hours=2)
        ),
        AgentEnded(job=job.id, epoch=1, outcome=Outcome.OK, why="It has a plan.", conversation="c1"),
    )


async def fuel(house: House) -> None:
    """What providers say is left: much, little, and nothing."""
    soon = house.clock.now() + timedelta(hours=3)
    await house.journal.record(
        FuelRead(provider="anthropic", limit="5h", remaining=0.62, resets_at=soon),
        FuelRead(provider="anthropic", limit="7d", remaining=0.11, resets_at=soon + timedelta(days=4)),
        FuelRead(provider="openai", limit="requests", remaining=0.0, resets_at=soon, rejected=True),
    )
