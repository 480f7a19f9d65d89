"""The one way to run git: a clean environment, no hooks, no helpers, a deadline, and errors a person can act on."""

import asyncio
import os
import shlex
import signal
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

from midwatch.errors import Broken, Unavailable

HARDENING: Mapping[str, str] = {
    "core.hooksPath": "/dev/null",
    "core.fsmonitor": "false",
    "core.attributesFile": "/dev/null",
    "core.sshCommand": "false",
    "core.pager": "cat",
    "core.protectHFS": "true",
    "core.protectNTFS": "true",
    "credential.helper": "",
    "protocol.allow": "never",
    "protocol.file.allow": "always",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "receive.autogc": "false",
    # `updateInstead` in somebody's settings would let a push rewrite the files they look at.
    "receive.denyCurrentBranch": "refuse",
    "fetch.recurseSubmodules": "false",
    "submodule.recurse": "false",
    "fetch.writeCommitGraph": "false",
    "log.showSignature": "false",
    "commit.gpgSign": "false",
    "tag.gpgSign": "false",
    "push.gpgSign": "false",
    # The person's folder may belong to another user; we only ever look at folders that were named to us.
    "safe.directory": "*",
}
IDENTITY = ("Midwatch", "midwatch@localhost.invalid")


def environment() -> dict[str, str]:
    """Make the environment git gets: nothing of ours, nothing of the person's settings."""
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
        "GIT_AUTHOR_NAME": name,
        "GIT_AUTHOR_EMAIL": address,
        "GIT_COMMITTER_NAME": name,
        "GIT_COMMITTER_EMAIL": address,
    }


def hardened() -> list[str]:
    """Make the start of every git command line."""
    return ["git", *(part for key, value in HARDENING.items() for part in ("-c", f"{key}={value}"))]


class Git:
    """Runs git in a given repository. `hold` are open files each git process keeps open (our lock on a mirror)."""

    def __init__(self, *, limit: timedelta = timedelta(minutes=5), hold: tuple[int, ...] = ()) -> None:
        self._limit = limit
        self._hold = hold

    def holding(self, descriptor: int) -> "Git":
        """Make a runner whose processes keep this file open, so that a lock outlives us if they do."""
        return Git(limit=self._limit, hold=(*self._hold, descriptor))

    def far_side(self, program: str) -> str:
        """Name the program git starts at the other end of a fetch or push; settings given by -c do not reach it."""
        return shlex.join([*hardened(), program])

    async def run(self, repository: Path, *arguments: str, stdin: bytes = b"") -> bytes:
        """Run git and return what it printed; any other ending than success is Broken."""
        code, out, complaint = await self.attempt(repository, *arguments, stdin=stdin)
        if code:
            verb = next((word for word in arguments if not word.startswith("-")), "git")
            raise Broken(
                f"git {verb} failed in {repository}: {complaint or f'exit code {code}'}",
                hint=f"Run `git -C {shlex.quote(str(repository))} status` to see what git thinks of that folder.",
            )
        return out

    async def text(self, repository: Path, *arguments: str, stdin: bytes = b"") -> str:
        """Run git and return what it printed as text without the line end."""
        return (await self.run(repository, *arguments, stdin=stdin)).decode(errors="replace").rstrip("\n")

    async def attempt(self, repository: Path, *arguments: str, stdin: bytes = b"") -> tuple[int, bytes, str]:
        """Run git and return its exit code, its output and its complaint."""
        process = await self._start(repository, arguments)
        try:
            async with asyncio.timeout(self._limit.total_seconds()):
                out, complaints = await process.communicate(stdin)
        except TimeoutError:
            raise Unavailable(
                f"git {arguments[0]} took longer than {self._limit} in {repository}.",
                hint="Look for a slow disk or a hung network folder, then try again.",
            ) from None
        finally:
            if process.returncode is None:
                os.killpg(process.pid, signal.SIGKILL)
                await process.wait()
        return process.returncode or 0, out, _telling_line(complaints)

    async def _start(self, repository: Path, arguments: tuple[str, ...]) -> asyncio.subprocess.Process:
        try:
            return await asyncio.create_subprocess_exec(
                *hardened(),
                "-C",
                str(repository),
                *arguments,
                env=environment(),
                cwd="/",
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                start_new_session=True,
                pass_fds=self._hold,
            )
        except FileNotFoundError:
            raise Broken("git is not installed.", hint="Install git 2.38 or newer.") from None


def _telling_line(complaints: bytes) -> str:
    """Pick the line that says why: the rejected ref or broken object where git names one, else the last."""
    lines = [line.strip() for line in complaints.decode(errors="replace").splitlines() if line.strip()]
    telling = [line for line in lines if line.startswith(("! [", "error: object "))] or lines[-1:]
    return telling[0].removeprefix("fatal: ").removeprefix("error: ").removeprefix("! ") if telling else ""
