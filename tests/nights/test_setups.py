"""Setups read the registries that this machine's clients are set to: behind walls, from stand-ins on loopback."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any

import pytest

from midwatch.evening import projects as by_day
from midwatch.rules.budget import egress
from midwatch.terms.preflight import LineState, What
from tests.nights.test_preflight import looked, prepared

OK, _, BAD = LineState
HOST = "packages.example"
READS = "import os, sys, urllib.request as web; web.urlopen(os.environ['PIP_INDEX_URL'] + '/tiny/')"
ASKS = "import urllib.request as web; web.urlopen('https://files.example/x')"


class Shelf(SimpleHTTPRequestHandler):
    """A registry that is a folder; below /team it wants a password."""

    def do_GET(self) -> None:
        if self.path.startswith("/team/") and not self.headers.get("Authorization"):
            self.send_error(403)
        else:
            super().do_GET()

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def registry(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Serve a folder under a name of its own, on a machine whose own network is its loopback."""
    real = socket.getaddrinfo

    def here(host: Any, *more: Any, **named: Any) -> Any:
        return real("127.0.0.1" if str(host).rstrip(".") == HOST else host, *more, **named)

    monkeypatch.setattr(socket, "getaddrinfo", here)
    monkeypatch.setattr(egress, "_OWN_NETWORKS", (IPv4Network("127.0.0.0/8"),))
    folder.mkdir(parents=True, exist_ok=True)
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Shelf, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://{HOST}:{server.server_address[1]}"
        server.shutdown()


async def test_a_setup_that_only_repeats_what_was_refused_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(egress, "ROUND_APART", 0.0)
    async with prepared(tmp_path) as house:
        repeats = f'until python3 -c "{ASKS}"; do :; done'
        await by_day.change_project(house.house.books, "sample", by="ann", setup=repeats)
        line = (await looked(house))[What.SETUP, "sample"]
        assert (line.state, line.text) == (BAD, "The setup may not reach files.example.")
        assert line.fix == "Allow it: midwatch settings propose sandbox.setup_domains=files.example"


async def test_a_private_index_that_lets_nothing_be_read_is_named_and_its_new_login_is_used_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "served" / "team" / "tiny").mkdir(parents=True)
    with registry(tmp_path / "served", monkeypatch) as url:
        monkeypatch.setenv("PIP_INDEX_URL", f"{url}/team")
        async with prepared(tmp_path, more='[sandbox]\nsetup_domains = ["pip"]\n') as house:
            await by_day.change_project(house.house.books, "sample", by="ann", setup=f'python3 -c "{READS}"')
            line = (await looked(house))[What.SETUP, "sample"]
            assert line.state is BAD
            assert line.text == f"The setup may not read {HOST} (pip's registry): it answers 403 Forbidden."
            assert "in its index address or ~/.netrc" in line.fix
            monkeypatch.setenv("PIP_INDEX_URL", url.replace("//", "//ann:pa55-for-ann@") + "/team")
            assert (await looked(house))[What.SETUP, "sample"].state is OK
