"""`midwatch channel`, doctor and the pages about channels, as a person sees them; a URL shows nowhere (O12, X7)."""

import asyncio
import os
import signal
import stat
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from midwatch.errors import Misuse
from midwatch.journal.events.session import NoticeRaised, SessionOpened
from midwatch.settings import check_changes, load_settings
from midwatch.surfaces.cli.house.settings_file import with_value, without_table
from midwatch.terms.asks import Tier
from midwatch.terms.people import Role
from midwatch.terms.records import DeliveryRow
from tests.channels.sink import TOKEN, Sink, listening
from tests.nights.house import TestHouse, a_house, orders
from tests.patience import PATIENCE
from tests.surfaces import person as at_home
from tests.surfaces.person import Person, Said, a_person
from tests.surfaces.visitor import visiting, welcome

SETTINGS = at_home.SETTINGS.replace("[server]", "[server]\nport = 0")


@pytest.fixture
def sink() -> Iterator[Sink]:
    with listening() as kept:
        yield kept


def nowhere(person: Person, *said: Said) -> None:
    """Insist that the URL's secret is in no output, and in no file of the data folder but the one that keeps it."""
    for one in said:
        assert TOKEN not in one.out + one.err
    holding = [path for path in person.home.rglob("*") if path.is_file() and TOKEN.encode() in path.read_bytes()]
    assert [path.name for path in holding] in ([], ["channel-phone"])


def test_a_channel_from_its_adding_to_its_removal_with_the_server_up(sink: Sink) -> None:
    with a_person(up=False) as person:
        person.settles(SETTINGS)
        person.ups()
        none = person.types("channel")
        assert "midwatch channel add phone" in none.out
        added = person.types("channel", "add", "phone", text=f"{sink.url('json')}\n")
        kept = person.home / "secrets" / "channel-phone"
        assert stat.S_IMODE(kept.stat().st_mode) == 0o600
        assert f"JSON at json://ann:****@127.0.0.1:{sink.port}/…" in added.out
        tested = person.types("channel", "test", "phone")
        assert "phone accepted one line" in tested.out
        assert [body["message"] for _, _, body in sink.got] == ["This is a test: Midwatch can reach you here."]
        sink.status = 500
        refused = person.types("channel", "test", "phone", expect=5)
        assert "JSON refused it" in refused.out
        assert "500" in refused.out
        (row,) = person.types("channel", "list", "--json").json
        assert (row["kind"], row["tiers"], row["state"]) == ("JSON", ["urgent", "action", "summary"], "new")
        doctor = person.types("doctor", expect=None)
        assert "ok   channel phone (JSON at json://ann" in doctor.out
        listed = person.types("settings", "--json")
        nowhere(person, added, tested, refused, doctor, listed)
        removed = person.types("channel", "remove", "phone")
        assert "phone is removed" in removed.out
        assert not kept.exists()
        assert person.types("channel", "list", "--json").json == []
        assert "There is no channel phone" in person.types("channel", "remove", "phone", expect=2).err


def test_without_a_server_a_channel_can_be_added_tried_and_refused(sink: Sink) -> None:
    with a_person(up=False) as person:
        person.settles(f'# mine\n{SETTINGS}[channels.mail]\nurl = "env:MAIL"\n')
        words = ("channel", "add", "phone", "env:PHONE", "--tiers", "urgent", "--no-quiet")
        assert "The server reads $PHONE from its own environment" in person.types(*words, PHONE=sink.url("json")).out
        text = (person.home / "midwatch.toml").read_text()
        assert text.startswith("# mine\n[server]")
        assert '[channels.phone]\nurl = "env:PHONE"\nquiet = false\ntiers = ["urgent"]' in text
        said = person.types("channel", "test", "phone", PHONE=sink.url("json"))
        assert "accepted one line" in said.out
        assert len(sink.got) == 1
        bad = person.types("channel", "add", "pager", "carrier-pigeon://coop", expect=2)
        assert "Apprise does not understand the URL" in bad.err
        name = person.types("channel", "add", "log", "json://localhost", expect=2)
        assert "has an invalid name" in name.err
        unset = person.types("channel", "test", "mail", expect=5)
        assert "$MAIL, which is not set in this terminal's environment, and the server needs it in its own" in unset.out
        assert "[channels.pager]" not in (person.home / "midwatch.toml").read_text()


@pytest.mark.sweep
@pytest.mark.crash
async def test_a_server_killed_while_a_message_is_on_its_way_sends_it_once_more(sink: Sink) -> None:
    sink.hangs = True
    with a_person(up=False) as person:
        person.settles(f'{SETTINGS}[notices]\nquiet_hours = ""\n')
        person.types("channel", "add", "phone", text=f"{sink.url('json', '&rto=20')}\n")
        async with a_house(person.home) as before:  # raised, and nobody there to tell: the patrol finds it
            told = NoticeRaised(notice="ntc_1", session="", tier=Tier.URGENT, text="The disk is full.")
            await before.house.journal.record(told)
        person.ups()
        assert await asyncio.to_thread(sink.arrived.get, timeout=PATIENCE) == "The disk is full."
        os.kill(int((person.home / "server.lock").read_text()), signal.SIGKILL)
        sink.hangs = False
        sink.release.set()
        person.ups()
        assert await asyncio.to_thread(sink.arrived.get, timeout=PATIENCE) == "The disk is full."
        shown = person.types("channel", "list", "--json").json
        while shown[0]["state"] == "new":  # taken by the service; the server writes it down in a moment
            shown = person.types("channel", "list", "--json").json
        assert (shown[0]["state"], shown[0]["waiting"]) == ("good", 0)
        assert len(sink.got) == 2
        assert person.types("doctor", "--verify", "--invariants", "--json").json["ok"]


