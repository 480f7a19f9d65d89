"""What each agent says about a call, translated by its driver and judged by the one law (A6)."""

from collections.abc import Mapping
from typing import Any

import pytest

from midwatch.crew.drivers.acp.calls import calls
from midwatch.crew.drivers.codex.reading import CodexReader
from midwatch.rules.tools.tool_calls import ToolCall, ToolOutcome, decide
from tests.rules.tool_call_examples import ALLOW, ASK, COMMANDS, DENY, FACTS, PATHS

Calls = list[tuple[str, Mapping[str, Any]]]


def verdict(found: Calls) -> ToolOutcome:
    """One no is a no to all of it; what could not be read is refused by the driver."""
    outcomes = [decide(ToolCall(tool, given), FACTS).outcome for tool, given in found]
    return min(outcomes, key=lambda one: one.reach, default=DENY)


def codex(asked: dict[str, Any], *changes: dict[str, Any]) -> Calls:
    reader = CodexReader()
    reader.message(b'{"id": 2, "result": {"thread": {"id": "t"}}}')
    if changes:
        item = {"id": "i", "type": "fileChange", "changes": list(changes)}
        reader._started({"threadId": "t", "item": item})
    return reader.calls("i", asked)


def acp(**about: Any) -> Calls:
    return calls(about, "/ws")


NEW_FILE = {"type": "diff", "path": "docs/x.md", "newText": ""}
PATCH = "*** Begin Patch\n*** Update File: src/a.py\n*** Move to: {}\n@@\n-a\n+b\n*** End Patch"


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({"command": "/bin/bash -lc 'ls -la'", "cwd": "/ws"}, ALLOW),
        ({"command": "bash -lc \"ls -la\"", "cwd": "/ws/src"}, ALLOW),
        ({"command": "bash -lc 'cat ../x'", "cwd": "/ws"}, ASK),
        ({"command": "bash -lc 'git status'", "cwd": "/"}, DENY),
        ({"command": "bash -lc 'git status'", "cwd": "/ws/.."}, DENY),
        ({"command": "bash -lc 'rm x'", "cwd": "/ws/src"}, ALLOW),
        ({"command": "bash -lc 'rm x'", "cwd": "/ws/docs"}, ASK),
        ({"command": "bash -lc 'ls' 'x'", "cwd": "/ws"}, ASK),
        ({"command": "bash -lc ls; touch x", "cwd": "/ws"}, ASK),
        ({"command": "src/bash -lc ls", "cwd": "/ws"}, ASK),
        ({"command": "/ws/bin/bash -lc ls", "cwd": "/ws"}, ASK),
        ({"command": "bash -lc 'bash -c ls'", "cwd": "/ws"}, ASK),
        ({"command": "bash -lc 'sudo ls'", "cwd": "/ws"}, DENY),
        ({"command": "bash -lc 'ls'", "cwd": "/ws", "additionalPermissions": {"network": {"enabled": True}}}, DENY),
        ({"command": "bash -lc 'ls'", "cwd": "/ws", "networkApprovalContext": {"host": "x"}}, DENY),
        ({"kind": "writeStdin", "command": "ls", "cwd": "/ws"}, DENY),
        ({}, DENY),
    ],
)  # fmt: skip
def test_a_command_of_codex_s_is_judged_where_it_would_run(asked: dict[str, Any], expected: ToolOutcome) -> None:
    assert verdict(codex(asked)) is expected


@pytest.mark.parametrize(("path", "expected"), PATHS)
def test_a_file_changes_inside_the_job_whoever_changes_it(path: str, expected: ToolOutcome) -> None:
    moved = {"path": "/ws/src/a.py", "kind": {"type": "update", "move_path": path}, "diff": ""}
    found = [
        codex({}, {"path": path, "kind": {"type": "add"}, "diff": "x"}),
        codex({}, {"path": path, "kind": {"type": "delete"}, "diff": "x"}),
        codex({}, {"path": "/ws/src/a.py", "kind": {"type": "update"}, "diff": ""}, moved),
        acp(kind="edit", locations=[{"path": path}], rawInput={}),
        acp(kind="edit", rawInput={"path": "src/a.py"}, locations=[{"path": path or "/"}]),
        acp(kind="delete", rawInput={"path": path}),
        acp(kind="move", rawInput={"path": "src/a.py", "to": path or "/"}),
        acp(kind="edit", rawInput={"files": [{"filePath": "src/a.py"}, {"filePath": path or "/"}]}),
        acp(kind="read", content=[{"type": "diff", "path": path, "newText": "x"}]),
        acp(kind="other", title="TodoWrite", content=[{"type": "diff", "path": path, "newText": "x"}]),
    ]
    if path and path.strip() == path and "\n" not in path:
        found.append(acp(kind="edit", rawInput={"patchText": PATCH.format(path)}))
    for calls_found in found:
        assert verdict(calls_found) is expected, calls_found


