"""The API as it describes itself, hammered by schemathesis as each role on a real server: no 5xx, no other shape."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import Case
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from midwatch.terms.people import Role
from tests.surfaces.person import Person, a_person
from tests.surfaces.visitor import PASSWORD

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]


@pytest.fixture(scope="module")
def ann() -> Iterator[Person]:
    with a_person() as person:
        person.adds_repo()
        yield person


def let_in(person: Person, role: Role, name: str) -> tuple[str, str]:
    """Make somebody of that role with a token that may all they may; gives the address and the header's value."""
    link = person.types("person", "link", "--role", role.value, "--json").json["url"]
    address, _, key = link.partition("/welcome?key=")
    form = {"key": key, "name": name, "password": PASSWORD}
    assert httpx.post(f"{address}/welcome", data=form, headers={"origin": address}).status_code == 303
    scopes = [word for scope in sorted(role.scopes) for word in ("--scope", scope.value)]
    made = person.types("token", "new", f"for {name}", "--person", name, *scopes, "--json").json
    return address, f"Bearer {made['secret']}"


def operations(ann: Person) -> list[tuple[str, dict[str, Any]]]:
    """Every operation that the API describes, with its method and path."""
    address, header = let_in(ann, Role.VIEWER, "reader")
    schema = httpx.get(f"{address}/openapi.json", headers={"authorization": header}).json()
    return [
        (f"{method} {path}", operation)
        for path, methods in schema["paths"].items()
        for method, operation in methods.items()
    ]


def named(schema: dict[str, Any]) -> bool:
    """Whether this is a model, a list of models, or one of several models."""
    one = schema.get("items", schema)
    return all("$ref" in choice for choice in one.get("anyOf", [one]))


def test_every_answer_and_every_body_is_a_named_model_so_that_a_typed_client_can_be_generated(ann: Person) -> None:
    found = operations(ann)
    assert len(found) > 80
    unnamed = []
    for what, operation in found:
        contents = [operation["responses"]["200"]["content"], operation.get("requestBody", {}).get("content", {})]
        assert contents[0], f"{what} says nothing of what it answers"
        given = [content["application/json"]["schema"] for content in contents if "application/json" in content]
        unnamed += [what for schema in given if not named(schema)]
    assert unnamed == []


def test_a_bare_object_would_be_noticed() -> None:
    assert not named({"type": "object", "additionalProperties": True})
    assert not named({"type": "array", "items": {"type": "object"}})
    assert named({"type": "array", "items": {"anyOf": [{"$ref": "#/a"}, {"$ref": "#/b"}]}})


@pytest.mark.parametrize("role", Role)
def test_whatever_is_sent_the_answer_is_one_the_api_describes(ann: Person, role: Role) -> None:
    hammered(ann, role, schemathesis.GenerationMode.POSITIVE, most=2)


@pytest.mark.sweep
@pytest.mark.parametrize("role", Role)
@pytest.mark.parametrize("mode", schemathesis.GenerationMode, ids=lambda mode: mode.value)
def test_right_and_wrong_requests_by_the_dozen(ann: Person, role: Role, mode: schemathesis.GenerationMode) -> None:
    hammered(ann, role, mode, most=25)


def hammered(ann: Person, role: Role, mode: schemathesis.GenerationMode, *, most: int) -> None:
    """Send requests to every route and look at every answer."""
    address, header = let_in(ann, role, f"{role.value}-{mode.value}-{most}")
    schema = schemathesis.openapi.from_url(f"{address}/openapi.json", headers={"authorization": header})
    tried = 0
    for found in schema.get_all_operations():
        operation = found.ok() if isinstance(found, Ok) else None
        if operation is None or not operation.path.startswith("/api/"):
            continue

        @given(case=operation.as_strategy(generation_mode=mode))
        @settings(
            max_examples=most,
            deadline=None,
            database=None,
            derandomize=True,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        def hammer(case: Case[Any]) -> None:
            if case.query:
                case.query.pop("wait", None)  # it would wait
            answer = case.call(headers={"authorization": header})
            case.validate_response(answer, checks=CHECKS)

        with suppress(Unsatisfiable):  # nothing wrong can be sent to a route that takes nothing
            hammer()
            tried += 1
    assert tried > 20
