"""Tool calls: one law for every agent, by examples of each vendor's words, hostile ones included."""

from dataclasses import replace
from typing import Any

import pytest

from midwatch.rules.tool_calls import ToolCall, ToolFacts, ToolKind, ToolOutcome, decide, shown
from midwatch.terms.agents import Errand
from midwatch.terms.trust import Level
from tests.rules.tool_call_examples import ALLOW, ASK, CALLS, COMMANDS, DENY, FACTS, PATHS

PLANNING = replace(FACTS, errand=Errand.PLAN)
OPEN = replace(FACTS, allowed_tools=("Bash", "Read"), level=Level.FULL)


@pytest.mark.parametrize(("command", "expected"), COMMANDS)
def test_a_shell_line_is_judged_by_each_of_its_commands(command: str, expected: ToolOutcome) -> None:
    for call in (
        ToolCall("claude", "Bash", {"command": command, "description": "harmless"}),
        ToolCall("codex", "commandExecution", {"command": ["/bin/bash", "-lc", command], "cwd": "/ws"}),
        ToolCall("acp", "execute", {"kind": "execute", "title": "harmless", "rawInput": {"command": command}}),
    ):
        assert decide(call, FACTS).outcome is expected, (call.agent, decide(call, FACTS).why)


@pytest.mark.parametrize(("command", "expected"), COMMANDS)
def test_a_wide_list_still_never_runs_what_is_never_run(command: str, expected: ToolOutcome) -> None:
    outcome = decide(ToolCall("claude", "Bash", {"command": command}), OPEN).outcome
    assert (outcome is DENY) is (expected is DENY)
    assert outcome.reach >= expected.reach


READING_COMMANDS = {
    "git status", "ls -la src", "git remote -v", "/usr/bin/git status", "find . -name '*.py'", "sed -n 1,20p src/a.py",
    "git status # and sudo", "# only a comment", "ls *.py", "rg docker src",
    "find . -name service", "git grep push", "git rev-parse --git-dir", "echo sudo", "echo 'a' \"b$\" c\\ d",
}  # fmt: skip


@pytest.mark.parametrize("command", [command for command, _ in COMMANDS])
def test_a_plan_is_made_with_one_plain_reader_at_a_time(command: str) -> None:
    expected = ALLOW if command in READING_COMMANDS else DENY
    assert decide(ToolCall("claude", "Bash", {"command": command}), PLANNING).outcome is expected


@pytest.mark.parametrize(("path", "expected"), PATHS)
def test_a_write_stays_inside_the_job_whoever_asks(path: str, expected: ToolOutcome) -> None:
    patch = f"*** Begin Patch\n*** Update File: {path}\n@@\n-a\n+b\n*** End Patch"
    calls = [
        ToolCall("claude", "Write", {"file_path": path, "content": "x"}),
        ToolCall("claude", "Edit", {"file_path": path, "old_string": "a", "new_string": "b"}),
        ToolCall("claude", "MultiEdit", {"file_path": path, "edits": []}),
        ToolCall("claude", "NotebookEdit", {"notebook_path": path, "new_source": "x"}),
        ToolCall(
            "codex",
            "item/fileChange/requestApproval",
            {"changes": [{"path": path, "kind": {"type": "add"}, "diff": "x"}]},
        ),
        ToolCall("codex", "applyPatchApproval", {"fileChanges": {path: {"add": {"content": "x"}}}}),
        ToolCall(
            "codex", "fileChange", {"changes": [{"path": "src/a.py", "kind": {"type": "update", "move_path": path}}]}
        ),
        ToolCall("acp", "edit", {"kind": "edit", "locations": [{"path": path}], "rawInput": {}}),
        ToolCall("acp", "delete", {"kind": "delete", "rawInput": {"path": path}}),
        ToolCall("acp", "other", {"kind": "other", "content": [{"type": "diff", "path": path, "newText": "x"}]}),
        ToolCall("acp", "fs/write_text_file", {"path": path, "content": "x"}),
    ]
    if "\n" not in path and path.strip() == path:
        calls.append(ToolCall("codex", "apply_patch", {"input": patch}))
    for call in calls:
        assert decide(call, FACTS).outcome is expected, (call, decide(call, FACTS).why)
        assert decide(call, PLANNING).outcome is DENY


@pytest.mark.parametrize(("agent", "tool", "given", "expected"), CALLS)
def test_every_vendors_words_mean_the_same_few_things(
    agent: str, tool: str, given: dict[str, Any], expected: ToolOutcome
) -> None:
    verdict = decide(ToolCall(agent, tool, given), FACTS)
    assert verdict.outcome is expected, verdict.why


@pytest.mark.parametrize("kind", [ToolKind.WRITE, ToolKind.FETCH, ToolKind.DELEGATE, ToolKind.TEND, ToolKind.UNKNOWN])
def test_a_plan_is_made_without_it(kind: ToolKind) -> None:
    seen = [ToolCall(agent, tool, given) for agent, tool, given, _ in CALLS]
    of_kind = [call for call in seen if decide(call, FACTS).kind is kind]
    assert of_kind
    assert {decide(call, replace(PLANNING, level=Level.FULL)).outcome for call in of_kind} == {DENY}


