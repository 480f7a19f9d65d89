"""A write sent twice under one key happens once."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from midwatch.terms.records import ProjectRow, WorkRow
from tests.nights.house import TestHouse, a_house, sample_repository
from tests.surfaces.visitor import Visitor, visiting, welcome


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
