"""Tool calls: one law for every agent, by examples in the one vocabulary, hostile ones included."""

from dataclasses import replace
from typing import Any

import pytest

from midwatch.rules.tools.tool_calls import ToolCall, ToolFacts, ToolKind, ToolOutcome, decide, shown
from midwatch.terms.agents import Errand
from midwatch.terms.trust import Level
from tests.rules.tool_call_examples import ALLOW, ASK, CALLS, COMMANDS, DENY, FACTS, PATHS

PLANNING = replace(FACTS, errand=Errand.PLAN)
OPEN = replace(FACTS, allowed_tools=("Bash", "Read"), level=Level.FULL)


@pytest.mark.parametrize(("command", "expected"), COMMANDS)
def test_a_shell_line_is_judged_by_each_of_its_commands(command: str, expected: ToolOutcome) -> None:
    for more in ({"description": "harmless"}, {"cwd": "/ws"}):
        verdict = decide(ToolCall("Bash", {"command": command, **more}), FACTS)
        assert verdict.outcome is expected, verdict.why


@pytest.mark.parametrize(("command", "expected"), COMMANDS)
def test_a_wide_list_still_never_runs_what_is_never_run(command: str, expected: ToolOutcome) -> None:
    outcome = decide(ToolCall("Bash", {"command": command}), OPEN).outcome
    assert (outcome is DENY) is (expected is DENY)
    assert outcome.reach >= expected.reach


@pytest.mark.parametrize(
    "command",
    ["cd .g?t && echo x > config", "cd .git; echo x > config", "command cd .git && echo x > config", "cd - && rm x"],
)
def test_where_a_line_goes_is_never_left_to_a_wide_list(command: str) -> None:
    everywhere = replace(OPEN, allowed_paths=("**",), allowed_tools=("Bash", "Bash(cd *)"))
    assert decide(ToolCall("Bash", {"command": command}), everywhere).outcome is ASK


READING_COMMANDS = {
    "git status", "ls -la src", "git remote -v", "/usr/bin/git status", "find . -name '*.py'", "sed -n 1,20p src/a.py",
    "git status # and sudo", "# only a comment", "ls *.py", "rg docker src",
    "git status \\\n --short", "git status\\\n --short", "test -v HOME",
    "test -f 'a[1]'", "sed -n 1p src/*", "git diff src/*",
    "grep x *.py", "cat *.md", "sort src/*", "tail -n5 src/a.py",
    "find . -name service", "git grep push", "git rev-parse --git-dir", "echo sudo", "echo 'a' \"b$\" c\\ d",
    "git status &&", "true; echo $?", "git log --oneline | head -5",
}  # fmt: skip


@pytest.mark.parametrize("command", [command for command, _ in COMMANDS])
def test_a_plan_is_made_with_plain_readers_only(command: str) -> None:
    expected = ALLOW if command in READING_COMMANDS else DENY
    assert decide(ToolCall("Bash", {"command": command}), PLANNING).outcome is expected


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("ls -la && cat tox.ini | head -20", ALLOW),
        ("wc -l tests/*.py; cat tests/test_a.py", ALLOW),
        ("grep -rn 'def base64' src || git log -3\nls", ALLOW),
        ("cat tox.ini | sh", DENY),
        ("ls | xargs rm", DENY),
        ("ls && touch x", DENY),
        ("cat a > b", DENY),
        ("ls & cat a", DENY),
        ("PAGER=x git log | head", DENY),
        ("cat ~/.ssh/id_rsa | head", DENY),
    ],
)
def test_readers_may_be_joined_while_planning(command: str, expected: ToolOutcome) -> None:
    assert decide(ToolCall("Bash", {"command": command}), PLANNING).outcome is expected


HONEST_READING = [
    "cut -d/ -f1 a.txt", "cut -d / -f 2- a.txt", "cut -f2 -d/ a.txt", "cut -sd/ -f1 a.txt", "cut --delimiter=/ -f1 a",
    "cut --delimiter / -f1 a", "cut -d~ -f1 a", "cut -d: -f1 --output-delimiter=/ a", "git ls-files | cut -d/ -f1-2",
    "sort -t/ -k2 a", "sort -t / -k 2,2 a", "sort -nrt/ -k3 a", "sort -t~ a", "sort --field-separator=/ -k2 a",
    "tr -d/ ", "tr / _", "tr -d / ", "ls src | tr '/' '\n'", "tr ~ x", "git ls-files | sort -t/ -k1,1 -u",
    "grep -rn /api src", "grep -rn '/api/.*' src", "grep -e/api src/a.py", "grep -rne /api src", "grep -m 1 /x a.py",
    "grep -rn --include=*.py /users src", "grep -A3 -B 3 '/health' src/a.py", "grep -c -e ../x src/a.py",
    "rg /api/v1 src", "rg -n -g '/src/**' x", "rg --hidden '/v1/[a-z]+' src", "rg -e /x -tpy", "rg -F ../lib src",
    "git grep -n /api", "git log -S/api --oneline", "git log -S /api -- src", "git log --grep=/x --author=/y",
    "git log -G'/v1/' -p", "git log --format=/%h", "echo /api/users", "printf '/%s\n' x", "basename /srv/app/a.py",
    "dirname ../x/a.py", "git diff --stat -S/v1 HEAD",
]  # fmt: skip
HONEST_WORK = [
    "git commit -m a=/b", "git commit -m /api", "git commit -am '/api: mend it'", "git commit -m a -m /b",
    "git commit --message=/api", "git commit --message /api", "git commit --amend -m ../x", "git tag -am /v1 v1",
    "git merge -m /side side", "awk -F/ '{print $1}' a", "awk -F / '{print $1}' a", "awk -F~ '{print $1}' a",
    "awk --field-separator=/ '{print $1}' a", "paste -d/ a b", "paste -sd / a", "join -t/ a b", "nl -s/ a",
    "column -t -s/ a", "seq -s/ 3", "tac -s / a",
]  # fmt: skip


