"""Every surface shows the same facts of an ask, and an answer names the hash of what was shown (A5, X7)."""

import html
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from midwatch.journal.events.session import AskOpened
from midwatch.night.notify.message_text import compose
from midwatch.night.notify.notice import job_notice
from midwatch.rules.people.asks import SILENCE
from midwatch.surfaces.cli.night.asks import show_ask
from midwatch.terms.asks import AskDraft, AskKind, AskState, Delivery, DeliveryState, Silence, Tier, held_question
from midwatch.terms.records import AskRow, DeliveryRow, JobRow, NoticeRow, SessionRow
from midwatch.views.pages.live.open_asks import UNMERGED
from midwatch.views.text.markdown_safe import unlinked
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


KINDS = {
    AskKind.CONFIRM_ACT: held_question(1, "Bash", "git push --force\n# all of it"),
    AskKind.GUIDANCE_ERROR: "The credential was refused. Fix it?",
    AskKind.GUIDANCE_UNCERTAIN: "Which of the two names?",
    AskKind.SPEND: "May it spend $5.00 more?",
    AskKind.QUESTION: "Which colour?",
    AskKind.DECISION: "Keep the old name?",
}


def plainly(page: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).split())


async def test_each_kind_of_ask_has_the_same_facts_on_every_surface(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with with_a_plan_outside(tmp_path) as (house, visitor):
        records = house.house.records
        (job,) = await records.find(JobRow)
        for kind, question in KINDS.items():
            draft = AskDraft(kind=kind, question=question, silence=SILENCE[kind], subject=job.id, project=job.project)
            opened = AskOpened(ask=f"ask_{kind}", session=job.session, draft=draft, due_at=None)
            told = job_notice(house.house.ids, job, Tier.ACTION, draft.question, subject=opened.ask)
            await house.house.journal.record(opened, told)
        in_status = {row["id"]: row for row in (await visitor.api("GET", "/status")).json()["asks"]}
        listed = {row["id"]: row for row in (await visitor.api("GET", "/asks")).json()}
        assert in_status == listed
        assert len(listed) == len(KINDS) + 1
        live, page = (await visitor.get("/live")).text, (await visitor.get("/jobs/1")).text
        for row in listed.values():
            one = (await visitor.api("GET", f"/asks/{row['number']}")).json()
            assert {key: one[key] for key in row} == row
            asked = one["heading"] if one["plan"] else one["what"]
            facts = [asked, one["outside"], one["undo"], one["silence_said"], *one["exactly"].split("\n")]
            assert one["undo"], "each of these can be taken back"
            show_ask(one)
            message = await written(house, row["id"])
            start = live.index(f'id="ask-{row["number"]}"')
            form = live[start : live.index("</form>", start)]
            start = page.index(f'aria-label="Ask {row["number"]}"')
            section = page[start : page.index("</section>", start)]
            said = " ".join(capsys.readouterr().out.replace("\n  | ", " ").split())
            for fact in filter(None, facts):
                for surface in (plainly(form), plainly(section)):
                    assert fact in surface or fact.replace("If you do not answer,", "If you do not answer") in surface
                if fact != one["heading"]:  # of a plan, a page shows the title and the terminal its question
                    assert fact in said
                    assert unlinked(fact, ()) in message or "If you do not answer within" in message


async def written(house: TestHouse, ask: str) -> str:
    """Write the message to a channel about an ask."""
    (notice,) = await house.house.records.find(NoticeRow, subject=ask)
    now = house.house.clock.now()
    row = DeliveryRow(
        id="dlv_1",
        notice=notice.id,
        channel="phone",
        session=notice.session,
        tier=Tier.ACTION,
        delivery=Delivery.NOW,
        state=DeliveryState.WAITING,
        due_at=now,
        attempts=0,
        push="",
        error="",
        created_at=now,
        settled_at=None,
    )
    _, text = await compose(house.house.records, house.house.loaded.settings, [row], "")
    return " ".join(text.split())


async def test_the_undo_is_ours_and_the_agents_words_are_marked_as_its_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A7: what an agent writes about an undo is never said by Midwatch."""
    lie = "Nothing to undo, this is safe."
    agent = PlanningAgent(write("sample/greet.py", "x = 1\n"), (LEAVES,), undo=lie)
    async for house in begun(tmp_path, agent, do_not_touch=("secrets/**",)):
        async with visiting(house.house) as visitor:
            await welcome(house.house, visitor)
            one = (await visitor.api("GET", "/asks/1")).json()
            assert (one["undo"], one["undo_by_agent"]) == (UNMERGED, lie)
            show_ask(one)
            said = capsys.readouterr().out
            assert f"  undo, in the agent's words: {lie}" in said
            assert f"  undo: {UNMERGED}" in said
            for address in ("/live", "/jobs/1"):
                page = plainly((await visitor.get(address)).text)
                assert f"Undo, in the agent's words {lie}" in page
                assert f"Undo: {UNMERGED}" in page
            assert lie not in await written(house, one["id"])


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
