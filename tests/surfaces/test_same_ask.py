"""Every surface shows the same facts of an ask, and an answer names the hash of what was shown (A5, X7)."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from midwatch.journal.events.session import AskOpened
from midwatch.surfaces.cli.night.asks import show_ask
from midwatch.terms.asks import AskDraft, AskKind, AskState, Silence
from midwatch.terms.records import AskRow, NoticeRow, SessionRow
from tests.nights.house import TestHouse
from tests.nights.scripted import PlanningAgent, write
from tests.nights.test_plans import begun
from tests.surfaces.visitor import Visitor, visiting, welcome

LEAVES = "secrets/key.py"


@asynccontextmanager
async def with_a_plan_outside(folder: Path) -> AsyncIterator[tuple[TestHouse, Visitor]]:
    agent = PlanningAgent(write("sample/greet.py", "x = 1\n"), (LEAVES,))
    async for house in begun(folder, agent, do_not_touch=("secrets/**",)):
        async with visiting(house.house) as visitor:
            await welcome(house.house, visitor)
            yield house, visitor


async def test_live_api_terminal_and_notice_say_that_a_plan_leaves_the_orders(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with with_a_plan_outside(tmp_path) as (house, visitor):
        (listed,) = (await visitor.api("GET", "/asks")).json()
        one = (await visitor.api("GET", "/asks/1")).json()
        assert LEAVES in one["outside"]
        assert {key: one[key] for key in listed} == listed
        page = (await visitor.get("/live")).text
        form = page[page.index('id="ask-1"') : page.index("<form", page.index('id="ask-1"'))]
        assert "This plan goes outside your orders." in form
        assert LEAVES in form
        for fact in (one["heading"], one["silence_said"]):
            assert fact.split(". ")[0] in form
        show_ask(one)
        said = " ".join(capsys.readouterr().out.split())
        assert "This plan goes outside your orders." in said
        assert one["silence_said"] in said
        notices = await house.house.records.find(NoticeRow)
        assert any("outside your orders" in row.text for row in notices)


async def test_an_answer_without_the_hash_of_what_was_shown_is_refused_everywhere(tmp_path: Path) -> None:
    async with with_a_plan_outside(tmp_path) as (house, visitor):
        session = (await house.house.records.find(SessionRow))[-1]
        plain = AskDraft(
            kind=AskKind.QUESTION, question="Which colour?", options=("red", "blue"), silence=Silence.TO_BRIEF
        )
        await house.house.journal.record(AskOpened(ask="ask_plain", session=session.id, draft=plain, due_at=None))
        for name in ("1", "ask_plain"):
            shown = (await visitor.api("GET", f"/asks/{name}")).json()
            first = shown["options"][0]
            assert shown["shown_hash"]
            assert (await visitor.api("POST", f"/asks/{name}/answer", {"answer": first})).status_code == 400
            assert (await visitor.post(f"/asks/{shown['id']}/answer", {"answer": first})).status_code == 400
            other = await visitor.api("POST", f"/asks/{name}/answer", {"answer": first, "shown_hash": "0" * 64})
            assert other.status_code == 403
            assert "is not the question that you were shown" in other.json()["error"]["message"]
            assert shown["what"][:20] in " ".join(other.json()["error"]["because"])
            body = {"answer": first, "shown_hash": shown["shown_hash"]}
            assert (await visitor.api("POST", f"/asks/{name}/answer", body)).status_code == 200
            late = await visitor.api("POST", f"/asks/{name}/answer", body)
            assert "ann" in late.json()["error"]["message"]
            assert (await house.house.records.get(AskRow, name)).state is AskState.ANSWERED