@pytest.mark.parametrize("command", HONEST_READING)
def test_patterns_and_delimiters_are_no_paths(command: str) -> None:
    for facts in (PLANNING, OPEN):
        verdict = decide(ToolCall("Bash", {"command": command}), facts)
        assert verdict.outcome is ALLOW, verdict.why


@pytest.mark.parametrize("command", HONEST_WORK)
def test_messages_and_separators_are_no_paths(command: str) -> None:
    verdict = decide(ToolCall("Bash", {"command": command}), OPEN)
    assert verdict.outcome is ALLOW, verdict.why


@pytest.mark.parametrize("command", ["git clean -fdx", "git stash -u", "git checkout -f", "git reset --hard"])
def test_the_whole_tree_may_be_changed_where_nothing_is_closed(command: str) -> None:
    assert decide(ToolCall("Bash", {"command": command}), replace(OPEN, do_not_touch=())).outcome is ALLOW


@pytest.mark.parametrize(("path", "expected"), PATHS)
def test_a_write_stays_inside_the_job_whoever_asks(path: str, expected: ToolOutcome) -> None:
    calls = [
        ToolCall("Write", {"file_path": path, "content": "x"}),
        ToolCall("Edit", {"file_path": path, "old_string": "a", "new_string": "b"}),
        ToolCall("Edit", {"file_path": path, "cwd": "/ws"}),
        ToolCall("Edit", {"file_path": "src/a.py", "to": path}),
        ToolCall("MultiEdit", {"file_path": path, "edits": []}),
        ToolCall("NotebookEdit", {"notebook_path": path, "new_source": "x"}),
    ]
    for call in calls:
        assert decide(call, FACTS).outcome is expected, (call, decide(call, FACTS).why)
        assert decide(call, PLANNING).outcome is DENY


@pytest.mark.parametrize(("tool", "given", "expected"), CALLS)
def test_every_tool_means_one_of_a_few_things(tool: str, given: dict[str, Any], expected: ToolOutcome) -> None:
    verdict = decide(ToolCall(tool, given), FACTS)
    assert verdict.outcome is expected, verdict.why


@pytest.mark.parametrize("kind", [ToolKind.WRITE, ToolKind.FETCH, ToolKind.DELEGATE, ToolKind.TEND, ToolKind.UNKNOWN])
def test_a_plan_is_made_without_it(kind: ToolKind) -> None:
    seen = [ToolCall(tool, given) for tool, given, _ in CALLS]
    of_kind = [call for call in seen if decide(call, FACTS).kind is kind]
    assert of_kind
    assert {decide(call, replace(PLANNING, level=Level.FULL)).outcome for call in of_kind} == {DENY}


def test_a_refused_path_is_told_in_words_the_agent_can_use() -> None:
    verdict = decide(ToolCall("Write", {"file_path": "/ws/docs/x.md", "content": ""}), FACTS)
    assert verdict.first.code == "call.path_outside"
    assert verdict.why == (
        "docs/x.md is outside the paths of this job (src/**, tests/**). Work inside them, or say so in your summary."
    )


def test_the_work_s_own_paths_narrow_what_may_be_written() -> None:
    narrow = replace(FACTS, work_paths=("src/parser",))
    assert decide(ToolCall("Write", {"file_path": "src/parser/a.py"}), narrow).outcome is ALLOW
    assert decide(ToolCall("Write", {"file_path": "src/a.py"}), narrow).outcome is DENY


@pytest.mark.parametrize(
    ("facts", "code"),
    [
        (replace(FACTS, level=Level.OBSERVE), "call.observe"),
        (replace(FACTS, tainted=True), "call.tainted"),
        (replace(FACTS, denied_before=True), "call.denied_before"),
    ],
)
def test_where_nobody_is_asked_the_answer_is_no_and_says_why(facts: ToolFacts, code: str) -> None:
    call = ToolCall("Bash", {"command": "npm install x"})
    assert decide(call, FACTS).outcome is ASK
    verdict = decide(call, facts)
    assert verdict.outcome is DENY
    assert verdict.first.code == "call.run_unlisted"
    assert code in {reason.code for reason in verdict.reasons}


