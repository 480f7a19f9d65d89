"""The door of the pages: nobody enters who should not, and a page elsewhere cannot make a browser act."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from midwatch.errors import Hasty, Misuse, Refused, Stranger, Unknown
from midwatch.evening import accounts as door
from midwatch.journal.events.people import PersonEntered, PersonRefused
from midwatch.terms.people import Role, Scope
from midwatch.terms.records import PersonRow, TokenRow
from tests.nights.house import TestHouse, a_house
from tests.surfaces.visitor import HERE, PASSWORD, Visitor, token, visiting, welcome


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[TestHouse]:
    async with a_house(tmp_path / "home") as opened:
        yield opened


@pytest.fixture
async def ann(house: TestHouse) -> AsyncIterator[Visitor]:
    async with visiting(house.house) as visitor:
        await welcome(house.house, visitor)
        yield visitor


async def test_a_stranger_sees_the_door_and_nothing_else(house: TestHouse) -> None:
    async with visiting(house.house) as stranger:
        for path in ("/", "/tonight", "/live", "/morning", "/events", "/jobs/1"):
            answer = await stranger.get(path)
            assert (answer.status_code, answer.headers["location"]) == (303, f"/login?next={path}")
        assert (await stranger.api("GET", "/status")).status_code == 401
        assert (await stranger.get("/openapi.json", accept="application/json")).status_code == 401
        assert (await stranger.get("/healthz")).status_code == 200
        assert (await stranger.get("/login")).status_code == 200


async def test_a_link_works_once_and_for_a_day(house: TestHouse) -> None:
    entrance = house.house.entrance
    key = await door.invite(entrance, Role.OWNER, by="midwatch")
    await door.accept(entrance, key, "ann", PASSWORD)
    with pytest.raises(Stranger):
        await door.accept(entrance, key, "eve", PASSWORD)
    late = await door.invite(entrance, Role.VIEWER, by="ann")
    house.clock.jump_to(house.clock.now() + timedelta(hours=24))
    with pytest.raises(Stranger):
        await door.accept(entrance, late, "late", PASSWORD)
    assert [one.name for one in await house.house.records.find(PersonRow)] == ["ann"]


async def test_a_weak_password_does_not_use_the_link_up(house: TestHouse) -> None:
    entrance = house.house.entrance
    key = await door.invite(entrance, Role.OWNER, by="midwatch")
    for name, password in (("ann", "short"), ("", PASSWORD), ("a<b", PASSWORD), ("ann", "aaaaaaaaaaaaaaaa")):
        with pytest.raises(Misuse):
            await door.accept(entrance, key, name, password)
    person, _ = await door.accept(entrance, key, "ann", PASSWORD)
    assert person.role is Role.OWNER


async def test_a_new_password_ends_the_old_logins(house: TestHouse, ann: Visitor) -> None:
    entrance = house.house.entrance
    key = await door.invite(entrance, Role.VIEWER, by="ann", person="ann")
    person, _ = await door.accept(entrance, key, "somebody else", "another quiet night")
    assert (person.name, person.role) == ("ann", Role.OWNER)
    assert (await ann.get("/live")).status_code == 303
    with pytest.raises(Stranger):
        await door.enter(entrance, "ann", PASSWORD, address="")
    await door.enter(entrance, "ANN", "another quiet night", address="")


async def test_the_cookie_is_for_the_browser_only(house: TestHouse) -> None:
    async with visiting(house.house) as visitor:
        key = await door.invite(house.house.entrance, Role.OWNER, by="midwatch")
        answer = await visitor.post("/welcome", {"key": key, "name": "ann", "password": PASSWORD})
        cookie = answer.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=strict" in cookie
        secret = visitor.http.cookies["midwatch"]
        written = (house.house.home / "midwatch.db").read_bytes() + (house.house.home / "midwatch.db-wal").read_bytes()
        assert secret.encode() not in written
        assert key.encode() not in written
        assert PASSWORD.encode() not in written


@pytest.mark.usefixtures("ann")
async def test_guessing_shuts_the_door_for_a_minute_and_is_written_down(house: TestHouse) -> None:
    entrance = house.house.entrance
    for _ in range(5):
        with pytest.raises(Stranger):
            await door.enter(entrance, "ann", "wrong", address="198.51.100.1")
    with pytest.raises(Hasty):
        await door.enter(entrance, "ann", PASSWORD, address="198.51.100.1")
    await door.enter(entrance, "ann", PASSWORD, address="203.0.113.9")  # elsewhere the person herself can enter
    house.clock.jump_to(house.clock.now() + timedelta(seconds=61))
    await door.enter(entrance, "ann", PASSWORD, address="198.51.100.1")
    events = [one.event for one in await house.house.journal.entries()]
    assert [one.why for one in events if isinstance(one, PersonRefused)] == ["password"] * 4 + ["throttled"]
    assert len([one for one in events if isinstance(one, PersonEntered)]) == 3


@pytest.mark.usefixtures("ann")
async def test_tries_at_once_are_counted_before_any_of_them_is_hashed(house: TestHouse) -> None:
    tries = (door.enter(house.house.entrance, "ann", "wrong", address="198.51.100.1") for _ in range(50))
    ended = await asyncio.gather(*tries, return_exceptions=True)
    assert [type(one) for one in ended].count(Hasty) == 45


@pytest.mark.usefixtures("ann")
async def test_guessing_from_many_addresses_and_of_many_names_is_bounded_too(house: TestHouse) -> None:
    entrance = house.house.entrance
    for number in range(20):
        with pytest.raises(Stranger):
            await door.enter(entrance, "ann", "wrong", address=f"198.51.100.{number}")
    with pytest.raises(Hasty):
        await door.enter(entrance, "ann", "wrong", address="198.51.100.99")
    for number in range(20):
        with pytest.raises(Stranger):
            await door.enter(entrance, f"name {number}", "wrong", address="203.0.113.9")
    with pytest.raises(Hasty):
        await door.enter(entrance, "yet another", "wrong", address="203.0.113.9")


async def test_a_login_ends_when_unused_and_when_old(house: TestHouse, ann: Visitor) -> None:
    assert (await ann.get("/live")).status_code == 200
    for _ in range(4):
        house.clock.jump_to(house.clock.now() + timedelta(hours=11))
        assert (await ann.get("/live")).status_code == 200
    house.clock.jump_to(house.clock.now() + timedelta(hours=12))
    assert (await ann.get("/live")).status_code == 303


async def test_whoever_signs_out_is_out(ann: Visitor) -> None:
    cookie = ann.http.cookies["midwatch"]
    assert (await ann.post("/logout")).status_code == 303
    ann.http.cookies.set("midwatch", cookie)
    assert (await ann.get("/live")).status_code == 303


async def test_another_name_for_our_address_is_turned_away(ann: Visitor) -> None:
    for name in ("evil.example:8484", "127.0.0.1", "127.0.0.1:80", "localhost.evil.example:8484", ""):
        answer = await ann.get("/live", host=name)
        assert answer.status_code == 421, name


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"origin": "", "sec-fetch-site": ""},
        {"x-csrf": "guessed"},
        {"x-csrf": ""},
    ],
)
async def test_a_page_elsewhere_cannot_act_for_the_person(ann: Visitor, headers: dict[str, str]) -> None:
    assert (await ann.post("/live/say", {"text": "hello"}, **headers)).status_code == 403
    assert (await ann.api("PUT", "/level", {"level": "full"}, **headers)).status_code == 403


@pytest.mark.usefixtures("ann")
async def test_the_login_cannot_be_sent_from_elsewhere_nor_lead_elsewhere(house: TestHouse) -> None:
    async with visiting(house.house) as visitor:
        form = {"name": "ann", "password": PASSWORD, "next": "//evil.example/"}
        assert (await visitor.post("/login", form, origin="http://evil.example")).status_code == 403
        answer = await visitor.post("/login", form)
        assert (answer.status_code, answer.headers["location"]) == (303, "/")
        for trap in ("https://evil.example", "/\\evil.example", "javascript:alert(1)", "//evil"):
            assert (await visitor.get(f"/login?next={trap}")).headers["location"] == "/"


@pytest.mark.usefixtures("ann")
async def test_a_token_does_what_its_scopes_say_and_no_more(house: TestHouse) -> None:
    async with visiting(house.house) as program:
        reads = await token(house.house, "ann", Scope.READ)
        assert (await program.api("GET", "/status", **reads)).status_code == 200
        assert (await program.api("PUT", "/level", {"level": "observe"}, **reads)).status_code == 403
        governs = await token(house.house, "ann", *Scope)
        assert (await program.api("PUT", "/level", {"level": "observe"}, **governs)).status_code == 200
        assert (await program.api("POST", "/tokens", {"name": "more"}, **governs)).status_code == 403
        await door.revoke_token(house.house.entrance, "1", by="ann")
        assert (await program.api("GET", "/status", **reads)).status_code == 401
        assert (await program.api("GET", "/status", authorization="Bearer mwt_nothing")).status_code == 401


@pytest.mark.usefixtures("ann")
async def test_a_token_never_exceeds_its_person_even_later(house: TestHouse) -> None:
    async with visiting(house.house) as other:
        await welcome(house.house, other, "ben", Role.OPERATOR)
        with pytest.raises(Refused):
            await token(house.house, "ben", Scope.GOVERN)
        operates = await token(house.house, "ben", Scope.READ, Scope.OPERATE)
        await door.set_role(house.house.entrance, "ben", Role.VIEWER, by="ann")
        work = {"project": "x", "title": "y"}
        assert (await other.api("POST", "/work", work, **operates)).status_code == 403
        await door.remove(house.house.entrance, "ben", by="ann")
        assert (await other.api("GET", "/status", **operates)).status_code == 401
        assert (await other.get("/live")).status_code == 303
    assert [row.revoked for row in await house.house.records.find(TokenRow)] == [True]


@pytest.mark.usefixtures("ann")
async def test_the_house_keeps_an_owner(house: TestHouse) -> None:
    entrance = house.house.entrance
    with pytest.raises(Refused):
        await door.remove(entrance, "ann", by="ann")
    with pytest.raises(Refused):
        await door.set_role(entrance, "ann", Role.OPERATOR, by="ann")
    async with visiting(house.house) as other:
        await welcome(house.house, other, "ben", Role.OWNER)
    await door.remove(entrance, "ann", by="ben")
    with pytest.raises(Unknown):
        await door.remove(entrance, "ann", by="ben")


async def test_every_answer_tells_the_browser_what_it_may_do(ann: Visitor) -> None:
    seen = set()
    for path in ("/live", "/static/base.css", "/api/v1/status", "/nothing"):
        headers = (await ann.get(path)).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"
        seen.add(policy)
    assert len(seen) == 4, "a nonce is used once"


async def test_a_body_without_end_is_cut_off(ann: Visitor) -> None:
    answer = await ann.api("POST", "/work", {"project": "x", "title": "y" * 1_100_000})
    assert answer.status_code == 413  # said before a byte is read

    async def endless() -> AsyncIterator[bytes]:
        for _ in range(30):
            yield b"x" * 100_000

    sent = {"origin": HERE, "x-csrf": ann.csrf, "content-type": "application/json"}
    answer = await ann.http.post("/api/v1/work", content=endless(), headers=sent)
    assert answer.status_code == 400  # cut off while it was read


def _routes(*methods: str) -> list[tuple[str, str]]:
    lines = [line.split() for line in (Path(__file__).parent / "routes.txt").read_text().splitlines()]
    return [(method, path) for _, method, path in lines if method in methods and path.startswith("/api/v1/")]


async def test_half_a_character_is_a_mistake_of_the_one_who_sent_it(ann: Visitor) -> None:
    half = {"content-type": "application/json"}
    names = (
        "name",
        "path",
        "title",
        "text",
        "statement",
        "project",
        "role",
        "answer",
        "reason",
        "why",
        "note",
        "changes",
    )
    body = "{" + ", ".join(f'"{name}": "\\ud800"' for name in names) + "}"
    routes = _routes("POST", "PUT", "PATCH", "DELETE")
    assert len(routes) > 30
    for method, path in routes:
        sent = {"origin": HERE, "x-csrf": ann.csrf, "accept": "application/json", "idempotency-key": "a" * 20} | half
        answer = await ann.http.request(method, path.replace("{", "").replace("}", ""), content=body, headers=sent)
        assert answer.status_code < 500, (method, path, answer.text)


async def test_odd_and_long_addresses_are_mistakes_too(ann: Visitor) -> None:
    for odd in ("%ED%A0%80", "%FF%FE", "%00", "a" * 3900, "a/" * 1900, "%2e%2e%2f" * 400):
        for where in ("/", "/static/", "/api/v1/", "/api/v1/projects/", "/jobs/", "/login?next="):
            answer = await ann.get(where + odd)
            assert answer.status_code < 500, (where, odd[:20], answer.status_code)
