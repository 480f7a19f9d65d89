"""Whether everything is ready, tried as the night will use it: real git, real setups and checks behind walls (X10)."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from midwatch.errors import Refused, Unavailable
from midwatch.evening import preflight, preflight_run, sign_orders
from midwatch.evening import projects as by_day
from midwatch.journal.entry import Entry
from midwatch.journal.events.preflight import PreflightChecked
from midwatch.journal.events.session import OrdersSigned
from midwatch.night.recovery.cleanup import collect_checkouts
from midwatch.ports.channel import Destination
from midwatch.terms.orders import OrderedWork, Orders
from midwatch.terms.preflight import LineState, PreflightState, What
from midwatch.terms.records import JobRow, PreflightLineRow, PreflightRow, ReportRow
from midwatch.terms.trust import Isolation, Level
from tests.agents.model import Fault, Say, fuel, refused_port, scripted_model, usage_limit
from tests.nights.house import CHECK, EVENING, TestHouse, a_house, git, orders, sample_repository
from tests.nights.test_first_night import all_is_well
from tests.workshop.repository import Repository
from tests.workshop.smart_http import serving

OK, LOOK, BAD = LineState
ROOM = "[jobs]\nmin_free_memory_mib = 1\nmin_free_disk_mib = 1\n"


class Postbox:
    """A service that takes messages unless it is down."""

    def __init__(self, down: str = "") -> None:
        self.down = down
        self.taken: list[tuple[str, str]] = []

    async def push(self, channel: str, title: str, text: str) -> None:  # noqa: ARG002  a role
        if self.down:
            raise Unavailable(self.down, hint="Look at the service.")
        self.taken.append((channel, text))

    async def look(self, channel: str) -> Destination:
        return Destination("Postbox", channel)


@asynccontextmanager
async def prepared(folder: Path, url: str = "", more: str = "", **parts: Any) -> AsyncIterator[TestHouse]:
    """A house with a project and a draft."""
    home = folder / "home"
    home.mkdir(exist_ok=True)
    (home / "midwatch.toml").write_text(ROOM + more)
    source = folder / "sample"
    if not source.exists():
        sample_repository(source)
    async with a_house(home, url, **parts) as house:
        if not await house.house.records.find(PreflightRow):
            await house.project(source)
            await sign_orders.draft(house.house.evening, orders("Tidy up"), by="ann")
        yield house


async def lines(house: TestHouse) -> dict[tuple[What, str], PreflightLineRow]:
    """The lines of the newest preflight."""
    last = (await house.house.records.find(PreflightRow))[-1]
    rows = await house.house.records.find(PreflightLineRow, preflight=last.id)
    return {(row.what, row.subject): row for row in rows}


async def looked(house: TestHouse) -> dict[tuple[What, str], PreflightLineRow]:
    await preflight.begin(house.house.evening, by="ann")
    await house.settle()
    return await lines(house)


async def test_a_house_in_order_says_so_line_by_line_and_signs_on_it(tmp_path: Path, database_url: str) -> None:
    async with prepared(tmp_path, database_url) as house:
        source = tmp_path / "sample"
        before = git(source, "for-each-ref")
        found = await looked(house)
        assert {what: row.state for (what, _), row in found.items() if what is not What.SLEEP} == {
            What.CLONE: OK,
            What.CHECKS: OK,
            What.PUSH: OK,
            What.HELLO: OK,
            What.WALLS: OK if house.house.workshop.rooms.isolation is not Isolation.NONE else LOOK,
            What.ROOM: OK,
        }
        assert found[What.CLONE, "sample"].commit == git(source, "rev-parse", "HEAD")
        assert git(source, "for-each-ref") == before, "a rehearsed push leaves no trace"
        (row,) = await house.house.records.find(PreflightRow)
        assert (row.state, row.bad, row.asked_by) == (PreflightState.ENDED, 0, "ann")
        assert await preflight.may_sign(house.house.books)
        session = await sign_orders.start(house.house.evening, by="ann")
        assert session.preflight == row.id
        assert not [one for one in (tmp_path / "home" / "checkouts").glob("pre*") if one.is_dir()], "left lying about"
        await all_is_well(house)


async def test_the_setup_is_run_once_for_the_preflight_and_the_night(tmp_path: Path) -> None:
    async with prepared(tmp_path) as house:
        await by_day.change_project(house.house.books, "sample", by="ann", setup="echo made > made.txt")
        found = await looked(house)
        assert found[What.SETUP, "sample"].text.startswith("`echo made > made.txt` ran")
        made = list((tmp_path / "home" / "setup").glob("*/*/placed"))
        found = await looked(house)
        assert found[What.SETUP, "sample"].text == "It was set up earlier."
        assert list((tmp_path / "home" / "setup").glob("*/*/placed")) == made


async def test_the_checks_of_every_work_are_tried_as_the_night_runs_them_each_once(tmp_path: Path) -> None:
    """Named in the orders, named in the project, found in the checkout, and of work in several projects."""
    async with prepared(tmp_path) as house:
        sample, shop = tmp_path / "sample", sample_repository(tmp_path / "shop")
        await _no_checks(house, sample)
        commit(sample, "Makefile", "test:\n\t@echo 2 passed\n")
        await house.project(shop, name="shop")
        work = (
            OrderedWork(project="sample", title="Tidy up", checks=("true",)),
            OrderedWork(project="sample", title="Once more", checks=("test -f Makefile", "true")),
            OrderedWork(project="sample", title="As it is"),
            OrderedWork(projects=("shop",), title="Tidy up", checks=("exit 3", "nosuchtool")),
        )
        await sign_orders.draft(house.house.evening, orders(work=work), by="ann")
        found = await looked(house)
        (row,) = await house.house.records.find(PreflightRow)
        logs = house.house.workshop.rooms.log(row.id, "any").parent.rglob("*.log")
        said = [line for log in logs for line in log.read_text().splitlines()]
        ran = [line.removeprefix("$ ") for line in said if line.startswith("$ ")]
        assert sorted(ran) == sorted(["true", "make test", "test -f Makefile", "exit 3", "nosuchtool", CHECK])
        both = found[What.CHECKS, "sample"]
        assert both.state is OK
        assert both.text.startswith(
            "`true`, `make test` (found in the project) and `test -f Makefile` are green on main"
        )
        told = found[What.CHECKS, "shop"]
        assert told.state is BAD
        assert told.text.startswith(
            "`nosuchtool` cannot run: nosuchtool is not there. `exit 3` is red on main already."
        )
        assert "work that makes it worse goes back to its agent" in told.text
        assert f"`{CHECK}` is green on main" in told.text
        await sign_orders.start(house.house.evening, by="ann")
        await house.to_the_brief()
        proofs = [job.proof for job in await house.house.records.find(JobRow) if job.proof]
        at_night = {one.command for proof in proofs for one in proof.before}
        assert {"true", "make test", "exit 3", CHECK} <= at_night <= set(ran)


async def test_the_lockfile_that_chose_the_setup_is_named(tmp_path: Path) -> None:
    """cargo is played by a program of the person's own: only the name counts here."""
    tool = tmp_path / "lent" / "cargo"
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\nmkdir -p vendor\n")
    tool.chmod(0o755)
    more = f'[sandbox]\nsetup_domains = ["cargo"]\ntoolchains = ["{tool.parent}"]\n'
    async with prepared(tmp_path, more=more) as house:
        commit(tmp_path / "sample", "Cargo.lock", "")
        commit(tmp_path / "sample", "poetry.lock", "")
        reason = '`CARGO_HOME="$MIDWATCH_CACHE/cargo" cargo fetch --locked`, because Cargo.lock is there.'
        line = (await looked(house))[What.SETUP, "sample"]
        assert line.text.startswith("Set up in ")
        assert reason in line.text
        assert "poetry.lock asks for" in line.text, "what is not run beside it is named too"
        assert line.state is LOOK
        assert f"It was set up earlier: {reason}" in (await looked(house))[What.SETUP, "sample"].text


