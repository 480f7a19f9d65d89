"""What every test may use: a database of either kind, and honest counts of which kinds were really tried."""

import gc
import hashlib
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import hypothesis
import pytest

from tests.databases import place_sqlite, share_statements
from tests.postgres_server import PostgresServer, PostgresUnavailable, throw_away_postgres

ROOT = Path(__file__).parents[1]
DATABASES = ("sqlite", "postgres")
HEAVY = ("surfaces", "browser", "crash", "agents", "nights", "forges", "workshop", "store", "crew")
"""Folders of long tests, which begin first: at the end every worker should still have something short to do."""
REQUIRED = frozenset(os.environ.get("MIDWATCH_REQUIRE", "").replace(",", " ").split())

# No deadlines: shared machines are slow now and then, and a slow example is not a wrong one.
hypothesis.settings.register_profile("fast", max_examples=30, deadline=None)
hypothesis.settings.register_profile("sweep", max_examples=5000, deadline=None)
hypothesis.settings.load_profile("fast")
share_statements()
gc.disable()  # until all is collected


def missing(what: str, why: str) -> NoReturn:
    """Skip the test because this machine lacks something, unless MIDWATCH_REQUIRE says that it may not."""
    if what in REQUIRED:
        pytest.fail(f"MIDWATCH_REQUIRE names {what}, but {why}", pytrace=False)
    pytest.skip(f"no {what}: {why}")


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """A PostgreSQL of our own, started when the first test of this worker asks for it."""
    try:
        with throw_away_postgres() as server:
            yield server
    except PostgresUnavailable as problem:
        missing("postgres", str(problem))


@pytest.fixture
def empty_sqlite_url(tmp_path: Path) -> str:
    """The URL of a SQLite file that does not exist yet."""
    return f"sqlite:///{tmp_path / 'midwatch.db'}"


@pytest.fixture
def empty_postgres_url(postgres_server: PostgresServer) -> Iterator[str]:
    """The URL of a new, empty PostgreSQL database."""
    with postgres_server.database() as url:
        yield url


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    """The URL of a new SQLite database of today's shape."""
    place_sqlite(tmp_path / "midwatch.db")
    return f"sqlite:///{tmp_path / 'midwatch.db'}"


@pytest.fixture
def postgres_url(postgres_server: PostgresServer) -> Iterator[str]:
    """The URL of a new PostgreSQL database of today's shape."""
    with postgres_server.database(shaped=True) as url:
        yield url


@pytest.fixture(params=[DATABASES[0], pytest.param(DATABASES[1], marks=pytest.mark.postgres)])
def database_url(request: pytest.FixtureRequest) -> str:
    """The URL of a new database of today's shape; the test runs once on each kind."""
    url: str = request.getfixturevalue(f"{request.param}_url")
    return url


# How many tests ran on each database. A test that only ever ran on one of them proves half of what it says.


