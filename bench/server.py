"""A server for a bench, stopped afterwards."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def running_server(home: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Start `midwatch up` on a folder and wait until it listens at its socket."""
    environment = os.environ | {"MIDWATCH_HOME": str(home)}
    process = subprocess.Popen(
        [sys.executable, "-m", "midwatch", "up"], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    until = time.monotonic() + 30
    while not _answers(home / "midwatch.sock"):
        if process.poll() is not None or time.monotonic() > until:
            raise RuntimeError("the server did not start")
        time.sleep(0.05)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(30)


def _answers(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as line:
        try:
            line.connect(str(path))
        except OSError:
            return False
    return True
