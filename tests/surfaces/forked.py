"""Commands in processes of their own, forked from one that has imported the house: a command costs what it does."""

import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from midwatch.surfaces.cli.main import main
from tests.store.processes import start

STREAMS = ("in", "out", "err")


def typed(
    words: Sequence[str], *, text: str, folder: Path, environment: Mapping[str, str], patience: float
) -> tuple[int, str, str]:
    """Run one command to its end; gives its exit code and what it said. What it starts is started from scratch."""
    with tempfile.TemporaryDirectory(prefix="mw", dir="/tmp") as place:
        streams = Path(place)
        (streams / "in").write_text(text)
        child = start(_command, tuple(words), streams, folder, dict(environment))
        child.join(patience)
        if child.exitcode is None:
            child.kill()
            raise AssertionError(f"{words} never ended")
        out, err = ((streams / name).read_text() for name in STREAMS[1:])
        told = streams / "code"  # a busy machine's fork server may lose how a child ended, and says 255
        return int(told.read_text()) if told.exists() else child.exitcode, out, err


def _command(words: tuple[str, ...], streams: Path, folder: Path, environment: dict[str, str]) -> None:
    for number, name in enumerate(STREAMS):
        opened = os.open(streams / name, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(opened, number)
        os.close(opened)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115  multiprocessing put another one there
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.argv = ["midwatch", *words]
    try:
        main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
        (streams / "code").write_text(str(code))
        raise