@pytest.mark.parametrize("expected_of", COMMANDS, ids=lambda one: one[0][:40])
def test_a_shell_line_is_the_same_to_every_agent(expected_of: tuple[str, ToolOutcome]) -> None:
    command, expected = expected_of
    for given in ({"command": command}, {"cmd": command}, {"command": ["/bin/sh", "-c", command]}):
        assert verdict(acp(kind="execute", title="harmless", rawInput=given)) is expected
        assert verdict(acp(kind="read", rawInput={**given, "cwd": "/ws"})) is expected


@pytest.mark.parametrize(
    ("about", "expected"),
    [
        ({"kind": "read", "locations": [{"path": "/ws/a"}]}, ALLOW),
        ({"kind": "read", "rawInput": {"path": "a"}, "locations": [{"path": "/root/.aws/credentials"}]}, DENY),
        ({"kind": "read", "rawInput": {"path": "~/.ssh/id_rsa"}}, DENY),
        ({"kind": "read", "rawInput": {"command": "touch x"}}, ASK),
        ({"kind": "read", "locations": "x", "rawInput": "y", "content": 7}, DENY),
        ({"kind": "search", "rawInput": {"pattern": "x"}}, ALLOW),
        ({"kind": "search", "rawInput": {"pattern": "x", "path": "src"}, "locations": [{"path": "/root"}]}, ASK),
        ({"kind": "think"}, ALLOW),
        ({"kind": "think", "rawInput": {"path": "/etc/passwd"}}, ASK),
        ({"kind": "edit", "title": "src/a.py"}, DENY),
        ({"kind": "edit", "rawInput": {"patch": PATCH.format("docs/x.md")}}, DENY),
        ({"kind": "execute", "title": "ls"}, DENY),
        ({"kind": "execute", "rawInput": {"command": "git", "args": ["push"]}}, DENY),
        ({"kind": "execute", "rawInput": {"command": ["git", "-C", "#x", "push"]}}, DENY),
        ({"kind": "execute", "rawInput": {"command": ["ls", 7]}}, DENY),
        ({"kind": "execute", "rawInput": {"command": "ls", "env": [{"name": "PATH"}]}}, ASK),
        ({"kind": "execute", "rawInput": {"command": "ls", "cwd": "/root"}}, DENY),
        ({"kind": "execute", "rawInput": {"command": "ls", "workdir": ".."}}, DENY),
        ({"kind": "execute", "rawInput": {"command": "ls", "cwd": "src"}}, ALLOW),
        ({"kind": "fetch", "rawInput": {"url": "https://docs.example.org/"}}, ALLOW),
        ({"kind": "other", "rawInput": {"url": "https://evil.example/"}}, DENY),
        ({"kind": "fetch"}, DENY),
        ({"kind": "edit", "rawInput": {"command": "ls"}}, ASK),
        ({"kind": "edit", "rawInput": {"command": "ls", "path": "docs/x.md"}}, DENY),
        ({"kind": "other", "rawInput": {"command": "ls"}, "content": [NEW_FILE]}, DENY),
        ({"kind": "switch_mode"}, ASK),
        ({"kind": "other", "title": "TodoWrite", "rawInput": {}}, ASK),
        ({"kind": "other", "title": "StructuredOutput"}, ASK),
        ({}, ASK),
    ],
)  # fmt: skip
def test_a_call_over_the_client_protocol_is_judged_by_what_it_would_do(
    about: dict[str, Any], expected: ToolOutcome
) -> None:
    assert verdict(acp(**about)) is expected, acp(**about)


def test_a_patch_of_several_files_names_each_of_them() -> None:
    """As opencode 1.18.33 asks about a patch that adds a file and moves another."""
    files = [
        {"filePath": "/ws/src/a.py", "relativePath": "src/a.py", "type": "add"},
        {"filePath": "/ws/src/b.py", "relativePath": "docs/b.py", "type": "move", "movePath": "/ws/docs/b.py"},
    ]
    found = acp(kind="edit", rawInput={"filepath": "src/a.py, src/b.py", "files": files, "diff": "-x\n+y"})
    assert [given["file_path"] for _, given in found] == ["/ws/src/a.py", "/ws/src/b.py", "/ws/docs/b.py"]
    assert verdict(found) is DENY
    assert verdict(acp(kind="edit", rawInput={"filepath": "src/a.py", "files": files[:1]})) is ALLOW
