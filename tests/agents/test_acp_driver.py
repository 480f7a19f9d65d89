"""The ACP driver against a program that says whatever we want."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from midwatch.crew.drivers.acp.agents import AcpAgent
from midwatch.crew.drivers.acp.calls import calls
from midwatch.crew.drivers.acp.driver import AcpDriver
from midwatch.errors import Misuse
from midwatch.ports.agent import AgentBrief
from midwatch.terms.agents import Access, Errand, Outcome
from tests.agents.codex_stand import Stand
from tests.agents.stage import Judge

PLAIN = Access(base_url="http://127.0.0.1:1/", placeholder="sk-placeholder")
BRIEF = AgentBrief(Errand.EXECUTE, "Do it.", "some-model", PLAIN, extra={"folder": "/repo"})
AGENT = AcpAgent("someone", ("--acp", "{model}"), {"KEY": "{key}", "URL": "{base_url}/v1"})
HELLO = ["listen", {"id": 1, "result": {"agentCapabilities": {}, "agentInfo": {"version": "9"}}}, "listen"]
BEGIN: list[Any] = [*HELLO, {"id": 3, "result": {"sessionId": "s-1"}}, "listen"]
DONE = {"id": 11, "result": {"stopReason": "end_turn"}}
OPTIONS = [{"optionId": "a", "kind": "allow_always"}, {"optionId": "o", "kind": "allow_once"}]
NO = {"optionId": "n", "kind": "reject_once"}


def ask(number: int, *options: dict[str, Any], **about: Any) -> dict[str, Any]:
    given = {"sessionId": "s-1", "toolCall": {"toolCallId": "c", **about}, "options": options or [*OPTIONS, NO]}
    return {"id": number, "method": "session/request_permission", "params": given}


def update(word: str, **more: Any) -> dict[str, Any]:
    about = {"sessionId": "s-1", "update": {"sessionUpdate": word, **more}}
    return {"method": "session/update", "params": about}


def run(command: str) -> dict[str, Any]:
    return {"kind": "execute", "rawInput": {"command": command}}


def number(asked: dict[str, Any], call: str) -> dict[str, Any]:
    asked["params"]["toolCall"]["toolCallId"] = call
    return asked


def said(text: str) -> dict[str, Any]:
    return update("agent_message_chunk", content={"type": "text", "text": text})


@pytest.fixture
async def stand(tmp_path: Path) -> AsyncIterator[Stand]:
    made = Stand(tmp_path, AcpDriver(AGENT), BRIEF)
    yield made
    for talk in made.talks:
        await talk.clear()


async def test_a_yes_is_for_this_call_only(stand: Stand) -> None:
    await stand.lead(*BEGIN, ask(0, **run("true")), "listen", DONE)
    assert stand.answer(0)["result"]["outcome"] == {"outcome": "selected", "optionId": "o"}


async def test_where_only_always_is_offered_the_answer_is_no(stand: Stand) -> None:
    await stand.lead(*BEGIN, ask(0, OPTIONS[0], NO, **run("true")), "listen", DONE)
    assert stand.answer(0)["result"]["outcome"] == {"outcome": "selected", "optionId": "n"}
    assert [one.allowed for one in stand.only("tool_decided")] == [False]


async def test_where_no_cannot_be_chosen_the_turn_is_cancelled(stand: Stand) -> None:
    await stand.lead(*BEGIN, ask(0, *OPTIONS, **run("rm x")), "listen", DONE, decide=Judge(no=("rm",)))
    assert stand.answer(0)["result"]["outcome"] == {"outcome": "cancelled"}


@pytest.mark.parametrize(
    "about",
    [
        {"kind": "execute", "rawInput": {}},
        {"kind": "execute", "rawInput": "touch x", "title": "touch x"},
        {"kind": "read"},
        {"kind": "edit", "rawInput": {"content": "x"}},
        {"kind": "edit", "locations": "x", "content": [3]},
    ],
)
async def test_a_call_that_cannot_be_read_is_refused_and_nobody_is_asked(stand: Stand, about: dict[str, Any]) -> None:
    judge = Judge()
    await stand.lead(*BEGIN, ask(0, **about), "listen", DONE, decide=judge)
    assert stand.answer(0)["result"]["outcome"]["optionId"] == "n"
    assert judge.asked == []


async def test_files_and_terminals_are_not_lent(stand: Stand) -> None:
    asked = {"id": 5, "method": "fs/write_text_file", "params": {"path": "/x", "content": "y"}}
    ended = await stand.lead(*BEGIN, asked, "listen", DONE)
    assert ended.outcome is Outcome.OK
    assert "error" in stand.answer(5)
    offered = stand.heard()[0]["params"]["clientCapabilities"]
    assert offered == {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False}


async def test_details_told_before_the_question_belong_to_it(stand: Stand) -> None:
    judge = Judge()
    told = update("tool_call_update", toolCallId="c", kind="read", rawInput={"filePath": "a.txt"})
    await stand.lead(*BEGIN, told, ask(0, kind="read", rawInput={}), "listen", DONE, decide=judge)
    assert [(tool, given["file_path"]) for tool, given in judge.asked] == [("Read", "/repo/a.txt")]


async def test_history_told_again_on_resume_is_no_event(stand: Stand) -> None:
    old = update("agent_message_chunk", content={"type": "text", "text": "Old."})
    new = update("agent_message_chunk", content={"type": "text", "text": "New."})
    brief = replace(BRIEF, conversation="s-0")
    ended = await stand.lead(*HELLO, old, {"id": 3, "result": {}}, "listen", new, DONE, brief=brief)
    assert [one.text for one in stand.only("said")] == ["New."]
    assert ended.conversation == "s-0"
    assert stand.heard()[1]["method"] == "session/load"


async def test_a_turn_that_a_refusal_ended_is_gone_on_with_and_at_last_told_as_such(stand: Stand) -> None:
    failed = update("tool_call_update", toolCallId="c", status="failed")
    script: list[Any] = [ask(0, **run("rm x")), "listen", failed, DONE]
    for number in (12, 13, 14):
        again = update("tool_call_update", toolCallId=f"c{number}", status="failed")
        about = ask(number * 100, **run("rm x"))
        about["params"]["toolCall"]["toolCallId"] = f"c{number}"
        script += ["listen", about, "listen", again, {"id": number, "result": {"stopReason": "end_turn"}}]
    ended = await stand.lead(*BEGIN, *script, decide=Judge(no=("rm",), why="Not that."))
    assert ended.outcome is Outcome.FAILED
    assert ended.why == "A refused call ended its turn, as it does with this agent. Not that."
    prompts = [one["params"]["prompt"][0]["text"] for one in stand.heard() if one.get("method") == "session/prompt"]
    assert len(prompts) == 4
    assert all("Not that." in text for text in prompts[1:])


async def test_a_refusal_after_work_that_was_allowed_is_the_first_again(stand: Stand) -> None:
    script: list[Any] = []
    for turn in range(5):
        yes, no = f"y{turn}", f"n{turn}"
        script += [number(ask(turn * 10, **run("ls")), yes), "listen"]
        script += [update("tool_call_update", toolCallId=yes, status="completed")]
        script += [number(ask(turn * 10 + 1, **run("rm x")), no), "listen"]
        script += [update("tool_call_update", toolCallId=no, status="failed"), {**DONE, "id": 11 + turn}, "listen"]
    ended = await stand.lead(*BEGIN, *script, said("Without it."), {**DONE, "id": 16}, decide=Judge(no=("rm",)))
    assert ended.outcome is Outcome.OK, ended
    assert len([one for one in stand.heard() if one.get("method") == "session/prompt"]) == 6


async def test_a_call_that_was_allowed_and_failed_is_no_refusal(stand: Stand) -> None:
    failed = update("tool_call_update", toolCallId="c", status="failed")
    ended = await stand.lead(*BEGIN, ask(0, **run("false")), "listen", failed, DONE)
    assert ended.outcome is Outcome.OK


async def test_a_refusal_that_ends_calls_not_asked_about_yet_is_gone_on_with(stand: Stand) -> None:
    failed = [update("tool_call_update", toolCallId=call, status="failed") for call in ("c", "d")]
    late = number(ask(1, **run("ls")), "d")  # it asks about a call that it has ended already
    script = [ask(0, **run("rm x")), "listen", *failed, late, DONE, "listen", "listen", said("Without it.")]
    ended = await stand.lead(*BEGIN, *script, {**DONE, "id": 12}, decide=Judge(no=("rm",), why="Not that."))
    assert ended.outcome is Outcome.OK
    prompts = [one["params"]["prompt"][0]["text"] for one in stand.heard() if one.get("method") == "session/prompt"]
    assert ["Not that." in text for text in prompts] == [False, True]


async def test_a_refusal_counts_although_another_call_of_its_turn_ends_well_after_it(stand: Stand) -> None:
    begun = [update("tool_call", toolCallId=call, **run("ls")) for call in ("c", "d")]
    ends = [update("tool_call_update", toolCallId="c", status="failed")]
    ends += [update("tool_call_update", toolCallId="d", status="completed")]
    script = [*begun, ask(0, **run("rm x")), "listen", *ends, DONE, "listen", said("Without it.")]
    ended = await stand.lead(*BEGIN, *script, {**DONE, "id": 12}, decide=Judge(no=("rm",), why="Not that."))
    assert ended.outcome is Outcome.OK
    assert "Not that." in stand.heard()[-1]["params"]["prompt"][0]["text"]


PLAN = replace(BRIEF, errand=Errand.PLAN, schema={"type": "object"})
"""A plan: its last words are to be a JSON object."""


async def test_a_plan_without_its_object_is_asked_for_once_more(stand: Stand) -> None:
    late = said("Thus:\n```json\n{}\n```")  # some versions send the last words after the turn's end
    ended = await stand.lead(*BEGIN, said("I will."), DONE, "listen", late, {**DONE, "id": 12}, brief=PLAN)
    assert (ended.outcome, ended.structured) == (Outcome.OK, {})
    prompts = [one["params"]["prompt"][0]["text"] for one in stand.heard() if one.get("method") == "session/prompt"]
    assert len(prompts) == 2
    assert "did not end with the JSON object" in prompts[1]
    assert prompts[1].endswith('{"type": "object"}')


async def test_a_plan_that_is_talk_again_has_failed(stand: Stand) -> None:
    ended = await stand.lead(*BEGIN, said("I will."), DONE, "listen", {**DONE, "id": 12}, brief=PLAN)
    assert ended.outcome is Outcome.FAILED
    assert "required JSON form" in ended.why


@pytest.mark.parametrize("reason", ["refusal", "max_tokens", "max_turn_requests"])
async def test_a_plan_that_another_end_cut_short_is_not_asked_for_again(stand: Stand, reason: str) -> None:
    ended = await stand.lead(*BEGIN, said("I will."), {"id": 11, "result": {"stopReason": reason}}, brief=PLAN)
    assert ended.outcome is not Outcome.OK
    assert len([one for one in stand.heard() if one.get("method") == "session/prompt"]) == 1


async def test_while_planning_a_command_is_judged_by_the_rules_and_a_change_is_refused(stand: Stand) -> None:
    judge = Judge()
    write = number(ask(1, kind="edit", rawInput={"filePath": "/repo/x", "content": "y"}), "d")
    await stand.lead(*BEGIN, ask(0, **run("ls")), "listen", write, "listen", said("{}"), DONE, decide=judge, brief=PLAN)
    assert [given["command"] for _, given in judge.asked] == ["ls"]
    assert [stand.answer(each)["result"]["outcome"]["optionId"] for each in (0, 1)] == ["o", "n"]


async def test_more_turns_than_it_may_are_cancelled_and_nothing_more_is_allowed(stand: Stand) -> None:
    judge = Judge()
    first = (update("tool_call", toolCallId="c", **run("a")), ask(0, **run("a")), "listen")
    ended_call = update("tool_call_update", toolCallId="c", status="completed")
    second = ask(1, **run("b"))
    second["params"]["toolCall"]["toolCallId"] = "d"
    more = (update("tool_call", toolCallId="d", **run("b")), "listen", second, "listen")
    cancelled = {"id": 11, "result": {"stopReason": "cancelled"}}
    brief = replace(BRIEF, max_turns=1)
    ended = await stand.lead(*BEGIN, *first, ended_call, *more, cancelled, decide=judge, brief=brief)
    assert ended.outcome is Outcome.MAX_TURNS
    assert [given["command"] for _, given in judge.asked] == ["a"]
    assert [one["params"] for one in stand.heard() if one.get("method") == "session/cancel"] == [{"sessionId": "s-1"}]
    assert stand.answer(1)["result"]["outcome"]["optionId"] == "n"


@pytest.mark.parametrize(
    ("end", "outcome"),
    [
        ({"result": {"stopReason": "max_turn_requests"}}, Outcome.MAX_TURNS),
        ({"result": {"stopReason": "cancelled"}}, Outcome.CANCELLED),
        ({"result": {"stopReason": "refusal"}}, Outcome.FAILED),
        ({"result": {}}, Outcome.FAILED),
        ({"error": {"code": 1, "message": "429 Too Many Requests"}}, Outcome.LIMIT),
        ({"error": {"code": 1, "message": "Internal error", "data": {"details": "401 Unauthorized"}}}, Outcome.AUTH),
        ({"error": {"code": 1, "message": "Unable to connect."}}, Outcome.NETWORK),
        ({"error": {"code": 1, "message": "No."}}, Outcome.FAILED),
        ({"error": "odd"}, Outcome.FAILED),
    ],
)
async def test_a_run_is_named_by_its_last_words(stand: Stand, end: dict[str, Any], outcome: Outcome) -> None:
    assert (await stand.lead(*BEGIN, {"id": 11, **end})).outcome is outcome


async def test_what_is_no_protocol_is_told_once_and_stops_nothing(stand: Stand) -> None:
    odd = ["not json", "[1]", {"method": "session/update", "params": {}}, update("tool_call"), update("brand_new")]
    ended = await stand.lead(*BEGIN, *odd, DONE)
    assert ended.outcome is Outcome.OK
    assert len([one for one in stand.only("said") if "outside its protocol" in one.text]) == 1


async def test_a_program_that_ends_without_a_word_has_crashed(stand: Stand) -> None:
    assert (await stand.lead(*BEGIN, {"exit": 0})).outcome is Outcome.CRASHED


def test_every_file_of_a_change_is_named() -> None:
    shown = {"type": "diff", "path": "/repo/shown", "oldText": None, "newText": "x"}
    about = {
        "kind": "edit",
        "rawInput": {"filePath": "given"},
        "locations": [{"path": "/repo/place"}],
        "content": [shown],
    }
    assert sorted(given["file_path"] for _, given in calls(about, "/repo")) == [
        "/repo/given",
        "/repo/place",
        "/repo/shown",
    ]


def test_a_brief_without_a_folder_a_model_or_a_key_is_refused() -> None:
    driver = AcpDriver(AGENT)
    launch = driver.launch(BRIEF, "/bin/someone")
    assert launch.argv == ("/bin/someone", "--acp", "some-model")
    assert launch.environment == {"KEY": "sk-placeholder", "URL": "http://127.0.0.1:1/v1"}
    login = replace(BRIEF, access=PLAIN.model_copy(update={"kind": "oauth"}))
    for wrong in (replace(BRIEF, extra={}), replace(BRIEF, model=""), login):
        with pytest.raises(Misuse):
            driver.launch(wrong, "/bin/someone")
