"""The only way to run git: a clean environment, no hooks, no helpers, a deadline, and errors a person can act on."""

import asyncio
import contextlib
import os
import re
import shlex
import signal
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

from midwatch.errors import Broken, Refused, Unavailable
from midwatch.ports.credentials import GitCredentials
from midwatch.workshop.git.remotes import Way, way_to

VARIABLES = ("MIDWATCH_GIT_NAME", "MIDWATCH_GIT_WORD")
HELPER = (
    '!f() { test "$1" = get && printf "username=%s\\npassword=%s\\n" "$MIDWATCH_GIT_NAME" "$MIDWATCH_GIT_WORD"; }; f'
)
"""Git calls this only where the host requires authentication, and only for the host it is bound to."""


async def shown_by(keys: GitCredentials | None, url: str) -> Way:
    """Return what lets git show a credential to this one host; ssh uses the person's own keys."""
    parts = urlsplit(url)
    if keys is None or parts.scheme not in {"http", "https"}:
        return Way()
    name, word = await keys.key_for(url)
    if not word:
        return Way()
    bound = f"credential.{parts.scheme}://{parts.netloc}.helper"
    return Way(((bound, HELPER),), tuple(zip(VARIABLES, (name, word), strict=True)))


HARDENING: Mapping[str, str] = {
    "core.hooksPath": "/dev/null",
    "core.fsmonitor": "false",
    "core.attributesFile": "/dev/null",
    "core.sshCommand": "false",
    "core.pager": "cat",
    "core.editor": "false",
    "core.askPass": "",
    # Run for a repository that borrows objects, while it receives or fetches; `true` lists nothing.
    "core.alternateRefsCommand": "true",
    "gpg.program": "false",
    "gpg.ssh.program": "false",
    "gpg.ssh.defaultKeyCommand": "",
    "gpg.x509.program": "false",
    "core.protectHFS": "true",
    "core.protectNTFS": "true",
    "credential.helper": "",
    "protocol.allow": "never",
    "protocol.file.allow": "always",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "receive.autogc": "false",
    # `updateInstead` in a person's settings would let a push rewrite their working files.
    "receive.denyCurrentBranch": "refuse",
    "fetch.recurseSubmodules": "false",
    "submodule.recurse": "false",
    "fetch.writeCommitGraph": "false",
    "log.showSignature": "false",
    "commit.gpgSign": "false",
    "tag.gpgSign": "false",
    "push.gpgSign": "false",
    # The person's folder may belong to another user; we only read folders that were named to us.
    "safe.directory": "*",
}
IDENTITY = ("Midwatch", "midwatch@localhost.invalid")
READS_FILES = frozenset({"add", "checkout", "commit", "merge", "reset", "rm", "sparse-checkout", "status"})
"""The subcommands that read or write files of a work tree, and so would run the filters that its settings name."""
DRIVER = re.compile(r"filter\..+\.(?:clean|smudge|process|required)", re.DOTALL)
MOST_DRIVERS = 200
MENTIONS = (b"filter", b"include")
"""Without these words, settings can name no filter and no other file of settings: git knows no way to escape them."""
MOST_SETTINGS = 1 << 20  # bytes; larger ones are left to git


def environment() -> dict[str, str]:
    """Make the environment for git: no variables from the server, and none of the person's settings."""
    name, address = IDENTITY
    return {
        "PATH": os.pathsep.join(os.get_exec_path()),
        "HOME": "/nonexistent",
        "LC_ALL": "C",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_AUTHOR_NAME": name,
        "GIT_AUTHOR_EMAIL": address,
        "GIT_COMMITTER_NAME": name,
        "GIT_COMMITTER_EMAIL": address,
    }


def transports(settings: Mapping[str, str]) -> str:
    """List the transports that these settings allow; unlike the settings, this is above what a repository says."""
    rules = {**HARDENING, **settings}
    named = (key.split(".")[1] for key, value in rules.items() if key.startswith("protocol.") and value == "always")
    return ":".join(sorted(named))


