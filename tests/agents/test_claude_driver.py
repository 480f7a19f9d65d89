"""The Claude driver against a program that says whatever we want: what the real one says seldom or never."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest

from midwatch.crew.drivers.claude.driver import ClaudeDriver
from midwatch.errors import Misuse
from midwatch.ports.agent import AgentBrief, Decide
from midwatch.terms.agents import Access, AgentEvent, Decision, Errand, Outcome, RunEnded
from tests.agents.plain_talk import PlainTalk
from tests.agents.stage import SHAPE, Judge

DRIVER = ClaudeDriver()
BRIEF = AgentBrief(
    Errand.EXECUTE, "Do it.", "some-model", Access(base_url="http://127.0.0.1:1", placeholder="sk-placeholder")
)

PROGRAM = """
import json, sys
for step in json.load(open(sys.argv[1])):
    if step == "listen":
        answer = sys.stdin.readline()
        with open(sys.argv[2], "a") as heard:
            heard.write(answer)
    elif isinstance(step, str):
        print(step, flush=True)
    elif "exit" in step:
        print("its last words", file=sys.stderr)
        sys.exit(step["exit"])
    else:
        print(json.dumps(step), flush=True)
"""

BEGIN = ["listen", "listen"]
"""The initialize request and the prompt."""
INIT = {"type": "system", "subtype": "init", "session_id": "talk-1", "model": "some-model", "claude_code_version": "9"}


def result(**more: Any) -> dict[str, Any]:
    plain = {
        "type": "result",
        "is_error": False,
        "terminal_reason": "completed",
        "num_turns": 1,
        "session_id": "talk-1",
    }
    return plain | {"result": "Done.", "total_cost_usd": 0.5} | more


def hook(question: str, call: str = "call-1", **given: Any) -> dict[str, Any]:
    about = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": call, "tool_input": given}
    request = {"subtype": "hook_callback", "callback_id": "midwatch", "input": about}
    return {"type": "control_request", "request_id": question, "request": request}


def request(question: str, subtype: str, **more: Any) -> dict[str, Any]:
    return {"type": "control_request", "request_id": question, "request": {"subtype": subtype, **more}}


class Stand:
    """Runs the program with a script of lines."""

    def __init__(self, folder: Any) -> None:
        self.folder = folder
        self.talks: list[PlainTalk] = []
        self.events: list[AgentEvent] = []

    async def begin(self, *steps: Any) -> PlainTalk:
        (self.folder / "steps.json").write_text(json.dumps([*BEGIN, *steps]))
        words = (sys.executable, "-c", PROGRAM, str(self.folder / "steps.json"), str(self.folder / "heard"))
        self.talks.append(await PlainTalk.begin(words, {}))
        return self.talks[-1]

    async def lead(self, *steps: Any, decide: Decide | None = None, brief: AgentBrief = BRIEF) -> RunEnded:
        talk = await self.begin(*steps)
        return await DRIVER.drive(talk, brief, decide or Judge(), self.tell)

    async def tell(self, event: AgentEvent) -> None:
        self.events.append(event)

    def heard(self) -> list[dict[str, Any]]:
        """What it was told after the beginning."""
        return [json.loads(line) for line in (self.folder / "heard").read_text().splitlines()][len(BEGIN) :]

    def kinds(self) -> list[str]:
        return [event.kind for event in self.events]


@pytest.fixture
async def stand(tmp_path: Any) -> AsyncIterator[Stand]:
    made = Stand(tmp_path)
    yield made
    for talk in made.talks:
        await talk.clear()


async def test_a_request_nobody_knows_is_answered_with_an_error_that_runs_nothing(stand: Stand) -> None:
    ended = await stand.lead(INIT, request("q1", "brew_coffee", tool_name="Bash"), "listen", result(), "listen")
    assert ended.outcome is Outcome.OK
    answer = stand.heard()[0]["response"]
    assert (answer["subtype"], answer["request_id"]) == ("error", "q1")
    assert "tool_requested" not in stand.kinds()


@pytest.mark.parametrize(
    "about",
    [
        {},
        {"input": "text"},
        {"input": {"hook_event_name": "PreToolUse", "tool_name": 7, "tool_input": {}}},
        {"input": {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": None}},
        {"input": {"hook_event_name": "Stop", "tool_name": "Bash", "tool_input": {}}},
    ],
)
async def test_a_call_that_cannot_be_read_is_refused(stand: Stand, about: Mapping[str, Any]) -> None:
    judge = Judge()
    await stand.lead(INIT, request("q1", "hook_callback", **about), "listen", result(), "listen", decide=judge)
    verdict = stand.heard()[0]["response"]["response"]["hookSpecificOutput"]
    assert verdict["permissionDecision"] == "deny"
    assert judge.asked == []


async def test_lines_that_make_no_sense_are_told_once_and_the_rest_is_read(stand: Stand) -> None:
    odd = ["plain words", "[1, 2]", '{"type": "assistant"}', "", '{"type": "never_heard_of", "x": 1}', "{"]
    ended = await stand.lead(INIT, *odd, result(), "listen")
    assert ended.outcome is Outcome.OK
    said = [event.text for event in stand.events if event.kind == "said"]
    assert len(said) == 1
    assert "plain words" in said[0]


async def test_its_own_second_question_about_the_same_call_is_not_put_to_a_person_again(stand: Stand) -> None:
    judge = Judge()
    again = request("q2", "can_use_tool", tool_name="Bash", tool_use_id="call-1", input={"command": "ls"})
    other = request("q3", "can_use_tool", tool_name="Bash", tool_use_id="call-1", input={"command": "rm"})
    steps = (INIT, hook("q1", command="ls"), "listen", again, "listen", other, "listen", result(), "listen")
    await stand.lead(*steps, decide=judge)
    assert [given["command"] for _, given in judge.asked] == ["ls", "rm"]
    assert stand.heard()[1]["response"]["response"] == {"behavior": "allow", "updatedInput": {"command": "ls"}}


async def test_relative_paths_count_from_where_its_shell_stands_and_the_model_cannot_say_otherwise(
    stand: Stand,
) -> None:
    judge = Judge()
    first = hook("q1", "call-1", command="ls")
    first["request"]["input"]["cwd"] = "/ws/src"
    lied = hook("q2", "call-2", command="rm x", cwd="/ws/src")
    lied["request"]["input"]["cwd"] = "/"
    later = request("q3", "can_use_tool", tool_name="Bash", tool_use_id="call-3", input={"command": "cat x"})
    await stand.lead(INIT, first, "listen", lied, "listen", later, "listen", result(), "listen", decide=judge)
    assert [(given["command"], given["cwd"]) for _, given in judge.asked] == [
        ("ls", "/ws/src"),
        ("rm x", "/"),
        ("cat x", "/"),
    ]
    assert stand.heard()[2]["response"]["response"]["updatedInput"] == {"command": "cat x"}


async def test_a_question_it_takes_back_is_not_answered(stand: Stand) -> None:
    asking: list[str] = []

    async def person(tool: str, given: Mapping[str, Any]) -> Decision:
        asking.append(tool)
        try:
            await asyncio.Event().wait()
        finally:
            asking.remove(tool)
        return Decision(allowed=True, why=f"{tool} {given}")

    seen: list[list[str]] = []

    async def tell(event: AgentEvent) -> None:
        for _ in range(5):
            await asyncio.sleep(0)
        if event.kind == "said":
            seen.append(list(asking))

    cancel = {"type": "control_cancel_request", "request_id": "q1"}
    talk = await stand.begin(INIT, hook("q1", command="ls"), cancel, "not a message", result(), "listen")
    assert (await DRIVER.drive(talk, BRIEF, person, tell)).outcome is Outcome.OK
    assert seen == [[]]
    assert "q1" not in talk.given


async def test_a_question_left_open_by_a_program_that_died_is_dropped(stand: Stand) -> None:
    async def person(tool: str, given: Mapping[str, Any]) -> Decision:
        await asyncio.Event().wait()
        return Decision(allowed=True, why=f"{tool} {given}")

    ended = await stand.lead(INIT, hook("q1", command="ls"), {"exit": 3}, decide=person)
    assert ended.outcome is Outcome.CRASHED
    assert ended.conversation == "talk-1"
    assert "exit code 3" in ended.why
    assert "its last words" in ended.why


async def test_the_last_of_several_results_counts_and_it_is_let_go_only_then(stand: Stand) -> None:
    first = result(queued_turn_count=1)
    last = result(is_error=True, terminal_reason="api_error", api_error_status=402, result="no more")
    ended = await stand.lead(INIT, first, last, "listen")
    assert ended.outcome is Outcome.BUDGET
    assert list(stand.talks[0].given) == ["midwatch-begin", "midwatch-end-2"]


@pytest.mark.parametrize(
    ("told", "outcome"),
    [
        ({"is_error": True, "terminal_reason": "api_error", "api_error_status": 403}, Outcome.AUTH),
        ({"is_error": True, "terminal_reason": "api_error", "api_error_status": 404}, Outcome.FAILED),
        ({"is_error": True, "terminal_reason": "api_error", "api_error_status": 413}, Outcome.FAILED),
        ({"is_error": True, "terminal_reason": "api_error", "api_error_status": 503}, Outcome.NETWORK),
        ({"is_error": True, "terminal_reason": "api_error", "api_error_status": None}, Outcome.NETWORK),
        ({"is_error": True, "terminal_reason": "max_turns"}, Outcome.MAX_TURNS),
        ({"is_error": True, "terminal_reason": "budget_exhausted"}, Outcome.BUDGET),
        ({"is_error": True, "terminal_reason": "never_heard_of"}, Outcome.FAILED),
        ({"is_error": True, "terminal_reason": None}, Outcome.FAILED),
        ({"is_error": False, "terminal_reason": "aborted_tools"}, Outcome.FAILED),
        ({"num_turns": 0}, Outcome.FAILED),
        ({"subtype": "error_during_execution"}, Outcome.OK),
    ],
)
async def test_the_outcome_is_what_the_result_says(stand: Stand, told: dict[str, Any], outcome: Outcome) -> None:
    ended = await stand.lead(INIT, result(**told), "listen", {"exit": 1})
    assert ended.outcome is outcome
    assert bool(ended.why) is (outcome is not Outcome.OK)


async def test_no_result_after_a_stop_of_ours_is_cancelled(stand: Stand) -> None:
    talk = await stand.begin(INIT, "listen")
    async with asyncio.TaskGroup() as group:
        leading = group.create_task(DRIVER.drive(talk, BRIEF, Judge(), stand.tell))
        await talk.hears(1)
        await talk.stop()
    assert leading.result().outcome is Outcome.CANCELLED


async def test_a_tool_named_like_the_handover_is_decided_where_no_answer_was_agreed(stand: Stand) -> None:
    judge = Judge()
    ask = hook("q1")
    ask["request"]["input"]["tool_name"] = "StructuredOutput"
    await stand.lead(INIT, ask, "listen", result(), "listen", decide=judge)
    assert [tool for tool, _ in judge.asked] == ["StructuredOutput"]


async def test_a_program_that_left_before_it_was_spoken_to_has_crashed(stand: Stand) -> None:
    talk = await stand.begin()
    await talk.clear()
    ended = await DRIVER.drive(talk, BRIEF, Judge(), stand.tell)
    assert ended.outcome is Outcome.CRASHED


async def test_events_are_told_one_after_the_other(stand: Stand) -> None:
    telling: list[str] = []
    most = 0

    async def tell(event: AgentEvent) -> None:
        nonlocal most
        telling.append(event.kind)
        most = max(most, len(telling))
        await asyncio.sleep(0.02)
        telling.pop()

    calls = [hook(f"q{number}", f"call-{number}", command=str(number)) for number in range(5)]
    talk = await stand.begin(INIT, *calls, *["listen"] * 5, result(), "listen")
    assert (await DRIVER.drive(talk, BRIEF, Judge(), tell)).outcome is Outcome.OK
    assert most == 1


async def test_what_goes_wrong_while_telling_is_raised_and_nothing_is_allowed(stand: Stand) -> None:
    async def tell(event: AgentEvent) -> None:
        if event.kind == "tool_decided":
            raise OSError("the journal is away")

    talk = await stand.begin(INIT, hook("q1", command="ls"), "listen")
    with pytest.raises(OSError, match="the journal is away"):
        await DRIVER.drive(talk, BRIEF, Judge(), tell)
    assert "q1" not in talk.given


def test_exactly_one_credential_of_the_right_kind_is_set() -> None:
    key = DRIVER.launch(BRIEF, "/bin/claude").environment
    token = DRIVER.launch(
        AgentBrief(Errand.PLAN, "x", "m", Access(base_url="http://x", placeholder="t", kind="oauth")), "/bin/claude"
    ).environment
    names = {"ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_AUTH_TOKEN"}
    assert (names & set(key), names & set(token)) == ({"ANTHROPIC_API_KEY"}, {"CLAUDE_CODE_OAUTH_TOKEN"})


@pytest.mark.parametrize(("small", "expected"), [("", "m"), ("s", "s")])
def test_each_of_its_words_for_models_means_one_it_may_ask(small: str, expected: str) -> None:
    """Titles and subagents would ask a model by another name, which the proxy refuses."""
    access = Access(base_url="http://x", placeholder="t")
    environment = DRIVER.launch(AgentBrief(Errand.PLAN, "x", "m", access, small), "/bin/claude").environment
    words = {name.removeprefix("ANTHROPIC_"): value for name, value in environment.items() if name.endswith("_MODEL")}
    assert words == {
        "SMALL_FAST_MODEL": expected,
        "DEFAULT_HAIKU_MODEL": expected,
        "DEFAULT_SONNET_MODEL": "m",
        "DEFAULT_OPUS_MODEL": "m",
    }


def test_planning_is_offered_only_what_reads_whatever_the_settings_allow() -> None:
    plan = AgentBrief(
        Errand.PLAN,
        "x",
        "m",
        Access(base_url="http://x", placeholder="t"),
        schema=SHAPE,
        tools=("Bash(git *)", "Write"),
    )
    words = DRIVER.launch(plan, "claude").argv
    assert words[words.index("--tools") + 1] == "Read,Grep,Glob"
    assert words[words.index("--permission-mode") + 1] == "plan"
    assert json.loads(words[words.index("--json-schema") + 1]) == SHAPE


def test_working_is_offered_the_tools_of_the_settings_and_nothing_is_bypassed() -> None:
    work = AgentBrief(
        Errand.EXECUTE,
        "x",
        "m",
        Access(base_url="http://x", placeholder="t"),
        tools=("Read", "Bash(git *)", "Bash(bun *)"),
    )
    words = DRIVER.launch(work, "claude").argv
    assert words[words.index("--tools") + 1] == "Read,Bash"
    assert words[words.index("--permission-mode") + 1] == "default"
    assert words[words.index("--setting-sources") + 1] == ""
    assert not [word for word in words if "bypass" in word or "dangerously" in word]


def test_no_model_and_a_strange_credential_are_refused_with_a_hint() -> None:
    with pytest.raises(Misuse, match="no model") as nameless:
        DRIVER.launch(AgentBrief(Errand.PLAN, "x", "", Access(base_url="http://x", placeholder="t")), "claude")
    assert nameless.value.hint
    with pytest.raises(Misuse, match="'cookie'"):
        DRIVER.launch(
            AgentBrief(Errand.PLAN, "x", "m", Access(base_url="http://x", placeholder="t", kind="cookie")), "claude"
        )
