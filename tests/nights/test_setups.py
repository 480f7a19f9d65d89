"""Setups read the registries that this machine's clients are set to: behind walls, from stand-ins on loopback."""

import base64
import hashlib
import io
import json
import shutil
import socket
import tarfile
import threading
import zipfile
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
from tests.conftest import missing
from tests.nights.test_preflight import commit, looked, prepared

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
        assert line.fix == "Allow it: midwatch settings propose sandbox.setup_domains+=files.example --apply"


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


def crate(shelf: Path, url: str) -> str:
    """Put a crate into a registry; return what a lockfile says about it."""
    packed = shelf / "crates" / "tiny" / "1.2.0" / "download"
    packed.parent.mkdir(parents=True)
    with tarfile.open(packed, "w:gz") as archive:
        for name, text in (
            ("Cargo.toml", '[package]\nname = "tiny"\nversion = "1.2.0"\nedition = "2021"\n'),
            ("src/lib.rs", "pub fn answer() -> u32 { 42 }\n"),
        ):
            told = tarfile.TarInfo(f"tiny-1.2.0/{name}")
            told.size = len(text)
            archive.addfile(told, io.BytesIO(text.encode()))
    checksum = hashlib.sha256(packed.read_bytes()).hexdigest()
    line = {"name": "tiny", "vers": "1.2.0", "deps": [], "cksum": checksum, "features": {}, "yanked": False}
    index = shelf / "index"
    (index / "ti" / "ny").mkdir(parents=True)
    (index / "ti" / "ny" / "tiny").write_text(json.dumps(line) + "\n")
    (index / "config.json").write_text(json.dumps({"dl": f"{url}/crates"}))
    return checksum


RUST = {
    "Cargo.toml": '[package]\nname = "app"\nversion = "0.1.0"\nedition = "2021"\n\n[dependencies]\ntiny = "1"\n',
    "src/lib.rs": "#[test]\nfn works() { assert_eq!(tiny::answer(), 42); }\n",
    "Cargo.lock": 'version = 4\n\n[[package]]\nname = "app"\nversion = "0.1.0"\ndependencies = ["tiny"]\n\n'
    '[[package]]\nname = "tiny"\nversion = "1.2.0"\nsource = "{source}"\nchecksum = "{checksum}"\n',
}
SOURCES = {
    "in place of crates.io": (
        '[source.crates-io]\nreplace-with = "ours"\n[source.ours]\nregistry = "sparse+{url}/index/"\n',
        "registry+https://github.com/rust-lang/crates.io-index",
        '"1"',
    ),
    "by its own name": (
        '[registries.our-crates]\nindex = "sparse+{url}/index/"\n',
        "sparse+{url}/index/",
        '{ version = "1", registry = "our-crates" }',
    ),
}


@pytest.mark.parametrize("how", SOURCES)
async def test_a_cargo_project_with_a_dependency_is_set_up_and_checked_from_cargos_own_registry(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    if shutil.which("cargo") is None:
        missing("cargo", "it sets the project up")
    config, source, needed = SOURCES[how]
    with registry(tmp_path / "served", monkeypatch) as url:
        checksum = crate(tmp_path / "served", url)
        monkeypatch.setenv("CARGO_HOME", str(tmp_path / "cargo"))
        (tmp_path / "cargo").mkdir()
        (tmp_path / "cargo" / "config.toml").write_text(config.format(url=url))
        more = '[sandbox]\nsetup_domains = ["cargo"]\ntoolchains = ["cargo"]\n'
        async with prepared(tmp_path, more=more) as house:
            for name, text in RUST.items():
                told = text.replace('"1"', needed).replace("{source}", source.format(url=url))
                commit(tmp_path / "sample", name, told.replace("{checksum}", checksum))
            await by_day.change_project(house.house.books, "sample", by="ann", checks=("cargo test",))
            found = await looked(house)
            assert (found[What.SETUP, "sample"].state, found[What.CHECKS, "sample"].state) == (OK, OK), found


def module(shelf: Path) -> str:
    """Put a Go module into a proxy's folder; return what go.sum says about it."""
    place = shelf / "go" / "example.org" / "tiny" / "@v"
    place.mkdir(parents=True)
    files = {"go.mod": "module example.org/tiny\n\ngo 1.19\n", "tiny.go": "package tiny\n"}
    (place / "v1.0.0.mod").write_text(files["go.mod"])
    (place / "v1.0.0.info").write_text('{"Version": "v1.0.0", "Time": "2026-01-01T00:00:00Z"}')
    with zipfile.ZipFile(place / "v1.0.0.zip", "w") as archive:
        for name, text in files.items():
            archive.writestr(f"example.org/tiny@v1.0.0/{name}", text)
    whole = {f"example.org/tiny@v1.0.0/{name}": text for name, text in files.items()}
    mod = {"go.mod": files["go.mod"]}
    return f"example.org/tiny v1.0.0 {go_sum(whole)}\nexample.org/tiny v1.0.0/go.mod {go_sum(mod)}\n"


def go_sum(files: dict[str, str]) -> str:
    lines = (f"{hashlib.sha256(text.encode()).hexdigest()}  {name}\n" for name, text in sorted(files.items()))
    return "h1:" + base64.b64encode(hashlib.sha256("".join(lines).encode()).digest()).decode()


async def test_a_go_module_with_a_dependency_is_set_up_and_checked_from_gos_own_proxy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if shutil.which("go") is None:
        missing("go", "it sets the module up")
    with registry(tmp_path / "served", monkeypatch) as url:
        sums = module(tmp_path / "served")
        monkeypatch.setenv("GOPROXY", f"{url}/go,direct")
        monkeypatch.setenv("GOSUMDB", "off")
        more = '[sandbox]\nsetup_domains = ["go"]\ntoolchains = ["go"]\n'
        async with prepared(tmp_path, more=more) as house:
            sample = tmp_path / "sample"
            commit(sample, "go.mod", "module example.org/app\n\ngo 1.19\n\nrequire example.org/tiny v1.0.0\n")
            commit(sample, "go.sum", sums)
            commit(sample, "app.go", 'package app\n\nimport _ "example.org/tiny"\n')
            # A whole `go test` would first compile the standard library.
            check = "go list -e -f '{{.DepsErrors}}' ./... | grep -qx '\\[\\]'"
            await by_day.change_project(house.house.books, "sample", by="ann", checks=(check,))
            found = await looked(house)
            assert (found[What.SETUP, "sample"].state, found[What.CHECKS, "sample"].state) == (OK, OK), found
