"""The door of our GitHub: REST and git on one port, each wanting a token, with Prism in front of REST."""

import base64
import hashlib
import json
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import ThreadingHTTPServer
from pathlib import Path

import httpx

from tests.forges.github_fake import GitHubFake
from tests.forges.github_words import Words
from tests.workshop.smart_http import SmartHttp
from tools import prism


class Door(SmartHttp):
    """REST and git on one port; both want a token."""

    fake: GitHubFake

    def do_GET(self) -> None:  # noqa: N802 - its name in the standard library
        """Serve either side."""
        if self.path.startswith("/repos/"):
            self._rest()
        else:
            self._git()

    do_POST = do_PUT = do_PATCH = do_GET  # noqa: N815

    def _rest(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.fake.shown += [*(f"{name}: {value}" for name, value in self.headers.items()), body.decode()]
        token = (self.headers.get("Authorization") or "").removeprefix("Bearer ")
        reply = self.fake.answer(self.command, self.path, json.loads(body) if body else {}, token)
        data = b"" if reply.body is None else json.dumps(reply.body).encode()
        tag = f'W/"{hashlib.sha256(data).hexdigest()}"'
        status = reply.status
        if self.command == "GET" and status == 200:
            if self.headers.get("If-None-Match") == tag:
                status, data = 304, b""
            reply.headers["ETag"] = tag
        self.send_response(status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        if data:
            self.send_header("Content-Type", "application/json; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _git(self) -> None:
        self.fake.shown += [f"{self.command} {self.path}"]
        scheme, _, given = (self.headers.get("Authorization") or "").partition(" ")
        word = base64.b64decode(given).decode().partition(":")[2] if scheme == "Basic" else ""
        held = self.fake.tokens.get(word)
        full_name = "/".join(self.path.split("?")[0].strip("/").split("/")[:2]).removesuffix(".git")
        there = self.fake.hosted.get(full_name)
        writes = "git-receive-pack" in self.path
        if held is None or held.expired:
            self._plain(401, "Invalid username or token.", {"WWW-Authenticate": 'Basic realm="GitHub"'})
        elif there is None:
            self._plain(404, "Repository not found.")
        elif writes and there.archived:
            self._plain(403, "This repository was archived so it is read-only.")
        elif writes and not held.push:
            self._plain(403, f"Permission to {full_name}.git denied to {held.who}.")
        else:
            self._serve()

    def _plain(self, status: int, text: str, headers: dict[str, str] | None = None) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        data = text.encode()
        self.send_response(status)
        for name, value in {**(headers or {}), "Content-Type": "text/plain", "Content-Length": str(len(data))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)


@contextmanager
def github(root: Path, words: Words) -> Iterator[GitHubFake]:
    """Serve a GitHub with nothing on it yet."""
    fake = GitHubFake(root, words)
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Serving", (Door,), {"root": str(root), "fake": fake}))
    fake.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield fake
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@dataclass
class Watched:
    """A GitHub, and Prism in front of its REST side, which answers for every violation of GitHub's own description."""

    fake: GitHubFake
    api: str
    log: Path
    _read: int = 0

    def violations(self) -> str:
        """What Prism has had to complain about since we last asked."""
        said = self.log.read_text()[self._read :]
        self._read += len(said)
        return "\n".join(line for line in said.splitlines() if "✖" in line)


@contextmanager
def watched_github(root: Path) -> Iterator[Watched]:
    """Serve a GitHub behind `prism proxy --errors`."""
    with github(root / "hosted", Words(prism.description())) as fake, (root / "prism.log").open("wb") as log:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        command = [
            str(prism.program()),
            "proxy",
            str(prism.description()),
            fake.address,
            "--errors",
            "--port",
            str(port),
        ]
        process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        try:
            _until_it_answers(process, f"http://127.0.0.1:{port}", root / "prism.log")
            yield Watched(fake, f"http://127.0.0.1:{port}", root / "prism.log")
        finally:
            process.terminate()
            process.wait()


def _until_it_answers(process: subprocess.Popen[bytes], address: str, log: Path) -> None:
    for _ in range(600):
        try:
            httpx.get(f"{address}/repos/nobody/nothing", trust_env=False)
        except httpx.TransportError:
            assert process.poll() is None, log.read_text()
            time.sleep(0.05)
        else:
            return
    raise AssertionError(log.read_text())
