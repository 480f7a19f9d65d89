"""Every error class crosses the socket as itself, and ends the command line with its own exit code."""

import importlib
import json
import pkgutil

import pytest
from fastapi import FastAPI
from starlette.requests import Request
from starlette.testclient import TestClient

import midwatch
from midwatch import errors
from midwatch.errors import MidwatchError, every_kind
from midwatch.surfaces.api.app import in_json
from midwatch.surfaces.cli.shell.client import understood

for found in pkgutil.walk_packages(midwatch.__path__, "midwatch."):
    if not found.name.endswith("__main__") and ".migrations" not in found.name:
        importlib.import_module(found.name)
KINDS = every_kind()
OURS = [kind for kind in KINDS if kind.__module__ == errors.__name__]


def answered(error: MidwatchError) -> tuple[int, str, bytes]:
    """What the API answers when a route raises this."""
    app = FastAPI()

    async def tell(request: Request, raised: Exception) -> object:
        assert isinstance(raised, MidwatchError)
        return in_json(request, raised)

    app.add_exception_handler(MidwatchError, tell)  # type: ignore[arg-type]

    @app.get("/")
    async def broken() -> None:
        raise error

    answer = TestClient(app).get("/")
    return answer.status_code, answer.headers["content-type"], answer.content


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_an_error_arrives_with_its_exit_code(kind: type[MidwatchError]) -> None:
    error = kind.__new__(kind)
    MidwatchError.__init__(error, "What happened.", hint="What to do.", because=("one", "two"))
    with pytest.raises(MidwatchError) as caught:
        understood(*answered(error))
    heard = caught.value
    assert (heard.exit_code, heard.code) == (kind.exit_code, kind.code)
    assert (heard.message, heard.hint, heard.because) == ("What happened.", "What to do.", ("one", "two"))
    if kind in OURS:
        assert type(heard) is kind


def test_every_class_of_errors_has_a_code_of_its_own_and_others_share_their_parents() -> None:
    assert len(OURS) >= 17
    assert len({kind.code for kind in OURS}) == len(OURS)
    assert {kind.code for kind in KINDS} == {kind.code for kind in OURS}


@pytest.mark.parametrize("code", [2, 3, 4, 5, 6])
def test_a_code_of_another_version_keeps_its_exit_code(code: int) -> None:
    told = {"code": "M999", "message": "New.", "hint": "", "because": [], "exit_code": code}
    with pytest.raises(MidwatchError) as caught:
        understood(418, "application/json", json.dumps({"error": told}).encode())
    assert caught.value.exit_code == code
