"""What the command line says when the server hangs up: it ended, or it refuses this user."""

import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from midwatch import errors
from midwatch.surfaces.address import SOCKET
from midwatch.surfaces.cli.shell import client


@pytest.fixture
def hanging_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Listen as a server that is being killed does: every connection is taken and closed without an answer."""
    monkeypatch.setenv("MIDWATCH_HOME", str(tmp_path))
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / SOCKET))
        listening.listen()

        def hang_up() -> None:
            while True:
                peer, _ = listening.accept()
                with peer:
                    if peer.recv(1) == b"!":
                        return

        thread = threading.Thread(target=hang_up)
        thread.start()
        yield tmp_path
        with socket.socket(socket.AF_UNIX) as last:
            last.connect(str(tmp_path / SOCKET))
            last.send(b"!")
            thread.join()


@pytest.mark.usefixtures("hanging_up")
def test_a_server_that_ends_is_not_taken_for_one_that_refuses() -> None:
    with pytest.raises(errors.Unavailable, match="resumes at the next start"):
        client.wait_for("/entries")
    with pytest.raises(errors.Unavailable, match="may have been done or not"):
        client.send("POST", "/code", {})


def test_another_user_is_told_whose_server_it_is(hanging_up: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    owner = (hanging_up / SOCKET).stat().st_uid
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    with pytest.raises(errors.Refused, match="only its owner"):
        client.get("/status")