def drivers_off(keys: Iterable[str]) -> dict[str, str]:
    """Build the environment that empties these settings; a name may hold any character, so `-c` cannot carry it."""
    off: dict[str, str] = {}
    for number, key in enumerate(keys):
        empty = "false" if key.endswith(".required") else ""
        off |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": empty}
    return {"GIT_CONFIG_COUNT": str(len(off) // 2), **off}


def name_no_driver(folder: Path) -> bool:
    """Say whether the settings in this `.git` folder name no filter for certain; most do not, and no process is spent.

    Whatever is unusual is left to git, which knows where its settings are and how they are read.
    """
    if folder.is_symlink() or not folder.is_dir() or os.path.lexists(folder / "commondir"):
        return False
    try:
        words = _words(folder / "config")
        with contextlib.suppress(FileNotFoundError):
            words += _words(folder / "config.worktree")
    except OSError:
        return False
    return len(words) <= MOST_SETTINGS and not any(mention in words.lower() for mention in MENTIONS)


def _words(settings: Path) -> bytes:
    # An agent may have put a pipe or a link there: neither may hold us up or lead us away.
    with os.fdopen(os.open(settings, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(f"{settings} is no plain file")
        return file.read(MOST_SETTINGS + 1)


def hardened(more: Mapping[str, str] | None = None) -> list[str]:
    """Build the start of every git command line; `more` settings override the defaults."""
    settings = {**HARDENING, **(more or {})}
    return ["git", *(part for key, value in settings.items() for part in ("-c", f"{key}={value}"))]


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much one git process may use on untrusted objects; sizes are in bytes."""

    memory: int = 1 << 30
    file: int = 1 << 30
    output: int = 128 << 20
    cpu_seconds: int = 120

    def around(self) -> tuple[str, ...]:
        """Build the start of the command line: limits set on a running process would come too late for a fast one."""
        limits = f"ulimit -d {self.memory >> 10} && ulimit -f {self.file >> 9} && ulimit -t {self.cpu_seconds}"
        return "/bin/sh", "-c", f'{limits} && exec "$@"', "sh"


@dataclass(frozen=True, slots=True)
class Git:
    """Runs git in a given repository. `hold` are open files that each git process keeps open (our lock on a mirror)."""

    limit: timedelta = timedelta(minutes=5)
    hold: tuple[int, ...] = ()
    settings: tuple[tuple[str, str], ...] = ()
    """They override the defaults."""
    surroundings: tuple[tuple[str, str], ...] = ()
    bounds: Bounds | None = None
    keys: GitCredentials | None = field(default=None, repr=False)
    reaching: str = ""
    """The URL it may show a credential to."""

    def holding(self, descriptor: int) -> "Git":
        """Make a runner whose processes keep this file open, so that a lock stays held if they outlive the server."""
        return replace(self, hold=(*self.hold, descriptor))

    def bounded(self) -> "Git":
        """Make a runner for objects that an attacker may have made."""
        # Files above the threshold are streamed, never held in memory whole.
        calm = (("core.bigFileThreshold", "8m"), ("pack.threads", "1"), ("pack.windowMemory", "64m"))
        return replace(self, bounds=Bounds(), settings=(*self.settings, *calm))

    def alone(self) -> "Git":
        """Make a runner that reaches no other repository: a partial clone would fetch, which writes to it."""
        return replace(self, settings=(*self.settings, ("protocol.file.allow", "never")))

    def toward(self, source: Path | str) -> "Git":
        means = way_to(source)
        return replace(
            self,
            settings=(*self.settings, *means.settings),
            surroundings=(*self.surroundings, *means.surroundings),
            reaching=str(source) if means.settings else "",
        )

    def far_side(self, program: str, at: Path | None = None) -> str:
        """Name the program git starts at the other end of a fetch or push; settings from -c do not reach it."""
        umask = f"umask {as_open_as(at):04o} && " if at is not None else ""
        return f"{umask}GIT_ALLOW_PROTOCOL= " + shlex.join([*hardened({"protocol.file.allow": "never"}), program])

    async def run(self, repository: Path, *arguments: str, stdin: bytes = b"") -> bytes:
        code, out, complaint = await self.attempt(repository, *arguments, stdin=stdin)
        if code:
            verb = next((word for word in arguments if not word.startswith("-")), "git")
            if self.bounds is not None and (code < 0 or "memory" in complaint):
                raise Refused(
                    f"The work is too large to check: git {verb} exceeded its limit of time or memory.",
                    hint="Ask for smaller steps, and keep large files out of commits.",
                )
            raise Broken(
                f"git {verb} failed in {repository}: {complaint or f'exit code {code}'}",
                hint=f"Run `git -C {shlex.quote(str(repository))} status` to see what git reports about that folder.",
            )
        return out

    async def text(self, repository: Path, *arguments: str, stdin: bytes = b"") -> str:
        return (await self.run(repository, *arguments, stdin=stdin)).decode(errors="replace").rstrip("\n")

    async def attempt(self, repository: Path, *arguments: str, stdin: bytes = b"") -> tuple[int, bytes, str]:
        code, out, complaints = await self.converse(repository, *arguments, stdin=stdin)
        return code, out, telling_line(complaints)

    async def converse(self, repository: Path, *arguments: str, stdin: bytes | int = b"") -> tuple[int, bytes, str]:
        """Run git and return its exit code, its output and all of stderr; `stdin` may be an open file."""
        process = await self._start(repository, arguments, stdin if isinstance(stdin, int) else None)
        words = None if isinstance(stdin, int) else stdin
        try:
            async with asyncio.timeout(self.limit.total_seconds()):
                out, complaints = await self._hear(process, words, arguments[0])
        except TimeoutError:
            raise Unavailable(
                f"git {arguments[0]} took longer than {self.limit} in {repository}.",
                hint="Look for a slow disk or a hung network folder, then try again.",
            ) from None
        finally:
            if process.returncode is None:
                os.killpg(process.pid, signal.SIGKILL)
                await process.wait()
        return process.returncode or 0, out, complaints.decode(errors="replace")

    async def _hear(self, process: asyncio.subprocess.Process, words: bytes | None, verb: str) -> tuple[bytes, bytes]:
        if self.bounds is None:
            return await process.communicate(words)
        assert process.stdout is not None  # noqa: S101 - for the type checker
        assert process.stderr is not None  # noqa: S101 - for the type checker
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(_tell(process, words))
                out = group.create_task(_at_most(process.stdout, self.bounds.output, verb))
                complaints = group.create_task(_at_most(process.stderr, 1 << 20, verb))
        except ExceptionGroup as several:
            raise several.exceptions[0] from None
        await process.wait()
        return out.result(), complaints.result()

    async def _start(
        self, repository: Path, arguments: tuple[str, ...], file: int | None
    ) -> asyncio.subprocess.Process:
        key = await shown_by(self.keys, self.reaching)
        settings = dict((*self.settings, *key.settings))
        more = {"GIT_ALLOW_PROTOCOL": transports(settings), **dict((*self.surroundings, *key.surroundings))}
        if READS_FILES.intersection(arguments[:2]):
            # `core.worktree` would have the files of another folder read and written.
            more |= {"GIT_WORK_TREE": str(repository)}
            if name_no_driver(own := repository / ".git"):
                more |= {"GIT_DIR": str(own)}  # what was read is what git uses, and not a repository further up
            else:
                more |= drivers_off(await self._drivers(repository))
        try:
            return await asyncio.create_subprocess_exec(
                *(() if self.bounds is None else self.bounds.around()),
                *hardened(settings),
                "-C",
                str(repository),
                *arguments,
                env=environment() | more,
                cwd="/",
                umask=as_open_as(repository),
                stdin=asyncio.subprocess.PIPE if file is None else file,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                start_new_session=True,
                pass_fds=self.hold,
            )
        except FileNotFoundError:
            raise Broken("git is not installed.", hint="Install git 2.38 or newer.") from None

    async def _drivers(self, repository: Path) -> list[str]:
        """Find the settings of a repository, and of what it includes, that name programs for the content of files."""
        code, out, complaint = await self.attempt(repository, "config", "--list", "--name-only", "-z")
        if code:
            raise Refused(f"The settings of {repository} cannot be read: {complaint}.", hint="Look at its .git/config.")
        found = sorted({key for key in out.decode(errors="surrogateescape").split("\0") if DRIVER.fullmatch(key)})
        if len(found) > MOST_DRIVERS:
            raise Refused(
                f"{repository} has {len(found)} settings of filters, more than {MOST_DRIVERS}.",
                hint="Remove them from its .git/config.",
            )
        return found


def as_open_as(repository: Path) -> int:
    """Return the umask for work in it: a person's repository stays as open as it is, and our own are private."""
    if repository == Path("/"):  # from there, git only makes repositories of ours
        return 0o077
    try:
        return ~repository.stat().st_mode & 0o077
    except OSError:
        return 0o077


async def _tell(process: asyncio.subprocess.Process, words: bytes | None) -> None:
    if process.stdin is None or words is None:
        return
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        process.stdin.write(words)
        await process.stdin.drain()
    process.stdin.close()


async def _at_most(stream: asyncio.StreamReader, most: int, verb: str) -> bytes:
    heard = bytearray()
    while chunk := await stream.read(1 << 16):
        heard += chunk
        if len(heard) > most:
            raise Refused(
                f"git {verb} had more than {most >> 20} MiB of output about the work.",
                hint="The work is far too large to check; ask for smaller steps.",
            )
    return bytes(heard)


def telling_line(complaints: str) -> str:
    """Pick the line that gives the reason: the rejected ref or broken object where git names one, else the last."""
    lines = [line.strip() for line in complaints.splitlines() if line.strip()]
    telling = [line for line in lines if line.startswith(("! [", "error: object "))] or lines[-1:]
    return telling[0].removeprefix("fatal: ").removeprefix("error: ").removeprefix("! ") if telling else ""
