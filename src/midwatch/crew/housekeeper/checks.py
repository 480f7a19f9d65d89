"""The project's own checks: run in a bare environment, within a time limit, and compared."""

import contextlib
import os
import re
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from midwatch.crew.housekeeper.answers import HousekeeperCheck, say
from midwatch.terms.figures import some

TIMED_OUT = 124
TAIL = 4_000
PULSE = 30.0
COUNTS = re.compile(r"\b(\d+) (?:failed|errors?)\b")
PYTEST = re.compile(r"^(?:=+ )?(?:\d+ \w+(?:, )?)+ in [\d.]+s.*$|^=+ .*\bin [\d.]+s.*=+$", re.MULTILINE)
UNITTEST = re.compile(r"^FAILED \(([^)]*)\)", re.MULTILINE)


@dataclass(frozen=True)
class Patience:
    """How long one check may take, and how often to say that it is still running."""

    seconds: float
    pulse: float = PULSE


def run_all(commands: tuple[str, ...], root: Path, patience: Patience) -> tuple[HousekeeperCheck, ...]:
    return tuple(_run(command, root, patience) for command in commands)


def why_worse(before: HousekeeperCheck, after: HousekeeperCheck) -> str:
    """Say how a check got worse; empty if it did not."""
    if after.green:
        return ""
    if before.green:
        return f"`{after.command}` passed before and {_ended(after)} after"
    if after.exit_code != before.exit_code:
        return f"`{after.command}` {_ended(before)} before and {_ended(after)} after"
    if None not in (before.failures, after.failures) and (after.failures or 0) > (before.failures or 0):
        return f"`{after.command}` had {before.failures} failures before and {after.failures} after"
    return ""


def first_worse(before: tuple[HousekeeperCheck, ...], after: tuple[HousekeeperCheck, ...]) -> str:
    """Say which check got worse and how; empty when none did."""
    return next((why for b, a in zip(before, after, strict=True) if (why := why_worse(b, a))), "")


def failures_in(output: str) -> int | None:
    """How many tests failed, where pytest or unittest says so at the end."""
    endings = UNITTEST.findall(output)
    if endings:
        return sum(int(n) for n in re.findall(r"(?:failures|errors)=(\d+)", endings[-1]))
    summaries = PYTEST.findall(output)
    if not summaries:
        return None
    return sum(int(n) for n in COUNTS.findall(summaries[-1]))


def _ended(result: HousekeeperCheck) -> str:
    return "ran out of time" if result.exit_code == TIMED_OUT else f"ended with exit {result.exit_code}"


def _run(command: str, root: Path, patience: Patience) -> HousekeeperCheck:
    # To the holder, several silent checks in a row would look like one long silence.
    say(f"Running `{command}`")
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="midwatch-check-", ignore_cleanup_errors=True) as home:
        log = Path(home) / "output"
        with log.open("wb") as sink:
            code = _wait(command, root, sink.fileno(), _environment(home), patience)
        output = log.read_bytes().decode("utf-8", errors="replace")
    return HousekeeperCheck(
        command=command,
        exit_code=code,
        seconds=round(time.monotonic() - started, 3),
        tail=output[-TAIL:],
        failures=failures_in(output),
    )


def _wait(command: str, root: Path, sink: int, environment: dict[str, str], patience: Patience) -> int:
    process = subprocess.Popen(
        ["/bin/sh", "-c", command],
        cwd=root,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=sink,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        code = _attend(process, command, patience)
    finally:
        _end_all(process)
    # A shell reports 128 + signal; use the same form.
    return code if code >= 0 else 128 - code


def _attend(process: subprocess.Popen[bytes], command: str, patience: Patience) -> int:
    """Wait for the end, and report regularly that the check still runs."""
    started = time.monotonic()
    while (left := patience.seconds - (time.monotonic() - started)) > 0:
        try:
            return process.wait(min(left, patience.pulse))
        except subprocess.TimeoutExpired:
            say(f"`{command}` is still running after {some(round(time.monotonic() - started), 'second')}")
    return TIMED_OUT


def _end_all(process: subprocess.Popen[bytes]) -> None:
    """Kill what the check left running."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _environment(home: str) -> dict[str, str]:
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": home,
        "TMPDIR": home,
        "LANG": os.environ.get("LANG", "C.UTF-8"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