class DatabaseCounts:
    """Counts in the process that prints the summary; workers send what it needs with each report."""

    def __init__(self, *, must_match: bool) -> None:
        self.must_match = must_match
        self.ran: Counter[str] = Counter()
        self.skipped: Counter[str] = Counter()
        self.reasons: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count each test once: where its body ran, or where it was skipped."""
        kinds = [str(value) for name, value in report.user_properties if name == "database"]
        if report.skipped and kinds:
            self.skipped.update(kinds)
            self.reasons.add(str(report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr))
        elif report.when == "call":
            self.ran.update(kinds)

    def problem(self) -> str | None:
        """What is wrong with the counts, if they matter for this run."""
        on_sqlite, on_postgres = (self.ran[kind] for kind in DATABASES)
        if not self.must_match:
            return None
        if "postgres" in REQUIRED and not on_postgres:
            return "MIDWATCH_REQUIRE names postgres, but no test ran on it"
        if "postgres" not in REQUIRED and self.skipped["postgres"] and not on_postgres:
            return None  # this machine has no PostgreSQL, and the skips say so
        return None if on_sqlite == on_postgres else "the same tests must run on both"

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Fail the run when the counts are wrong."""
        if session.exitstatus == pytest.ExitCode.OK and self.problem():
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say the counts, loudly where tests were skipped."""
        line = "database-parametrised tests: " + ", ".join(f"{kind} {self.ran[kind]}" for kind in DATABASES)
        problem = self.problem()
        terminalreporter.write_line(line, red=bool(problem), green=not problem)
        for kind in DATABASES:
            if self.skipped[kind]:
                terminalreporter.write_line(f"WARNING: {self.skipped[kind]} tests skipped on {kind}", yellow=True)
        for reason in sorted(self.reasons):
            terminalreporter.write_line(f"WARNING: {reason}", yellow=True)
        if problem:
            terminalreporter.write_line(f"FAILED: {problem}", red=True)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let `make test` insist on equal counts; a hand-picked test may run alone."""
    parser.addoption(
        "--databases-must-match", action="store_true", help="fail unless as many tests ran on each database"
    )
    parser.addoption("--resume", metavar="FILE", default="", help="leave out what FILE says has passed; write it on")


def pytest_configure(config: pytest.Config) -> None:
    """Count where the summary is printed: not in an xdist worker."""
    config.pluginmanager.register(HeavyFirst(), "midwatch-heavy-first")
    if not hasattr(config, "workerinput"):
        must_match = bool(config.getoption("--databases-must-match"))
        config.pluginmanager.register(DatabaseCounts(must_match=must_match), "midwatch-database-counts")
        if name := config.getoption("--resume"):
            config.pluginmanager.register(SweepDiary(Path(name)), "midwatch-sweep-diary")


class SweepDiary:
    """Writes down what passed, so that a long sweep that was cut off goes on where it stopped."""

    def __init__(self, file: Path) -> None:
        self.file = file
        if self.file.exists() and self.file.read_text().partition("\n")[0] != code_fingerprint():
            self.file.unlink()  # the code has changed: nothing is proven yet
        if not self.file.exists():
            self.file.write_text(code_fingerprint() + "\n")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note each test that passed."""
        if report.when == "call" and report.passed:
            with self.file.open("a") as diary:
                diary.write(report.nodeid + "\n")

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """A sweep that ran to its end starts again next time."""
        if session.exitstatus == pytest.ExitCode.OK:
            self.file.unlink(missing_ok=True)


def code_fingerprint() -> str:
    """Name exactly this code."""
    hashed = hashlib.sha256()
    for path in sorted([*ROOT.glob("src/**/*.py"), *ROOT.glob("tests/**/*.py")]):
        hashed.update(path.read_bytes())
    return hashed.hexdigest()


@pytest.hookimpl(tryfirst=True)  # before tests are left out by their marks
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what a cut-off sweep proved already, and write on each test which database it is for."""
    diary = Path(config.getoption("--resume")) if config.getoption("--resume") else None
    if diary is not None and diary.exists():
        passed = set(diary.read_text().splitlines())
        items[:] = [item for item in items if item.nodeid not in passed]
    for item in items:
        callspec = getattr(item, "callspec", None)
        parameters = callspec.id.split("-") if callspec else []
        item.user_properties.extend(("database", kind) for kind in DATABASES if kind in parameters)


class HeavyFirst:
    """Puts folders of long tests first, after everybody else who puts tests into an order."""

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Keep the order within a folder."""
        items.sort(key=lambda item: HEAVY.index(folder_of(item)) if folder_of(item) in HEAVY else len(HEAVY))


def pytest_collection_finish() -> None:
    """Begin to collect garbage, without what was collected: some million objects that stay until the end."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)  # every 700 objects, as is usual, took a tenth of a night's processor time
    gc.enable()


def folder_of(item: pytest.Item) -> str:
    """Name the folder of `tests` that a test lies in."""
    return item.path.relative_to(ROOT / "tests").parts[0]
