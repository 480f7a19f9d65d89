"""What a preflight's findings mean, for all findings there can be (X10)."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midwatch.rules.checks.missing_tools import missing_tool
from midwatch.rules.checks.setups import SetupProposal
from midwatch.rules.people import preflight as judge
from midwatch.terms.jobs import CheckResult
from midwatch.terms.orders import Limits
from midwatch.terms.preflight import AgentSeen, LimitLeft, LineState, ProjectTried, SleepSeen
from midwatch.terms.trust import Isolation, Level

NOW = datetime(2026, 3, 1, 21, tzinfo=UTC)
LENT = "[midwatch: /opt/c/bin/cargo is not inside the sandbox; add /opt/c to sandbox.toolchains]"
SHOP = ProjectTried(id="p", name="shop", path="/shop", branch="main")


def result(command: str, code: int, tail: str = "") -> CheckResult:
    return CheckResult(command=command, exit_code=code, tail=tail, seconds=1.0)


@given(st.lists(st.builds(result, st.sampled_from(["make", "npm test"]), st.integers(0, 255)), min_size=1, max_size=4))
def test_checks_are_ready_if_and_only_if_all_are_green(results: list[CheckResult]) -> None:
    told = judge.checks_text(results, SHOP, 10)
    assert (told.state is LineState.OK) == all(one.green for one in results)
    assert (told.state is LineState.OK) or told.fix


@pytest.mark.parametrize(
    ("command", "code", "tail", "tool"),
    [
        ("ruff check", 127, "/bin/sh: 1: ruff: not found\n", "ruff"),
        ("a && bash x", 127, "bash: line 1: jq: command not found\n", "jq"),
        ("make test", 2, "make: pytest: No such file or directory\nmake: *** [test] Error 127\n", "pytest"),
        ("python3 -m pytest -q", 1, "/usr/bin/python3: No module named pytest\n", "pytest"),
        ("python3 -m pytest -q", 1, "ModuleNotFoundError: No module named 'shop'\n", ""),
        ("./run", 126, "", "./run"),
        ("cargo test", 127, LENT, "/opt/c/bin/cargo"),
        ("pytest", 1, "grep: pattern: not found\n", ""),
        ("", 127, "", "a program"),
    ],
)
def test_a_program_that_is_not_there_is_told_from_one_that_fails(command: str, code: int, tail: str, tool: str) -> None:
    assert missing_tool(result(command, code, tail)) == tool


def test_a_tool_the_person_has_and_jobs_have_not_is_lent_by_a_setting() -> None:
    told = judge.checks_text([result("cargo test", 127, LENT)], SHOP, 10)
    assert (told.state, "add /opt/c to sandbox.toolchains" in told.fix) == (LineState.BAD, True)


def test_what_failed_is_beside_a_check_that_is_red_already() -> None:
    one = result("npm test", 1).model_copy(update={"failing_line": "Error: Cannot find module 'x'."})
    told = judge.checks_text([one], SHOP, 10).text
    assert "`npm test` is red on main already. It fails with: Error: Cannot find module 'x'. The night" in told
    told = judge.checks_text([result("make", 1), one], SHOP, 10).text
    assert "`npm test` fails with: Error: Cannot find module 'x'. The night" in told


@pytest.mark.parametrize(
    ("client", "locked", "listed", "fix"),
    [
        ("npm", False, (), 'Let its setup install it: midwatch project change shop --setup "get" and '),
        ("npm", False, ("npm",), 'Let its setup install it: midwatch project change shop --setup "get"'),
        ("npm", True, (), "Let its setup install it: midwatch settings propose sandbox.setup_domains+=npm --apply"),
        ("npm", True, ("npm",), "Fix it first, or order the fix."),
        ("pip", False, (), "Fix it first, or order the fix."),
    ],
)
def test_a_check_that_misses_a_library_names_the_setup_that_installs_it(
    client: str, locked: bool, listed: tuple[str, ...], fix: str
) -> None:
    """B5: the setup of this kind of code, unless it ran already."""
    one = result("npm test", 1, "Error: Cannot find module 'left-pad'\n")
    setup = SetupProposal("get", "package.json", client, locked=locked)
    told = judge.checks_text([one], SHOP, 10, (setup,), listed)
    assert told.fix.startswith(fix)
    assert told.settings == ({"sandbox.setup_domains": "npm"} if client == "npm" and not listed else {})


def test_a_missing_program_and_a_missing_library_are_one_proposed_setup() -> None:
    """A setup replaces the one before it: two proposals, followed one after the other, would leave only the second."""
    pip, npm = (SetupProposal(f"get {name}", f"{name}.toml", name, locked=False) for name in ("pip", "npm"))
    absent = result("python3 -m pytest -q", 1, "/usr/bin/python3: No module named pytest\n")
    library = result("npm test", 1, "Error: Cannot find module 'left-pad'\n")
    told = judge.checks_text([absent, library], SHOP, 10, (pip, npm), ())
    assert told.fix.count("--setup") == 1
    assert (
        '--setup "get pip && get npm" and midwatch settings propose sandbox.setup_domains+=pip,npm --apply' in told.fix
    )
    assert told.settings == {"sandbox.setup_domains": "pip,npm"}


@given(st.floats(0, 1), st.integers(0, 100))
def test_a_limit_the_orders_keep_is_worth_a_look_and_never_bad(left: float, percent: int) -> None:
    agent = AgentSeen(
        name="claude", ready=True, provider="anthropic", limits=(LimitLeft(limit="5h", remaining=left),), good=True
    )
    told = judge.quota_text(agent, Limits(leave_percent=percent), NOW)
    assert told is not None
    kept = percent > 0 and round(left, 4) <= round(percent / 100, 4)
    assert (told.state is LineState.LOOK) == (kept or left <= judge.LOW)
    assert judge.quota_text(agent.model_copy(update={"limits": ()}), Limits(), NOW) is None


@given(st.one_of(st.none(), st.integers(-500, 5000)))
def test_a_used_up_limit_is_bad_only_where_the_night_cannot_outwait_it(minutes: int | None) -> None:
    resets = None if minutes is None else NOW + timedelta(minutes=minutes)
    agent = AgentSeen(name="claude", ready=True, heard="limit", sentence="Used up.", good=True, resets_at=resets)
    told = judge.hello_text(agent, NOW + timedelta(minutes=600))
    assert (told.state is LineState.LOOK) == (minutes is not None and minutes < 600)
    assert told.fix


@given(st.sampled_from(Level), st.sampled_from(Isolation), st.booleans())
def test_the_housekeeper_is_never_held_by_walls(level: Level, isolation: Isolation, forced: bool) -> None:
    told = judge.walls_text(level, isolation, ("housekeeper",), forced=forced, why="Why.", fix="Fix.")
    assert (told.state is LineState.OK) == (isolation is not Isolation.NONE)
    held = judge.walls_text(level, isolation, ("claude",), forced=forced, why="Why.", fix="Fix.")
    assert held.state is not LineState.BAD


@given(st.sampled_from(Isolation), st.sampled_from(["", "anthropic"]))
def test_an_agent_that_needs_a_model_needs_a_room_with_doors(isolation: Isolation, provider: str) -> None:
    agent = AgentSeen(name="claude", ready=True, heard="answered", good=True, provider=provider)
    told = judge.way_text(agent, isolation, "Fix.")
    assert (told is None) == (isolation is Isolation.BUBBLEWRAP or not provider)
    assert told is None or (told.state is LineState.BAD and told.fix == "Fix." and isolation.value in told.text)


@given(st.integers(0, 10**12), st.integers(0, 10**12), st.integers(0, 10**12), st.integers(0, 10**12))
def test_room_is_judged_by_the_numbers_that_stop_jobs(memory: int, disk: int, least: int, least_disk: int) -> None:
    told = judge.room_text((memory, disk), (least, least_disk))
    assert (told.state is LineState.OK) == (memory >= least and disk >= least_disk)


@given(st.integers(0, 100), st.booleans())
def test_what_was_found_holds_for_its_minutes_and_only_if_nothing_was_bad(minutes: int, bad: bool) -> None:
    then = NOW - timedelta(minutes=minutes)
    assert judge.still_holds(then, NOW, 30, bad=bad) == (minutes <= 30 and not bad)
    assert not judge.still_holds(None, NOW, 30, bad=False)


def test_a_machine_that_may_sleep_is_worth_a_look() -> None:
    told = judge.sleep_text(SleepSeen(will="likely", why="It runs on battery.", fix="Plug it in."))
    assert (told.state, told.fix) == (LineState.LOOK, "Plug it in.")
    assert judge.sleep_text(SleepSeen(will="no", why="It cannot.")).state is LineState.OK
