"""The Codex driver against a program that says whatever we want: what the real one says seldom or never."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from midwatch.crew.drivers.codex.driver import CodexDriver
from midwatch.crew.drivers.codex.executing import CodexExecDriver
from midwatch.crew.drivers.codex.plain_reading import readings, unwrapped
from midwatch.crew.roster import fitting
from midwatch.errors import Misuse
from midwatch.ports.agent import AgentBrief
from midwatch.terms.agents import Access, Errand, Outcome
from tests.agents.codex_stand import Stand
from tests.agents.stage import Judge

BRIEF = AgentBrief(
    Errand.EXECUTE, "Do it.", "some-model", Access(base_url="http://127.0.0.1:1/", placeholder="sk-placeholder")
)
BEGIN: list[Any] = [
    *("listen", "listen", "listen"),
    {"id": 1, "result": {"userAgent": "midwatch/9.9 (x)"}},
    {"id": 2, "result": {"thread": {"id": "thread-1"}, "model": "some-model"}},
    "listen",
    {"id": 3, "result": {"turn": {"id": "turn-1"}}},
]
OURS = {"threadId": "thread-1", "turnId": "turn-1"}


def steered(number: int) -> list[Any]:
    """It hears why, says that it did, and hears the no."""
    return ["listen", {"id": f"why-codex-{number}", "result": {"turnId": "turn-1"}}, "listen"]


def note(method: str, **given: Any) -> dict[str, Any]:
    return {"method": method, "params": OURS | given}


def over(status: str = "completed", **error: Any) -> dict[str, Any]:
    return note("turn/completed", turn={"id": "turn-1", "status": status, "error": error or None})


def command(number: int, words: str, **more: Any) -> dict[str, Any]:
    given = OURS | {"itemId": f"item-{number}", "kind": "command", "command": words, "cwd": "/repo"} | more
    return {"id": number, "method": "item/commandExecution/requestApproval", "params": given}


def patch(number: int, item: str) -> dict[str, Any]:
    return {"id": number, "method": "item/fileChange/requestApproval", "params": OURS | {"itemId": item}}


def change(item: str, *changes: dict[str, Any]) -> dict[str, Any]:
    return note("item/started", item={"type": "fileChange", "id": item, "changes": list(changes)})


@pytest.fixture
async def stand(tmp_path: Path) -> AsyncIterator[Stand]:
    made = Stand(tmp_path, CodexDriver(), BRIEF)
    yield made
    for talk in made.talks:
        await talk.clear()


@pytest.mark.parametrize(
    "asked",
    [
        {"command": None},
        {"command": ["touch", "x"]},
        {"kind": "writeStdin"},
        {"networkApprovalContext": {"host": "outside.example"}},
    ],
)
async def test_a_call_that_cannot_be_read_is_refused_and_nobody_is_asked(stand: Stand, asked: dict[str, Any]) -> None:
    judge = Judge()
    ended = await stand.lead(*BEGIN, command(0, "true") | {}, "listen", over(), decide=judge)
    assert ended.outcome is Outcome.OK
    assert len(judge.asked) == 1
    await stand.lead(*BEGIN, command(7, "true", **asked), *steered(7), over(), decide=judge)
    assert stand.answer(7)["result"] == {"decision": "decline"}
    assert len(judge.asked) == 1


async def test_a_change_of_files_nobody_named_is_refused(stand: Stand) -> None:
    judge = Judge()
    await stand.lead(*BEGIN, patch(0, "never-shown"), *steered(0), over(), decide=judge)
    assert stand.answer(0)["result"] == {"decision": "decline"}
    assert judge.asked == []


async def test_one_forbidden_file_forbids_the_whole_change_and_a_move_names_both_ends(stand: Stand) -> None:
    judge = Judge(no=("secret",))
    parts = (
        {"path": "/repo/new", "kind": {"type": "add"}, "diff": "x"},
        {"path": "/repo/old", "kind": {"type": "update", "move_path": "/repo/secret"}, "diff": "y"},
    )
    await stand.lead(*BEGIN, change("item-0", *parts), patch(0, "item-0"), *steered(0), over(), decide=judge)
    assert [(tool, given["file_path"]) for tool, given in judge.asked] == [
        ("Write", "/repo/new"),
        ("Edit", "/repo/old"),
        ("Write", "/repo/secret"),
    ]
    assert stand.answer(0)["result"] == {"decision": "decline"}
    said = next(one for one in stand.heard() if one.get("method") == "turn/steer")
    assert judge.why in said["params"]["input"][0]["text"]


async def test_a_question_nobody_knows_is_answered_with_an_error_that_runs_nothing(stand: Stand) -> None:
    odd = {"id": "x", "method": "item/permissions/requestApproval", "params": OURS}
    ended = await stand.lead(*BEGIN, odd, "listen", over())
    assert ended.outcome is Outcome.OK
    assert "error" in stand.answer("x")


async def test_more_leave_is_put_to_the_rules_and_never_given(stand: Stand) -> None:
    judge = Judge()
    more = {"itemId": "i", "permissions": {"network": {"enabled": True}}}
    odd = {"id": "x", "method": "item/permissions/requestApproval", "params": OURS | more}
    await stand.lead(*BEGIN, odd, "listen", over(), decide=judge)
    assert judge.asked == [("RequestPermissions", {"permissions": {"network": {"enabled": True}}})]
    assert "error" in stand.answer("x")
    root = patch(0, "item-0")
    root["params"]["grantRoot"] = "/"
    part = {"path": "/repo/new", "kind": {"type": "add"}, "diff": "x"}
    judge = Judge(no=("RequestPermissions",))
    await stand.lead(*BEGIN, change("item-0", part), root, *steered(0), over(), decide=judge)
    assert [tool for tool, _ in judge.asked] == ["RequestPermissions"]
    assert stand.answer(0)["result"] == {"decision": "decline"}


async def test_what_is_no_protocol_is_told_once_and_stops_nothing(stand: Stand) -> None:
    odd = ["not json", "[1]", '"x"', {"method": "item/completed", "params": None}, {"method": "item/completed"}]
    strange = [{"method": "brand/new", "params": {"a": 1}}, {"id": 99}, note("error", error="odd", willRetry=True)]
    ended = await stand.lead(*BEGIN, *odd, *strange, over())
    assert ended.outcome is Outcome.OK
    assert len([one for one in stand.only("said") if "outside its protocol" in one.text]) == 1


async def test_what_ran_without_asking_is_seen(stand: Stand) -> None:
    item = {"type": "commandExecution", "id": "i", "command": "ls", "cwd": "/", "status": "completed", "exitCode": 0}
    await stand.lead(*BEGIN, note("item/completed", item=item), over())
    assert [one.call for one in stand.only("tool_requested")] == ["i"]
    assert stand.only("tool_decided") == []


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        ({"message": "x", "codexErrorInfo": "unauthorized"}, Outcome.AUTH),
        ({"message": "x", "codexErrorInfo": "tooManyDenials"}, Outcome.FAILED),
        ({"message": "x", "codexErrorInfo": {"responseStreamDisconnected": {"httpStatusCode": None}}}, Outcome.NETWORK),
        ({"message": "x", "codexErrorInfo": {"httpConnectionFailed": {"httpStatusCode": 402}}}, Outcome.BUDGET),
        ({"message": "unexpected status 503 Service Unavailable"}, Outcome.NETWORK),
        ({"message": "x", "codexErrorInfo": {"newKind": 3}}, Outcome.FAILED),
    ],
)
async def test_a_failed_turn_is_named_by_what_it_said(stand: Stand, error: dict[str, Any], outcome: Outcome) -> None:
    assert (await stand.lead(*BEGIN, over("failed", **error))).outcome is outcome


async def test_a_program_that_ends_without_a_word_has_crashed_whatever_its_exit_code(stand: Stand) -> None:
    ended = await stand.lead(*BEGIN, {"exit": 0})
    assert ended.outcome is Outcome.CRASHED
    assert "its last words" in ended.why
    assert ended.conversation == "thread-1"


async def test_a_program_that_refuses_to_begin_says_why(stand: Stand) -> None:
    refusal = {"id": 2, "error": {"code": -1, "message": "no rollout found"}}
    ended = await stand.lead(*BEGIN[:4], refusal)
    assert ended.outcome is Outcome.FAILED
    assert "no rollout found" in ended.why


async def test_while_planning_nothing_but_plain_reading_is_asked_about(stand: Stand) -> None:
    judge = Judge()
    script = (command(0, "bash -c 'cat a.txt'"), "listen", command(1, "bash -c 'cat a > b'"), *steered(1))
    await stand.lead(*BEGIN, *script, over(), decide=judge, brief=replace(BRIEF, errand=Errand.PLAN))
    assert judge.asked == [("Read", {"file_path": "/repo/a.txt"})]
    assert stand.answer(0)["result"] == {"decision": "accept"}
    assert stand.answer(1)["result"] == {"decision": "decline"}


@pytest.mark.parametrize(
    ("script", "found"),
    [
        ("cat README.md", [("Read", "/r/README.md")]),
        ("sed -n '1,200p' src/a.py && head -n 5 '/etc/a b'", [("Read", "/r/src/a.py"), ("Read", "/etc/a b")]),
        ("ls -la src", [("Glob", "/r/src")]),
        ("ls", [("Glob", "/r")]),
        ("rg -n 'a.*b|c' src tests", [("Grep", "/r/src"), ("Grep", "/r/tests")]),
        ("rg --files", [("Glob", "/r")]),
    ],
)
def test_plain_reading_is_known_for_what_it_is(script: str, found: list[tuple[str, str]]) -> None:
    calls = readings(script, "/r") or []
    assert [(tool, given.get("file_path") or given["path"]) for tool, given in calls] == found


@pytest.mark.parametrize(
    "script",
    [
        *("cat a > b", "cat a | sh", "cat $(touch x)", "cat `touch x`", 'cat "$(touch x)"', "cat a & touch b", "cat"),
        *("cat a\ntouch b", "sed -i s/a/b/ f", "sed -n '1e touch x' f", "sed -n '1p;w x' f", "rg --pre ./evil x"),
        *("rg --hostname-bin=./evil x", "find . -delete", "ls; touch x", "ls && ", "", "X=1 cat a", "./cat a", "cat *"),
        *(
            "cat <(touch x)",
            "cat a;touch b",
            "head --version",
            "cat - a",
            "git log",
            "cat ~/x",
            "cat {a,b}",
            "cat a\\ b",
        ),
        *("cat a #b", "! cat a", "cat a || touch b", "tail -f a", "sed -n 1p -i a", "grep -f x y"),
    ],
)
def test_what_may_do_more_than_read_is_no_plain_reading(script: str) -> None:
    assert readings(script, "/r") is None


def test_the_script_inside_a_shell_is_what_would_run() -> None:
    assert unwrapped("/bin/bash -lc 'touch a.txt'") == "touch a.txt"
    assert unwrapped("bash -c 'a' b") == "bash -c 'a' b"
    assert unwrapped("./bash -lc ls") == "./bash -lc ls"
    assert unwrapped("python -c 'x'") == "python -c 'x'"
    assert unwrapped("unbalanced 'quote") == "unbalanced 'quote"


def test_one_credential_of_the_right_kind_and_always_a_model() -> None:
    plain = CodexDriver().launch(BRIEF, "/bin/codex")
    assert plain.environment == {"MIDWATCH_MODEL_KEY": "sk-placeholder"}
    assert plain.files == {}
    assert any('base_url="http://127.0.0.1:1/v1"' in word for word in plain.argv)
    login = CodexDriver().launch(replace(BRIEF, access=BRIEF.access.model_copy(update={"kind": "oauth"})), "/bin/codex")
    assert "sk-placeholder" in login.files[".codex/auth.json"]
    assert "MIDWATCH_MODEL_KEY" not in login.environment
    for wrong in (replace(BRIEF, model=""), replace(BRIEF, access=BRIEF.access.model_copy(update={"kind": "other"}))):
        with pytest.raises(Misuse):
            CodexDriver().launch(wrong, "/bin/codex")


def test_a_codex_without_an_app_server_is_led_by_exec() -> None:
    assert isinstance(fitting("Commands:\n  exec   Run\n  app-server  [experimental] Run"), CodexDriver)
    old = fitting("Commands:\n  exec  Run, or start app-server\n")
    assert isinstance(old, CodexExecDriver)
    assert old.governance.startswith("None")
