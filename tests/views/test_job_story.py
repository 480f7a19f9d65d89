"""What a job's agents did, put together from single entries."""

from collections.abc import Sequence

from midwatch.journal.entry import Entry
from midwatch.journal.events import Event
from midwatch.journal.events.crew import AgentEnded, ModelCalled, ToolCallDecided
from midwatch.terms.agents import Outcome, Tokens
from midwatch.views.pages.job_story import Call, errands_of
from tests.views.test_live import at


def decided(verdict: str, shown: str, *, by: str = "", job: str = "j", epoch: int = 1) -> ToolCallDecided:
    given = {"job": job, "epoch": epoch, "call": "1.1", "tool": "Bash", "shown": shown, "verdict": verdict}
    return ToolCallDecided.model_validate(given | {"code": "c", "why": "Because.", "by": by})


def paid(usd_micros: int, *, epoch: int = 1, status: int = 200, estimated: bool = False) -> ModelCalled:
    return ModelCalled(
        reservation="r", job="j", epoch=epoch, provider="p", model="m", api="a", status=status,
        tokens=Tokens(input=10, output=5), usd_micros=usd_micros, estimated=estimated,
    )  # fmt: skip


def told(*events: Event) -> list[Entry]:
    return [at(number, event, number + 1) for number, event in enumerate(events)]


def calls(entries: Sequence[Entry]) -> list[tuple[str, str, bool, str]]:
    return [_brief(call) for errand in errands_of(entries, "j") for call in errand.calls]


def _brief(call: Call) -> tuple[str, str, bool, str]:
    return call.shown, call.verdict, call.asked, call.by


def test_an_answer_takes_the_place_of_its_own_question_whatever_came_between() -> None:
    entries = told(
        decided("ask", "$ one"), decided("ask", "$ two"), decided("allow", "$ three"),
        decided("deny", "$ two"), decided("allow", "$ one", by="ann"),
    )  # fmt: skip
    assert calls(entries) == [
        ("$ one", "allowed", True, "ann"),
        ("$ two", "refused", True, ""),
        ("$ three", "allowed", False, ""),
    ]


def test_the_same_command_decided_twice_is_two_calls() -> None:
    assert len(calls(told(decided("allow", "$ ls"), decided("allow", "$ ls")))) == 2


def test_each_errand_has_its_own_cost_and_guesses_are_called_so() -> None:
    first, second = errands_of(
        told(paid(300_000), paid(0, status=0), paid(20_000, epoch=2, estimated=True), decided("deny", "x", job="k")),
        "j",
    )
    assert first.cost == "2 requests · 30 tokens · $0.30 · 1 request failed"
    assert second.cost == "1 request · 15 tokens · about $0.02"
    assert not first.calls


def test_every_outcome_has_its_words() -> None:
    for outcome in Outcome:
        (errand,) = errands_of(told(AgentEnded(job="j", epoch=1, outcome=outcome, why="")), "j")
        assert " " in errand.ended or errand.ended == "failed"