def test_a_refused_path_is_told_in_words_the_agent_can_use() -> None:
    verdict = decide(ToolCall("claude", "Write", {"file_path": "/ws/docs/x.md", "content": ""}), FACTS)
    assert verdict.first.code == "call.path_outside"
    assert verdict.why == (
        "docs/x.md is outside the paths of this job (src/**, tests/**). Work inside them, or say so in your summary."
    )


def test_the_work_s_own_paths_narrow_what_may_be_written() -> None:
    narrow = replace(FACTS, work_paths=("src/parser",))
    assert decide(ToolCall("claude", "Write", {"file_path": "src/parser/a.py"}), narrow).outcome is ALLOW
    assert decide(ToolCall("claude", "Write", {"file_path": "src/a.py"}), narrow).outcome is DENY


@pytest.mark.parametrize(
    ("facts", "code"),
    [
        (replace(FACTS, level=Level.OBSERVE), "call.observe"),
        (replace(FACTS, tainted=True), "call.tainted"),
        (replace(FACTS, denied_before=True), "call.denied_before"),
    ],
)
def test_where_nobody_is_asked_the_answer_is_no_and_says_why(facts: ToolFacts, code: str) -> None:
    call = ToolCall("claude", "Bash", {"command": "npm install x"})
    assert decide(call, FACTS).outcome is ASK
    verdict = decide(call, facts)
    assert verdict.outcome is DENY
    assert verdict.first.code == "call.run_unlisted"
    assert code in {reason.code for reason in verdict.reasons}


def test_what_reads_the_web_taints_and_a_tainted_run_gets_no_helpers() -> None:
    fetch = ToolCall("claude", "WebFetch", {"url": "https://docs.example.org/"})
    assert decide(fetch, FACTS).taints
    assert not decide(ToolCall("claude", "WebFetch", {"url": "https://evil.example/"}), FACTS).taints
    curl = replace(FACTS, allowed_tools=("Bash(curl *)",))
    assert decide(ToolCall("claude", "Bash", {"command": "curl https://docs.example.org/x"}), curl).taints
    assert decide(ToolCall("claude", "Bash", {"command": "curl https://evil.example/x"}), curl).outcome is DENY
    assert decide(ToolCall("claude", "Task", {}), replace(FACTS, tainted=True)).outcome is DENY
    assert decide(fetch, replace(FACTS, level=Level.OBSERVE)).outcome is DENY


def test_tools_off_the_list_are_asked_for_and_a_list_may_name_paths() -> None:
    edit = ToolCall("claude", "Edit", {"file_path": "src/a.py"})
    assert decide(edit, replace(FACTS, allowed_tools=("Read",))).outcome is ASK
    assert decide(edit, replace(FACTS, allowed_tools=("Edit(src/**)",))).outcome is ALLOW
    assert decide(edit, replace(FACTS, allowed_tools=("Edit(tests/**)",))).outcome is ASK
    assert decide(ToolCall("claude", "Read", {"file_path": "a"}), replace(FACTS, allowed_tools=())).outcome is ASK
    fetch = ToolCall("claude", "Bash", {"command": "git fetch x"})
    assert decide(fetch, replace(FACTS, allowed_tools=("Bash(git fetch *)",))).outcome is ALLOW


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (ToolCall("claude", "Bash", {"command": "git \u202estatus\x1b[2J", "description": "x"}),
         "$ git \\u202estatus\\x1b[2J"),
        (ToolCall("codex", "commandExecution", {"command": ["git", "a b"], "cwd": "/ws"}), '$ "git" "a b"\nin /ws'),
        (
            ToolCall("claude", "Edit", {"file_path": "src/a.py", "old_string": "a\nb", "new_string": "c"}),
            "Edit src/a.py\n-a\n-b\n+c",
        ),
        (ToolCall("claude", "Write", {"file_path": "src/a.py", "content": "x\n"}), "Write src/a.py\n+x\n+"),
        (
            ToolCall("claude", "MultiEdit", {"file_path": "a", "edits": [{"old_string": "x", "new_string": "y"}]}),
            "MultiEdit a\n-x\n+y",
        ),
        (
            ToolCall("codex", "fileChange", {"changes": [{"path": "a", "diff": "-x\n+y"}]}),
            "fileChange a\n-x\n+y\n(a)",
        ),
        (
            ToolCall("acp", "edit", {"content": [{"type": "diff", "path": "a", "oldText": "x", "newText": "y"}]}),
            "edit a\n-x\n+y\n(a)",
        ),
        (ToolCall("claude", "WebFetch", {"url": "https://a.example/", "prompt": "x"}), "WebFetch https://a.example/"),
        (ToolCall("claude", "mcp__x", {"b": 1, "a": "\u200b"}), 'mcp__x {\n  "a": "\\u200b",\n  "b": 1\n}'),
    ],
)  # fmt: skip
def test_an_ask_shows_exactly_what_would_happen_with_nothing_hidden(call: ToolCall, expected: str) -> None:
    assert shown(call) == expected
