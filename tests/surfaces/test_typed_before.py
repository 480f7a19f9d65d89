"""What was typed before a question appeared does not answer it (A7)."""

import os
import pty
import subprocess
import sys

import pytest

ASKS = {
    "choose": "from midwatch.surfaces.cli.jobs.follow import choose as ask; said = ask(['approve', 'reject'])",
    "answered": "from midwatch.surfaces.cli.shell.screen import answered as ask; said = ask('Deliver? [y/N] ')",
}


def until(screen: int, words: bytes, seen: bytes = b"") -> bytes:
    while words not in seen:
        seen += os.read(screen, 4096)
    return seen


@pytest.mark.parametrize("how", ASKS)
def test_keys_pressed_too_early_are_forgotten(how: str) -> None:
    screen, terminal = pty.openpty()
    go, told = os.pipe()
    program = f"import os; os.read({go}, 1); {ASKS[how]}; print('said', repr(said), flush=True)"
    early, late, prompt = b"a\n", b"r\n", b"]"
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=terminal, stdout=terminal, stderr=terminal, pass_fds=(go,)
    ) as asking:
        os.write(screen, early)
        until(screen, early.strip())  # the terminal has it
        os.write(told, b"!")
        seen = until(screen, prompt)
        os.write(screen, late)
        said = until(screen, b"'\r\n", seen)
        assert asking.wait() == 0
    assert b"'r" in said
    for one in (screen, terminal, go, told):
        os.close(one)