Spoil = Callable[[TestHouse, Path], Awaitable[None]]


async def _remote_gone(_: TestHouse, source: Path) -> None:
    await asyncio.to_thread(source.rename, source.with_name("away"))


async def _setup_fails(house: TestHouse, _: Path) -> None:
    await by_day.change_project(house.house.books, "sample", by="ann", setup="echo no index >&2; exit 7")


async def _tool_missing(house: TestHouse, _: Path) -> None:
    await by_day.change_project(house.house.books, "sample", by="ann", checks=("nosuchtool --all",))


async def _module_missing(house: TestHouse, _: Path) -> None:
    await by_day.change_project(house.house.books, "sample", by="ann", checks=("python3 -m nosuchmodule",))


async def _red_already(house: TestHouse, _: Path) -> None:
    await by_day.change_project(house.house.books, "sample", by="ann", checks=(CHECK, "exit 3"))


async def _library_missing(house: TestHouse, source: Path) -> None:
    commit(source, "pyproject.toml", '[project]\nname = "shop"\nversion = "1"\n')
    await by_day.change_project(house.house.books, "sample", by="ann", checks=("python3 -c 'import shop_of_ours'",))


async def _no_checks(house: TestHouse, _: Path) -> None:
    await by_day.change_project(house.house.books, "sample", by="ann", checks=())


