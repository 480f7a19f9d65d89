"""The API's promises: errors in one shape, an empty house that answers, and a door only for its owner."""

import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from midwatch.surfaces.cli.shell.client import SocketConnection
from tests.patience import PATIENCE
from tests.surfaces.person import Person, a_person

ERROR = {"code", "message", "hint", "because", "exit_code"}
WRONG = [
    ("GET", "/api/v1/nowhere", None, 404),
    ("PUT", "/api/v1/status", None, 405),
    ("GET", "/api/v1/projects/nope", None, 404),
    ("GET", "/api/v1/asks/1", None, 404),
    ("GET", "/api/v1/jobs/1/diff", None, 404),
    ("GET", "/api/v1/rehearse", None, 400),
    ("GET", "/api/v1/rehearse?level=wild", None, 400),
    ("GET", "/api/v1/entries?after=soon", None, 400),
    ("GET", "/api/v1/why/99999999999999999999", None, 404),
    ("POST", "/api/v1/projects", {"path": "/nowhere"}, 400),
    ("POST", "/api/v1/projects", {"colour": "red"}, 400),
    ("POST", "/api/v1/projects", "no object", 400),
    ("PUT", "/api/v1/orders", {"toml": "level ="}, 400),
    ("POST", "/api/v1/sessions/start", {"shown_hash": "0" * 64}, 404),
    ("POST", "/api/v1/sessions/current/pause", {}, 403),
    ("POST", "/api/v1/sessions/current/dance", {}, 403),
    ("PUT", "/api/v1/level", {"level": "full"}, 403),
    ("POST", "/api/v1/morning/review", {"usefulness": 9, "trust": 1, "brevity": 1}, 400),
]


@pytest.fixture(scope="module")
def person() -> Iterator[Person]:
    with a_person() as someone:
        yield someone


def call(person: Person, method: str, path: str, body: Any = None) -> tuple[int, Any]:
    connection = SocketConnection(person.home / "midwatch.sock", 30)
    try:
        payload = None if body is None else json.dumps(body)
        connection.request(method, path, payload, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        text = answer.read().decode()
        is_json = answer.headers.get("Content-Type", "").startswith("application/json")
        return answer.status, json.loads(text) if is_json else text
    finally:
        connection.close()


@pytest.mark.parametrize(("method", "path", "body", "status"), WRONG, ids=[f"{one[0]} {one[1]}" for one in WRONG])
def test_every_error_has_the_one_shape(person: Person, method: str, path: str, body: Any, status: int) -> None:
    got, told = call(person, method, path, body)
    assert got == status, told
    assert set(told) == {"error"}
    error = told["error"]
    assert set(error) == ERROR
    assert error["message"].rstrip().endswith((".", "?"))
    assert error["hint"]
    assert error["code"].startswith("M")
    assert error["exit_code"] in {2, 3, 4, 5, 6}


def test_every_reading_route_answers_in_an_empty_house(person: Person) -> None:
    _, described = call(person, "GET", "/openapi.json")
    routes = [path for path, methods in described["paths"].items() if "get" in methods]
    assert len(routes) > 25
    for route in routes:
        asked = re.sub(r"\{\w+\}", "1", route) + ("?level=full" if route.endswith("/rehearse") else "")
        status, told = call(person, "GET", asked)
        assert status in {200, 404}, (asked, told)
        assert status == 200 or set(told["error"]) == ERROR


def test_a_broken_request_leaves_the_server_well(person: Person) -> None:
    with socket.socket(socket.AF_UNIX) as raw:
        raw.connect(str(person.home / "midwatch.sock"))
        raw.sendall(b"nonsense\r\n\r\n")
        assert b"400" in raw.recv(4096)
    assert call(person, "GET", "/healthz") == (200, {"status": "ok"})
    assert call(person, "GET", "/readyz")[0] == 200


def test_the_socket_is_for_its_owner_only(person: Person) -> None:
    assert (person.home / "midwatch.sock").stat().st_mode & 0o777 == 0o600


STRANGER = """
import http.client, os, socket, sys
os.setgid(65534); os.setuid(65534)
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
try:
    s.sendall(b"GET /healthz HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n")
    print(s.recv(100))
except (ConnectionResetError, BrokenPipeError):
    print(b"")
"""


def test_a_stranger_is_hung_up_on_even_where_the_file_lets_him_in(person: Person) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can become somebody else")
    opened = [person.folder, person.home, person.home / "midwatch.sock"]
    before = {path: path.stat().st_mode for path in opened}
    for path in opened:
        path.chmod(0o777)
    try:
        python = str(Path(sys.executable).resolve())
        done = subprocess.run(
            [python, "-c", STRANGER, str(opened[-1])], capture_output=True, text=True, check=False, timeout=PATIENCE
        )
        assert done.stdout == "b''\n", done
        assert call(person, "GET", "/healthz")[0] == 200
    finally:
        for path, mode in before.items():
            path.chmod(mode & 0o777)
