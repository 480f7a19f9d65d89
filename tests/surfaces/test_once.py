"""A write sent twice under one key happens once."""

import base64
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from midwatch.store.schema.tables import answers
from midwatch.terms.people import Role, Scope
from midwatch.terms.records import ProjectRow, WorkRow
from tests.nights.house import TestHouse, a_house, sample_repository
from tests.surfaces.visitor import Visitor, token, visiting, welcome


@pytest.fixture
async def house(tmp_path: Path, database_url: str) -> AsyncIterator[TestHouse]:
    async with a_house(tmp_path / "home", database_url) as opened:
        await opened.project(sample_repository(tmp_path / "sample"))
        yield opened


@pytest.fixture
async def ann(house: TestHouse) -> AsyncIterator[Visitor]:
    async with visiting(house.house) as visitor:
        await welcome(house.house, visitor)
        yield visitor


async def test_the_second_gets_the_first_ones_answer(house: TestHouse, ann: Visitor) -> None:
    body = {"project": "sample", "title": "Once"}
    first = await ann.api("POST", "/work", body, **{"idempotency-key": "k1"})
    again = await ann.api("POST", "/work", body, **{"idempotency-key": "k1"})
    assert first.status_code == again.status_code == 200
    assert first.json() == again.json()
    assert again.headers["idempotent-replayed"] == "true"
    assert len(await house.house.records.find(WorkRow)) == 1


async def test_a_refusal_is_repeated_too(ann: Visitor) -> None:
    body = {"project": "nowhere", "title": "Once"}
    first = await ann.api("POST", "/work", body, **{"idempotency-key": "k1"})
    again = await ann.api("POST", "/work", body, **{"idempotency-key": "k1"})
    assert first.status_code == again.status_code == 404
    assert first.json() == again.json()


async def test_a_key_is_for_one_request_of_one_caller(house: TestHouse, ann: Visitor) -> None:
    await ann.api("POST", "/work", {"project": "sample", "title": "One"}, **{"idempotency-key": "k1"})
    other = await ann.api("POST", "/work", {"project": "sample", "title": "Two"}, **{"idempotency-key": "k1"})
    assert other.status_code == 409
    async with visiting(house.house) as ben:
        await welcome(house.house, ben, "ben")
        mine = await ben.api("POST", "/work", {"project": "sample", "title": "Two"}, **{"idempotency-key": "k1"})
        assert mine.status_code == 200
    long = await ann.api("POST", "/work", {"project": "sample", "title": "3"}, **{"idempotency-key": "k" * 201})
    assert long.status_code == 400


async def test_long_lists_come_in_pages(house: TestHouse, ann: Visitor) -> None:
    for number in range(5):
        await ann.api("POST", "/work", {"project": "sample", "title": f"Item {number}"})
    seen, path = [], "/work?limit=2&project=sample"
    while path:
        answer = await ann.api("GET", path)
        seen += [row["number"] for row in answer.json()]
        link = answer.headers.get("link", "")
        path = link[len("</api/v1") : link.index(">")] if link else ""
    assert seen == [1, 2, 3, 4, 5]
    assert [row.name for row in await house.house.records.find(ProjectRow)] == ["sample"]


async def kept(house: TestHouse) -> str:
    """Everything that the store has of answers, as one text."""
    rows = await house.house.writer.write(lambda tx: [tuple(row) for row in tx.execute(sa.select(answers))])
    return "\n".join(str(row) for row in rows)


@pytest.mark.parametrize(
    ("path", "body", "shown"),
    [
        ("/tokens", {"name": "ci", "scopes": ["read"]}, "secret"),
        ("/people/links", {"role": "viewer"}, "path"),
    ],
    ids=["token", "link"],
)
async def test_a_secret_in_an_answer_is_repeated_and_never_stored_in_clear(
    house: TestHouse, ann: Visitor, path: str, body: dict[str, object], shown: str
) -> None:
    first = await ann.api("POST", path, body, **{"idempotency-key": "a-key-of-mine"})
    assert first.status_code == 200
    secret = first.json()[shown].rpartition("=")[2]
    assert len(secret) > 20
    stored = await kept(house)
    assert stored
    for hidden in (secret, base64.b64encode(first.content).decode()[:40], "a-key-of-mine"):
        assert hidden not in stored
    again = await ann.api("POST", path, body, **{"idempotency-key": "a-key-of-mine"})
    assert (again.status_code, again.content) == (200, first.content)
    assert again.headers["idempotent-replayed"] == "true"


async def test_a_replay_is_authorised_first(house: TestHouse, ann: Visitor) -> None:
    """A person who may no longer make tokens does not get one of earlier."""
    body = {"name": "ci", "scopes": ["read"]}
    made = await ann.api("POST", "/tokens", body, **{"idempotency-key": "k1"})
    async with visiting(house.house) as ben:
        await welcome(house.house, ben, "ben")
        assert (await ben.api("PATCH", "/people/ann", {"role": "operator"})).status_code == 200
    again = await ann.api("POST", "/tokens", body, **{"idempotency-key": "k1"})
    assert again.status_code == 403
    assert made.json()["secret"] not in again.text


async def test_other_rights_never_carry_it_out_twice(house: TestHouse, ann: Visitor) -> None:
    body = {"project": "sample", "title": "Once"}
    assert (await ann.api("POST", "/work", body, **{"idempotency-key": "k1"})).status_code == 200
    async with visiting(house.house) as ben:
        await welcome(house.house, ben, "ben")
        await ben.api("PATCH", "/people/ann", {"role": "operator"})
    again = await ann.api("POST", "/work", body, **{"idempotency-key": "k1"})
    assert again.status_code == 409
    assert "other rights" in again.json()["error"]["message"]
    assert len(await house.house.records.find(WorkRow)) == 1


async def test_a_key_belongs_to_one_token(house: TestHouse, ann: Visitor) -> None:
    """Another token of the same person has keys of its own, and so has the login."""
    one, other = [await token(house.house, "ann", Scope.READ, Scope.OPERATE) for _ in range(2)]
    titles = {}
    for name, way in {"one": one, "other": other, "login": {}}.items():
        made = await ann.api("POST", "/work", {"project": "sample", "title": name}, **way, **{"idempotency-key": "k1"})
        titles[name] = (made.status_code, made.json()["title"])
    assert titles == {name: (200, name) for name in ("one", "other", "login")}


async def test_a_name_that_is_given_again_has_other_keys(house: TestHouse, ann: Visitor) -> None:
    body = {"project": "sample", "title": "Once"}
    for _ in range(2):
        async with visiting(house.house) as ben:
            await welcome(house.house, ben, "ben", Role.OPERATOR)
            made = await ben.api("POST", "/work", body, **{"idempotency-key": "k1"})
            assert made.status_code == 200
            assert "idempotent-replayed" not in made.headers
        assert (await ann.api("DELETE", "/people/ben")).status_code == 200
    assert len(await house.house.records.find(WorkRow)) == 2


async def test_who_may_not_do_it_leaves_nothing_behind(house: TestHouse, ann: Visitor) -> None:
    viewer = await token(house.house, "ann", Scope.READ)
    for path, body in (("/tokens", {"name": "ci"}), ("/work", {"project": "sample", "title": "No"}), ("/nowhere", {})):
        refused = await ann.api("POST", path, body, **viewer, **{"idempotency-key": "k1"})
        assert refused.status_code in {403, 404}
    assert await kept(house) == ""