async def _uncommitted(_: TestHouse, source: Path) -> None:
    (source / "idea.txt").write_text("x\n")


async def _found_tool_missing(house: TestHouse, source: Path) -> None:
    await _no_checks(house, source)
    commit(source, "justfile", "test:\n\tnosuchtool\n")


async def _found_red(house: TestHouse, source: Path) -> None:
    await _no_checks(house, source)
    commit(source, "Makefile", "test:\n\t@echo 2 failed; exit 1\n")


async def _lockfile(_: TestHouse, source: Path) -> None:
    commit(source, "package-lock.json", "{}")


TWO = "yarn.lock asks for `yarn install --frozen-lockfile` (package-lock.json is not used: package.json names yarn)"


async def _two_lockfiles(house: TestHouse, source: Path) -> None:
    await _lockfile(house, source)
    commit(source, "yarn.lock", "")
    commit(source, "package.json", '{"packageManager": "yarn@1.22.22"}')


async def _no_poetry(_: TestHouse, source: Path) -> None:
    commit(source, "poetry.lock", "")


async def _refused(house: TestHouse, _: Path) -> None:
    reading = "import urllib.request as web; web.urlopen('https://packages.example/team/x')"
    await by_day.change_project(house.house.books, "sample", by="ann", setup=f'python3 -c "{reading}"')


def commit(source: Path, name: str, text: str) -> None:
    """Commit a file to a person's project."""
    (source / name).parent.mkdir(exist_ok=True)
    (source / name).write_text(text)
    git(source, "add", name)
    git(source, "commit", "-qm", "more")


SPOILT: dict[str, tuple[Spoil, What, LineState, str, str]] = {
    "remote gone": (_remote_gone, What.CLONE, BAD, "is not a folder", "Give the path of a git repository"),
    "setup fails": (_setup_fails, What.SETUP, BAD, "ended with 7: no index", "sandbox.setup_domains"),
    "tool missing": (_tool_missing, What.CHECKS, BAD, "nosuchtool is not there", "apt install nosuchtool"),
    "module missing": (_module_missing, What.CHECKS, BAD, "nosuchmodule is not there", "--setup"),
    "red already": (_red_already, What.CHECKS, LOOK, "`exit 3` is red on main already", "Fix it first"),
    "library missing": (_library_missing, What.CHECKS, LOOK, "No module named 'shop_of_ours'", "pip install -e . "),
    "no checks": (_no_checks, What.CHECKS, LOOK, "no checks", "midwatch project change sample"),
    "found, tool missing": (_found_tool_missing, What.CHECKS, LOOK, "`just test` cannot run: just", "install just"),
    "found, red": (_found_red, What.CHECKS, LOOK, "`make test` (found in the project) is red on main", "Fix it"),
    "lockfile held": (_lockfile, What.SETUP, LOOK, "package-lock.json asks for `npm ci`", "setup_domains+=npm"),
    "two lockfiles": (_two_lockfiles, What.SETUP, LOOK, TWO, "setup_domains+=npm"),
    "its tool is not there": (_no_poetry, What.SETUP, LOOK, "Jobs have no poetry either", "pipx install poetry"),
    "host refused": (_refused, What.SETUP, BAD, "reach packages.example (pip's registry).", "setup_domains+=pip"),
    "uncommitted": (_uncommitted, What.CLONE, LOOK, "1 uncommitted file stays out of it: idea.txt", "Commit"),
}