@pytest.fixture
async def house(tmp_path: Path, sink: Sink, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[TestHouse]:
    monkeypatch.setenv("PHONE", sink.url("json"))
    home = tmp_path / "home"
    home.mkdir()
    (home / "midwatch.toml").write_text('[channels.phone]\nurl = "env:PHONE"\n[notices]\nquiet_hours = ""\n')
    async with a_house(home) as opened:
        await opened.house.journal.record(SessionOpened(session="ses_1", orders=orders()))
        yield opened


async def raised(house: TestHouse, text: str, tier: Tier = Tier.ACTION) -> None:
    name = house.house.ids.new("ntc")
    await house.house.journal.record(NoticeRaised(notice=name, session="ses_1", tier=tier, text=text))
    await house.settle()


async def test_pages_and_api_say_how_a_channel_stands(house: TestHouse, sink: Sink) -> None:
    async with visiting(house.house) as visitor:
        await welcome(house.house, visitor)
        assert "nothing was sent yet" in (await visitor.get("/tonight")).text
        await raised(house, "PR ready: Fix it")
        assert [body["message"] for _, _, body in sink.got] == ["PR ready: Fix it"]
        shown = (await visitor.get("/tonight")).text
        assert "accepted its last message" in shown
        assert "sent to phone <time" in (await visitor.get("/live")).text
        await raised(house, "routine", Tier.SUMMARY)
        assert "goes to phone with the next batch, at the latest <time" in (await visitor.get("/live")).text
        sink.status = 503
        await raised(house, "needed")
        await house.pass_time(hours=7)
        (row,) = (await visitor.api("GET", "/channels")).json()
        assert (row["state"], row["failed"], row["waiting"]) == ("bad", 2, 0)
        assert row["unsent"] == "2 notices could not be sent by phone: routine; needed"
        assert TOKEN not in str(row)
        assert "2 could not be sent" in (await visitor.get("/tonight")).text
        said = (await visitor.api("POST", "/channels/phone/test", {})).json()
        assert (said["ok"], TOKEN in said["sentence"]) == (False, False)
        assert (await visitor.api("POST", "/channels/pager/test", {})).status_code == 404
    (one, _, two) = await house.house.records.find(DeliveryRow)
    assert (one.state.value, two.state.value, two.attempts) == ("sent", "failed", 6)
    assert two.settled_at is not None
    assert two.settled_at - two.created_at > timedelta(hours=5)


async def test_a_viewer_reads_how_channels_stand_and_makes_nobody_fetch_a_secret(
    house: TestHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with visiting(house.house) as owner, visiting(house.house) as viewer:
        await welcome(house.house, owner)
        await welcome(house.house, viewer, "eve", Role.VIEWER)
        (row,) = (await viewer.api("GET", "/channels")).json()
        assert (row["kept"], row["kind"], row["problem"], row["hint"]) == ("", "JSON", "", "")
        assert (await owner.api("GET", "/channels")).json()[0]["kept"] == "env:PHONE"
        monkeypatch.delenv("PHONE")
        for one in (viewer, owner):
            assert (await one.api("GET", "/channels")).json()[0]["kind"] == "JSON", "nobody fetched it anew"
        assert not (await owner.api("POST", "/channels/phone/test", {})).json()["ok"], "trying it does"
        (row,) = (await viewer.api("GET", "/channels")).json()
        assert (row["kind"], row["problem"], row["hint"]) == ("", "", "")
        assert "PHONE" in (await owner.api("GET", "/channels")).json()[0]["problem"]


def test_where_notices_go_is_not_chosen_from_afar(tmp_path: Path) -> None:
    for value in ("env:OTHER", "file:/tmp/other", "json://evil.example"):
        with pytest.raises(Misuse, match="only the data folder or the environment may"):
            check_changes({"channels.phone.url": value})
        with pytest.raises(Misuse, match="only the data folder"):
            load_settings(tmp_path, stored=[{"channels.phone.url": value}], environ={})
    check_changes({"channels.phone.tiers": ["urgent"], "channels.phone.quiet": False})


def test_a_url_in_the_place_of_a_reference_is_refused_and_not_repeated(tmp_path: Path) -> None:
    (tmp_path / "midwatch.toml").write_text(f'[channels.phone]\nurl = "json://host/{TOKEN}"\n')
    with pytest.raises(Misuse, match=r"channels\.phone\.url must say where the secret is stored") as refused:
        load_settings(tmp_path, environ={})
    assert TOKEN not in refused.value.message + refused.value.hint


def test_a_line_of_the_settings_file_is_changed_and_the_rest_stays() -> None:
    text = '# top\n[channels.mail] # by day\nurl = "env:MAIL"\nquiet = true\n\n[channels.phone]\nurl = "env:A"\n'
    changed = with_value(text, "channels.phone", "url", "env:B")
    assert changed == text.replace('url = "env:A"', 'url = "env:B"')
    assert with_value(changed, "channels.phone", "url", "env:B") == changed
    assert without_table(changed, "channels.phone").strip() == text.partition("[channels.phone]")[0].strip()
    assert without_table(text, "channels.pager") == text
    inline = 'channels = {phone = {url = "env:A"}}\n'
    assert with_value(inline, "channels.phone", "url", "env:B") == inline.replace("env:A", "env:B")
    with pytest.raises(Misuse, match="without other changes"):
        with_value("channels = 3\n", "channels.phone", "url", "env:B")
