"""A web hook on this machine: a real server that takes, refuses or hangs, and keeps what it was sent."""

import json
import queue
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs

from tests.patience import PATIENCE

TOKEN = "tok-3f9a81c2"


@dataclass
class Sink:
    """A web server that keeps what it is sent and answers as it is told."""

    status: int = 200
    hangs: bool = False
    got: list[tuple[str, str, dict[str, Any]]] = field(default_factory=list)
    release: threading.Event = field(default_factory=threading.Event)
    reached: threading.Event = field(default_factory=threading.Event)
    arrived: "queue.Queue[str]" = field(default_factory=queue.Queue)
    port: int = 0

    def url(self, schema: str, more: str = "") -> str:
        return f"{schema}://ann:{TOKEN}@127.0.0.1:{self.port}/hook/{TOKEN}?rto=0.3&cto=2{more}"


@contextmanager
def listening() -> Iterator[Sink]:
    """Serve until the block ends."""
    kept = Sink()

    class Answering(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            kind = self.headers["Content-Type"].partition(";")[0]
            read = json.loads(body) if kind == "application/json" else {n: v[0] for n, v in parse_qs(body).items()}
            kept.got.append((self.path, kind, read))
            kept.arrived.put(read["message"])
            if kept.hangs:
                kept.reached.set()
                kept.release.wait(PATIENCE)
            self.send_response(kept.status)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answering)
    kept.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield kept
    kept.release.set()
    server.shutdown()
    server.server_close()
    thread.join()