async def test_what_a_preflight_proposes_can_be_followed_one_by_one_in_any_order(tmp_path: Path) -> None:
    """Each proposal replaces a setup or a list of checks, so each has everything that the others want."""
    async with prepared(tmp_path, more='[sandbox]\ntoolchains = ["node"]\n') as house:
        sample = tmp_path / "sample"
        commit(sample, "pyproject.toml", '[project]\nname = "s"\nversion = "1"\n')
        scripts = '"scripts": {"test": "nosuchrunner"}, "devDependencies": {"nosuchrunner": "1"}'
        commit(sample, "package.json", f'{{"name": "s", {scripts}}}')
        checks = ("npm test", "python3 -m nosuchpytest")
        await by_day.change_project(house.house.books, "sample", by="ann", checks=checks)
        line = (await looked(house))[What.CHECKS, "sample"]
        fix = line.fix
        setups = re.findall(r"project change sample --setup (\"[^\"]*\"|'[^']*')", fix)
        assert len(setups) == 1, fix
        assert "pip install" in setups[0], line.text
        assert "npm install" in setups[0]
        assert "settings propose sandbox.setup_domains+=pip,npm --apply" in fix


async def test_a_check_that_is_to_replace_one_that_proves_nothing_keeps_the_others(tmp_path: Path) -> None:
    async with prepared(tmp_path, more='[sandbox]\ntoolchains = ["node"]\n') as house:
        await _no_checks(house, tmp_path / "sample")
        sample = tmp_path / "sample"
        commit(sample, "package.json", '{"scripts": {"test": "echo no tests ran in 0.01s"}}')
        commit(sample, "tests/test_nothing.py", "def test_nothing():\n    pass\n")
        line = (await looked(house))[What.CHECKS, "sample"]
        assert "`npm test` was found and proves nothing" in line.text
        assert 'project change sample --check "python3 -m pytest -q" --check "..."' in line.fix


