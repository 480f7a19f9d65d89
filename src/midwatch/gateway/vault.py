"""The vault: fetches secrets from their source when they are needed, and holds them in memory only."""

import asyncio
import os
import shlex
import signal
import stat
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import timedelta
from typing import NoReturn

from midwatch.errors import MidwatchError, Misuse, Refused, Unavailable
from midwatch.gateway.redaction.known_values import long_enough
from midwatch.terms.secrets import SecretPlace, SecretReference

LONGEST = 64 * 1024
PATIENCE = timedelta(seconds=20)


class Secret:
    """A value that is shown only on request, and is never written anywhere."""

    __slots__ = ("_value", "name")

    def __init__(self, name: str, value: str) -> None:
        self.name = name
        self._value = value

    def reveal(self) -> str:
        return self._value

    def __repr__(self) -> str:
        return f"[secret:{self.name}]"

    def __reduce__(self) -> NoReturn:
        raise TypeError("A secret is never written anywhere.")


class Vault:
    """Secrets by name; the redactor gets each value before any caller does."""

    def __init__(
        self,
        references: Mapping[str, SecretReference],
        *,
        on_read: Callable[[Mapping[str, str]], None] | None = None,
        patience: timedelta = PATIENCE,
        whose: str = "the server's environment",
    ) -> None:
        self._references = dict(references)
        self._whose = whose
        self._on_read = on_read
        self._patience = patience
        self._values: dict[str, str] = {}

    def __repr__(self) -> str:
        return f"<Vault of {len(self._references)} secrets>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("A vault is never written anywhere.")

    async def secret(self, name: str) -> Secret:
        """Return a secret, fetching it the first time."""
        if name not in self._references:
            raise Misuse(f"No secret is called {name}.", hint="Add it to [secrets] with its location.")
        if name not in self._values:
            self._learn({name: await self._fetch(name, self._references[name])})
        return Secret(name, self._values[name])

    def refer(self, references: Mapping[str, SecretReference]) -> bool:
        """Replace the references, and return whether they differ; changed ones are fetched again."""
        before, self._references = self._references, dict(references)
        for name in before:
            if self._references.get(name) != before[name]:
                self.forget(name)
        return self._references != before

    async def unlock(self) -> dict[str, MidwatchError]:
        """Fetch every secret, so that none is unknown to the redactor; return which failed, and why."""
        wanted = {name: reference for name, reference in self._references.items() if name not in self._values}
        # In parallel: a slow one must not delay the rest, and learning many at once costs hardly more than one.
        fetched = await asyncio.gather(*(self._tried(*each) for each in wanted.items()))
        got = dict(zip(wanted, fetched, strict=True))
        self._learn({name: value for name, value in got.items() if isinstance(value, str)})
        for name, reference in wanted.items():
            if self._references.get(name) != reference:  # changed while we were fetching
                self.forget(name)
        return {name: error for name, error in got.items() if isinstance(error, MidwatchError)}

    async def _tried(self, name: str, reference: SecretReference) -> str | MidwatchError:
        try:
            return await self._fetch(name, reference)
        except MidwatchError as error:
            return error

    def _learn(self, values: Mapping[str, str]) -> None:
        if self._on_read is not None and values:
            self._on_read(values)
        self._values |= values

    def forget(self, name: str) -> None:
        """Fetch this secret again next time: it was changed."""
        self._values.pop(name, None)

    def known(self) -> dict[str, str]:
        """Return the values fetched so far, for the redactor only."""
        return dict(self._values)

    async def _fetch(self, name: str, reference: SecretReference) -> str:
        if reference.place is SecretPlace.ENV:
            raw = _from_environment(name, reference.address, self._whose)
        elif reference.place is SecretPlace.FILE:
            raw = await asyncio.to_thread(_from_file, name, reference.address)
        else:
            raw = await _from_command(name, reference.address, self._patience)
        try:
            value = raw.decode().strip()
        except UnicodeDecodeError:
            raise Misuse(f"The secret {name} ({reference}) is not text.", hint="Store it as base64 or hex.") from None
        if not long_enough(value):
            raise Misuse(
                f"The secret {name} ({reference}) is empty or too short to be kept out of logs.",
                hint="Use one of at least six characters.",
            )
        return value


def _from_environment(name: str, variable: str, whose: str) -> bytes:
    value = os.environb.get(variable.encode())  # the person named this variable in the settings
    if value is None:
        raise Misuse(
            f"The secret {name} should be in ${variable}, which is not set in {whose}.",
            hint=f"Set it where the server is started, then start it again there: export {variable}=...; "
            "midwatch down; midwatch up --detach",
        )
    return value


def _from_file(name: str, path: str) -> bytes:
    try:
        # Not blocking: a named pipe would make us wait for a writer.
        descriptor = os.open(os.path.expanduser(path), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)  # noqa: PTH111
    except OSError as error:
        raise Misuse(f"The secret {name} cannot be read from {path}: {error.strerror}.", hint=f"ls -l {path}") from None
    with os.fdopen(descriptor, "rb") as file:
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode):
            raise Refused(f"The secret {name} is refused: {path} is not a regular file.", hint="Name a file.")
        if facts.st_uid != os.geteuid():
            raise Refused(
                f"The secret {name} is refused: {path} belongs to another user.", hint=f"chown {os.geteuid()} {path}"
            )
        if stat.S_IMODE(facts.st_mode) & 0o177:
            raise Refused(f"The secret {name} is refused: others may read {path}.", hint=f"chmod 600 {path}")
        return _bounded(name, file.read(LONGEST + 1))


async def _from_command(name: str, command: str, patience: timedelta) -> bytes:
    try:
        words = shlex.split(command)
        process = await asyncio.create_subprocess_exec(  # noqa: TID251  a password manager is neither agent nor check
            *words,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,  # may hold the secret; it is never read
            start_new_session=True,
            cwd="/",
            limit=LONGEST,
        )
    except (OSError, ValueError) as error:
        raise Misuse(
            f"The command for the secret {name} cannot be started: {type(error).__name__}.",
            hint=f"Try it yourself: {command}",
        ) from None
    try:
        async with asyncio.timeout(patience.total_seconds()):
            output = await _read(name, process)
            code = await process.wait()
    except TimeoutError:
        raise Unavailable(
            f"The command for the secret {name} did not end within {patience.total_seconds():g} seconds.",
            hint=f"It must not ask anything. Try it yourself: {command} </dev/null",
        ) from None
    finally:
        await _see_out(process)
    if code:
        raise Unavailable(f"The command for the secret {name} failed with {code}.", hint=f"Try it yourself: {command}")
    return output


async def _read(name: str, process: asyncio.subprocess.Process) -> bytes:
    assert process.stdout is not None  # noqa: S101 - for the type checker
    output = b""
    while chunk := await process.stdout.read(LONGEST):
        output = _bounded(name, output + chunk)
    return output


async def _see_out(process: asyncio.subprocess.Process) -> None:
    """Leave no process of the command running: it led a process group of its own."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    await process.wait()


def _bounded(name: str, output: bytes) -> bytes:
    if len(output) > LONGEST:
        raise Misuse(
            f"The secret {name} is longer than {LONGEST // 1024} KiB.",
            hint="Use a command that prints only the secret.",
        )
    return output