def test_what_reads_the_web_taints_and_a_tainted_run_gets_no_helpers() -> None:
    fetch = ToolCall("WebFetch", {"url": "https://docs.example.org/"})
    assert decide(fetch, FACTS).taints
    assert not decide(ToolCall("WebFetch", {"url": "https://evil.example/"}), FACTS).taints
    curl = replace(FACTS, allowed_tools=("Bash(curl *)",))
    assert decide(ToolCall("Bash", {"command": "curl https://docs.example.org/x"}), curl).taints
    assert decide(ToolCall("Bash", {"command": "curl https://evil.example/x"}), curl).outcome is DENY
    assert decide(ToolCall("Task", {}), replace(FACTS, tainted=True)).outcome is DENY
    assert decide(fetch, replace(FACTS, level=Level.OBSERVE)).outcome is DENY


def test_tools_off_the_list_are_asked_for_and_a_list_may_name_paths() -> None:
    edit = ToolCall("Edit", {"file_path": "src/a.py"})
    assert decide(edit, replace(FACTS, allowed_tools=("Read",))).outcome is ASK
    assert decide(edit, replace(FACTS, allowed_tools=("Edit(src/**)",))).outcome is ALLOW
    assert decide(edit, replace(FACTS, allowed_tools=("Edit(tests/**)",))).outcome is ASK
    assert decide(ToolCall("Read", {"file_path": "a"}), replace(FACTS, allowed_tools=())).outcome is ASK
    for command in ("git fetch x", "git apply x"):
        call = ToolCall("Bash", {"command": command})
        assert decide(call, replace(FACTS, allowed_tools=("Bash", "Bash(git *)"))).outcome is ASK
        assert decide(call, replace(FACTS, allowed_tools=(f"Bash({command[:-2]} *)",))).outcome is ALLOW


@pytest.mark.parametrize(
    ("command", "pattern"),
    [
        ("bun -e 'x()'", "Bash(bun -e *)"),
        ("bun exec 'touch x'", "Bash(bun exec:*)"),
        ("bun x left-pad", "Bash(bun x left-pad)"),
        ("bunx left-pad", "Bash(bunx *)"),
    ],
)
def test_what_runs_code_out_of_its_words_is_named_by_itself(command: str, pattern: str) -> None:
    call = ToolCall("Bash", {"command": command})
    assert decide(call, replace(FACTS, allowed_tools=("Bash", "Bash(bun *)", "Bash(bun*)"))).outcome is ASK
    assert decide(call, replace(FACTS, allowed_tools=(pattern,))).outcome is ALLOW


@pytest.mark.parametrize(
    ("command", "taints"),
    [("bun x a", True), ("bun --bun x a", True), ("bunx a", True), ("npx a", True), ("bun test", False)],
)
def test_a_stranger_s_package_taints(command: str, taints: bool) -> None:
    named = replace(
        FACTS, allowed_tools=("Bash(bun test)", "Bash(bun x *)", "Bash(bun * x *)", "Bash(*x *)", "Bash(bunx *)")
    )
    verdict = decide(ToolCall("Bash", {"command": command}), named)
    assert (verdict.outcome, verdict.taints) == (ALLOW, taints)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (ToolCall("Bash", {"command": "git \u202estatus\x1b[2J", "description": "x"}),
         "$ git \\u202estatus\\x1b[2J"),
        (ToolCall("Bash", {"command": ["git", "a b"], "cwd": "/ws"}), '$ "git" "a b"\nin /ws'),
        (ToolCall("Bash", {"command": "rm x\nin /safe", "cwd": "/ws"}), "$ rm x\n> in /safe\nin /ws"),
        (
            ToolCall("Edit", {"file_path": "src/a.py", "old_string": "a\nb", "new_string": "c"}),
            "Edit src/a.py\n-a\n-b\n+c",
        ),
        (ToolCall("Write", {"file_path": "src/a.py", "content": "x\n"}), "Write src/a.py\n+x\n+"),
        (
            ToolCall("MultiEdit", {"file_path": "a", "edits": [{"old_string": "x", "new_string": "y"}]}),
            "MultiEdit a\n-x\n+y",
        ),
        (
            ToolCall("Edit", {"file_path": "a", "diff": "-x\n+y", "change": "update"}),
            "Edit a\nupdate\n-x\n+y",
        ),
        (ToolCall("Write", {"file_path": "b", "moved_from": "a"}), "Write b\nmoved from a"),
        (ToolCall("WebFetch", {"url": "https://a.example/", "prompt": "x"}), "WebFetch https://a.example/"),
        (ToolCall("mcp__x", {"b": 1, "a": "\u200b"}), 'mcp__x {\n  "a": "\\u200b",\n  "b": 1\n}'),
    ],
)  # fmt: skip
def test_an_ask_shows_exactly_what_would_happen_with_nothing_hidden(call: ToolCall, expected: str) -> None:
    assert shown(call) == expected