@pytest.mark.parametrize("name", SPOILT)
async def test_what_is_wrong_with_a_project_is_named_with_its_fix(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", "https://packages.example/team")
    spoil, what, state, text, fix = SPOILT[name]
    async with prepared(tmp_path) as house:
        await spoil(house, tmp_path / "sample")
        line = (await looked(house))[what, "sample"]
        assert (line.state, text in line.text, fix in line.fix) == (state, True, True), (line.text, line.fix)
        assert await preflight.may_sign(house.house.books) == (state is not BAD)


async def test_a_remote_is_cloned_and_asked_whether_it_would_take_a_branch(tmp_path: Path) -> None:
    person = Repository(sample_repository(tmp_path / "sample"))
    async with prepared(tmp_path) as house:
        with serving(tmp_path / "served", person) as address:
            evening, url = house.house.evening, f"{address}/shop.git"
            await by_day.add_project(evening, url, by="ann", name="shop", checks=(CHECK,))
            await sign_orders.draft(evening, orders(project="shop"), by="ann")
            assert (await looked(house))[What.PUSH, "shop"].state is OK
            Repository(tmp_path / "served" / "shop.git").git("config", "http.receivepack", "false")
            refused = (await looked(house))[What.PUSH, "shop"]
            assert (refused.state, bool(refused.fix)) == (BAD, True), refused
        gone = await looked(house)
        assert (gone[What.CLONE, "shop"].state, bool(gone[What.CLONE, "shop"].fix)) == (BAD, True)
        assert (What.PUSH, "shop") not in gone


async def test_what_stands_on_something_bad_is_not_tried(tmp_path: Path) -> None:
    async with prepared(tmp_path) as house:
        await _setup_fails(house, tmp_path)
        found = await looked(house)
        assert (What.CHECKS, "sample") not in found
        assert (What.PUSH, "sample") in found


async def test_too_little_disk_is_told_by_the_same_number_that_stops_jobs(tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with prepared(tmp_path) as house:
        (home / "midwatch.toml").write_text(f"[jobs]\nmin_free_memory_mib = 1\nmin_free_disk_mib = {16 * 1024**2}\n")
        await house.house.reload_settings()
        line = (await looked(house))[What.ROOM, "this machine"]
        assert (line.state, "no job starts below 16 TiB" in line.text) == (BAD, True)


def crew(folder: Path, url: str, key: str) -> str:
    """Settings with claude, whose program is anything and whose model is ours."""
    kept = folder / "key"
    kept.touch(0o600)
    kept.write_text(key)
    agent = f'[agents.claude]\nprogram = "/bin/true"\nbase_url = "{url}"\nsecret = "ours"\n'
    return f'{agent}[secrets]\nours = "file:{kept}"\n'


LATER = int((EVENING + timedelta(hours=2)).timestamp())
NEVER = int((EVENING + timedelta(days=5)).timestamp())
ANSWERS: dict[str, tuple[Any, LineState, str, str]] = {
    "locked": (Fault(401, "invalid x-api-key"), BAD, "", "midwatch agent login claude"),
    "used up until later": (usage_limit(LATER), LOOK, "limit", "Jobs wait until then"),
    "used up for days": (usage_limit(NEVER), BAD, "limit", "Order another agent"),
    "well, but its program says nothing": (
        Say("Hello."),
        BAD,
        "In its sandbox the program does not answer",
        "midwatch agent test claude",
    ),
}


@pytest.mark.parametrize("name", ANSWERS)
async def test_what_a_model_answers_decides_whether_its_agent_can_work(tmp_path: Path, name: str) -> None:
    step, state, text, fix = ANSWERS[name]
    async with scripted_model() as model:
        key = model.play("hello", step, every=True)
        async with prepared(tmp_path, more=crew(tmp_path, model.url, key)) as house:
            work = (OrderedWork(project="sample", title="Think", agent="claude"),)
            await sign_orders.draft(house.house.evening, Orders(goals=("g",), work=work), by="ann")
            line = (await looked(house))[What.HELLO, "claude"]
            assert (line.state, text in line.text, fix in line.fix) == (state, True, True), (line.text, line.fix)
            assert len(model.requests("hello")) == 1
            assert key not in json.dumps([one.model_dump(mode="json") for one in (await lines(house)).values()])


async def test_a_model_nobody_reaches_is_bad(tmp_path: Path) -> None:
    nobody = f"http://127.0.0.1:{refused_port()}"
    async with prepared(tmp_path, more=crew(tmp_path, nobody, "k")) as house:
        work = (OrderedWork(project="sample", title="Think", agent="claude"),)
        await sign_orders.draft(house.house.evening, Orders(goals=("g",), work=work), by="ann")
        assert (await looked(house))[What.HELLO, "claude"].state is BAD


async def test_what_the_orders_keep_of_a_limit_is_known_before_the_night(tmp_path: Path) -> None:
    async with scripted_model() as model:
        key = model.play("hello", Say("Hello.", headers=fuel(0.9, LATER)), every=True)
        async with prepared(tmp_path, more=crew(tmp_path, model.url, key)) as house:
            work = (OrderedWork(project="sample", title="Think", agent="claude"),)
            kept = orders().limits.model_copy(update={"leave_percent": 30})
            await sign_orders.draft(house.house.evening, Orders(goals=("g",), work=work, limits=kept), by="ann")
            line = (await looked(house))[What.QUOTA, "claude"]
            assert line.state is LOOK
            assert "10 % of its 5h limit left, and the orders keep 30 %" in line.text


CHANNEL = '[channels.phone]\nurl = "env:MIDWATCH_TEST_PHONE"\n'


async def test_a_channel_is_written_to_once_a_night_however_often_somebody_looks(tmp_path: Path) -> None:
    box = Postbox(down="phone refused the message.")
    async with prepared(tmp_path, more=CHANNEL, outlet=box) as house:
        line = (await looked(house))[What.PING, "phone"]
        assert (line.state, line.text, line.fix) == (BAD, "phone refused the message.", "Look at the service.")
        box.down = ""
        assert (await looked(house))[What.PING, "phone"].state is OK
        assert (await looked(house))[What.PING, "phone"].text == "It received a message earlier this evening."
        assert len(box.taken) == 1


async def test_what_was_found_counts_for_these_very_orders_and_for_a_while(tmp_path: Path) -> None:
    async with prepared(tmp_path) as house:
        evening = house.house.evening
        assert not await preflight.may_sign(evening.books)
        await looked(house)
        (first,) = await house.house.records.find(PreflightRow)
        assert await preflight.begin(evening, by="ann", to_sign=True) == first, "not repeated"
        await by_day.change_project(evening.books, "sample", by="ann", checks=("true",))
        assert not await preflight.may_sign(evening.books), "another check was never tried"
        await looked(house)
        assert await preflight.may_sign(evening.books)
        house.clock.jump_to(house.clock.now() + timedelta(minutes=31))
        assert not await preflight.may_sign(evening.books)
        await sign_orders.draft(evening, orders("Tidy up", "More"), by="ann")
        assert await preflight.standing(evening.books) == (None, False)


async def test_whoever_signs_over_a_red_line_reads_of_it_in_the_morning(tmp_path: Path) -> None:
    async with prepared(tmp_path) as house:
        await _tool_missing(house, tmp_path)
        await sign_orders.draft(house.house.evening, orders("Tidy up", level=Level.OBSERVE), by="ann")
        await looked(house)
        (row,) = await house.house.records.find(PreflightRow)
        assert not await preflight.may_sign(house.house.books)
        assert await preflight.may_sign(house.house.books, anyway=row.id)
        await sign_orders.start(house.house.evening, by="ann")
        await house.to_the_brief()
        await house.settle()
        (report,) = await house.house.records.find(ReportRow)
        said = [one for section in report.brief.sections for one in section.lines]
        assert any("Signed with 1 red line: sample: `nosuchtool --all` cannot run" in one for one in said), said
        await all_is_well(house)


async def test_a_newer_look_takes_the_place_of_one_under_way(tmp_path: Path) -> None:
    async with prepared(tmp_path) as house:
        evening = house.house.evening
        first = await preflight.begin(evening, by="ann")
        assert (await preflight.begin(evening, by="ann")).id == first.id, "the same one is joined"
        await sign_orders.draft(evening, orders("Tidy up", "More"), by="ann")
        await preflight.begin(evening, by="ann")
        await house.settle()
        rows = await house.house.records.find(PreflightRow)
        assert [row.state for row in rows] == [PreflightState.REPLACED, PreflightState.ENDED]
        assert await house.house.records.find(PreflightLineRow, preflight=first.id) == ()


async def test_one_cut_off_in_the_middle_goes_on_where_it_was(tmp_path: Path, database_url: str) -> None:
    async with prepared(tmp_path, database_url) as house:
        begun = await preflight.begin(house.house.evening, by="ann")
        going = asyncio.ensure_future(house.settle())

        def cut_off(entries: tuple[Entry, ...]) -> None:
            if any(isinstance(one.event, PreflightChecked) and one.event.what is What.CHECKS for one in entries):
                going.cancel()

        house.house.journal.listeners.append(cut_off)
        with pytest.raises(asyncio.CancelledError):
            await going
        before = await lines(house)
        assert (What.CHECKS, "sample") in before
        assert (await house.house.records.find(PreflightRow))[0].state is PreflightState.RUNNING
        await house.house.performer.perform("preflight", {"preflight": begun.id}, 1)
        after = await lines(house)
        assert {key: row for key, row in after.items() if key in before} == before, "nothing was told twice"
        assert (What.PUSH, "sample") in after
        assert (await house.house.records.find(PreflightRow))[0].state is PreflightState.ENDED
        await all_is_well(house)


async def test_nobody_tidies_away_what_a_look_stands_in(tmp_path: Path) -> None:
    async with prepared(tmp_path) as house:
        begun = await preflight.begin(house.house.evening, by="ann")
        left = tmp_path / "home" / "checkouts" / begun.id / "fresh-before-0"
        left.mkdir(parents=True)
        await collect_checkouts(house.house.books, house.house.workshop.upkeep)
        assert left.exists()
        await house.settle()
        assert not left.exists()


async def test_one_that_cannot_go_on_says_so_and_nothing_is_signed_on_it(tmp_path: Path) -> None:
    async with prepared(tmp_path) as house:
        begun = await preflight.begin(house.house.evening, by="ann")
        house.engine.ready.clear()
        await house.house.performer._repair("preflight", {"preflight": begun.id}, OSError("no more files"))
        (row,) = await house.house.records.find(PreflightRow)
        assert (row.state, row.error) == (PreflightState.ENDED, "no more files")
        assert not await preflight.may_sign(house.house.books)


async def test_one_project_is_looked_at_without_orders(tmp_path: Path) -> None:
    async with prepared(tmp_path) as house:
        row = await preflight.begin_alone(house.house.evening, "sample", by="ann")
        await house.settle()
        found = await lines(house)
        assert {what for what, subject in found if subject == "sample"} == {What.CLONE, What.CHECKS, What.PUSH}
        assert (await house.house.records.get(PreflightRow, row.id)).session == ""
        assert await preflight.standing(house.house.books) == (None, False)


async def test_incomplete_orders_are_refused_before_anything_is_tried(tmp_path: Path) -> None:
    async with prepared(tmp_path) as house:
        await sign_orders.draft(house.house.evening, Orders(), by="ann")
        with pytest.raises(Refused, match="no goals"):
            await preflight.begin(house.house.evening, by="ann")
        assert await house.house.records.find(PreflightRow) == ()


async def test_a_signature_nobody_looked_for_names_no_preflight(tmp_path: Path) -> None:
    async with prepared(tmp_path) as house:
        await sign_orders.start(house.house.evening, by="ann")
        entries = await house.house.journal.entries(kinds=("orders.signed",))
        assert [one.event.preflight for one in entries if isinstance(one.event, OrdersSigned)] == [""]


async def test_a_check_that_never_ends_is_cut_off_and_worth_a_look(tmp_path: Path) -> None:
    async with prepared(tmp_path, more="[preflight]\nmax_minutes = 0.02\n") as house:
        await by_day.change_project(house.house.books, "sample", by="ann", checks=("sleep 600",))
        line = (await looked(house))[What.CHECKS, "sample"]
        assert (line.state, "did not finish in 0.02 min" in line.text) == (LOOK, True)


async def test_a_line_that_never_comes_is_bad_after_its_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Silent(Postbox):
        async def push(self, channel: str, title: str, text: str) -> None:  # noqa: ARG002  a role
            await asyncio.Event().wait()

    monkeypatch.setattr(preflight_run, "SHORT", 0.01)
    async with prepared(tmp_path, more=CHANNEL, outlet=Silent()) as house:
        line = (await looked(house))[What.PING, "phone"]
        assert (line.state, line.text) == (BAD, "No answer came within 0.01 seconds.")
