"""Real pushes over Apprise to real peers on this machine: a web hook, a form, a mail server with a password."""

import asyncio
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, Envelope, LoginPassword
from hypothesis import given
from hypothesis import strategies as st

from midwatch.channels.by_apprise import AppriseOutlet, look_at, parts, scrubbed
from midwatch.errors import Misuse, Unavailable, Unknown
from midwatch.settings import Settings, load_settings
from tests.channels.sink import TOKEN, Sink, listening


@pytest.fixture
def sink() -> Iterator[Sink]:
    with listening() as kept:
        yield kept


def settings(folder: Path, text: str = "") -> Settings:
    (folder / "midwatch.toml").write_text(f'[channels.phone]\nurl = "env:X"\n{text}')
    return load_settings(folder, environ={}).settings


@pytest.fixture
def outlet_of(tmp_path: Path) -> Iterator[Any]:
    made: list[AppriseOutlet] = []

    def make(url: str, text: str = "") -> AppriseOutlet:
        chosen = settings(tmp_path, text)

        async def address(_: str) -> str:
            return url

        made.append(AppriseOutlet(address, lambda: chosen))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.mark.parametrize(
    ("schema", "kind"), [("json", "application/json"), ("form", "application/x-www-form-urlencoded")]
)
async def test_a_web_hook_gets_title_and_text_as_they_are(sink: Sink, outlet_of: Any, schema: str, kind: str) -> None:
    text = "PR ready: *Fix* <b>it</b>\n5 files · +1 -2 \\n & :smile:"
    await outlet_of(sink.url(schema)).push("phone", "Midwatch", text)
    ((path, said, body),) = sink.got
    assert (path.partition("?")[0], said) == (f"/hook/{TOKEN}", kind)
    assert (body["title"], body["message"]) == ("Midwatch", text)


@pytest.mark.parametrize("status", [500, 403, 404])
async def test_a_service_that_refuses_is_told_with_its_reason_and_without_its_secret(
    sink: Sink, outlet_of: Any, status: int
) -> None:
    sink.status = status
    with pytest.raises(Unavailable, match="JSON refused it") as refused:
        await outlet_of(sink.url("json")).push("phone", "Midwatch", "hello")
    assert str(status) in refused.value.message
    assert TOKEN not in refused.value.message
    assert len(sink.got) == 1


async def test_a_service_that_hangs_is_given_up_in_time(sink: Sink, outlet_of: Any) -> None:
    sink.hangs = True
    with pytest.raises(Unavailable, match="refused it"):
        await outlet_of(sink.url("json")).push("phone", "Midwatch", "hello")


async def test_a_service_that_is_not_there_is_told(outlet_of: Any) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(Unavailable, match="Connection error"):
        await outlet_of(f"json://127.0.0.1:{port}").push("phone", "Midwatch", "hello")


async def test_a_long_text_is_split_where_the_channel_is_like_sms(sink: Sink, outlet_of: Any) -> None:
    text = "\n".join(f"line {number} of a long story" for number in range(200))
    await outlet_of(sink.url("json"), 'long_texts = "split"\n').push("phone", "Midwatch", text)
    said = [body["message"] for _, _, body in sink.got]
    assert len(said) == 4
    assert all(len(part) <= 1500 for part in said)
    assert said[0].endswith("(1/4)")
    sink.got.clear()
    await outlet_of(sink.url("json")).push("phone", "Midwatch", text)
    assert [body["message"] for _, _, body in sink.got] == [text]


@given(st.text(alphabet="ab \n", max_size=400), st.integers(20, 120))
def test_parts_are_short_enough_and_lose_no_word(text: str, most: int) -> None:
    found = parts(text, most)
    assert all(len(part) <= most for part in found)
    bare = "".join(part.rpartition(" (")[0] if len(found) > 1 else part for part in found)
    assert "".join(bare.split()) == "".join(text.split())


class Mailbox:
    """A mail server's inbox."""

    def __init__(self) -> None:
        self.got: list[Envelope] = []

    async def handle_DATA(self, _: object, __: object, envelope: Envelope) -> str:  # noqa: N802  aiosmtpd calls it so
        self.got.append(envelope)
        return "250 OK"


def let_in(_: object, __: object, ___: object, mechanism: str, given: object) -> AuthResult:
    known = isinstance(given, LoginPassword) and (given.login, given.password) == (b"ann", TOKEN.encode())
    return AuthResult(success=known and mechanism in {"PLAIN", "LOGIN"}, handled=False)


in_the_clear = pytest.mark.filterwarnings("ignore:Requiring AUTH while not requiring TLS:UserWarning")


@pytest.fixture
def mail() -> Iterator[tuple[Mailbox, int]]:
    box = Mailbox()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = Controller(
        box, hostname="127.0.0.1", port=port, authenticator=let_in, auth_required=True, auth_require_tls=False
    )
    server.start()
    yield box, port
    server.stop()


def mailto(port: int, password: str) -> str:
    return f"mailto://ann:{password}@localhost:{port}?smtp=127.0.0.1&from=night@example.org&to=ann@example.org"


@in_the_clear
async def test_a_mail_server_with_a_password_takes_the_mail(mail: tuple[Mailbox, int], outlet_of: Any) -> None:
    box, port = mail
    await outlet_of(mailto(port, TOKEN)).push("phone", "Midwatch: urgent", "The disk is nearly full.")
    (envelope,) = box.got
    assert envelope.rcpt_tos == ["ann@example.org"]
    content = envelope.content.decode() if isinstance(envelope.content, bytes) else ""
    assert "Subject: Midwatch: urgent" in content
    assert "The disk is nearly full." in content


@in_the_clear
async def test_a_wrong_password_is_told_and_not_shown(mail: tuple[Mailbox, int], outlet_of: Any) -> None:
    box, port = mail
    with pytest.raises(Unavailable) as refused:
        await outlet_of(mailto(port, "wrong-horse")).push("phone", "Midwatch", "hello")
    assert "wrong-horse" not in refused.value.message
    assert box.got == []


@pytest.mark.parametrize("url", ["nonsense", "carrier-pigeon://coop", "json://", "json://a json://b", ""])
def test_a_url_apprise_does_not_understand_is_refused_before_anything_is_sent(url: str) -> None:
    with pytest.raises(Misuse, match="does not understand"):
        look_at(url)


def test_what_is_shown_of_a_url_holds_no_secret(sink: Sink) -> None:
    service = look_at(sink.url("json"))
    assert (service.kind, service.place) == ("JSON", f"json://ann:****@127.0.0.1:{sink.port}/…")
    assert TOKEN not in look_at(f"tgram://123456789:{TOKEN}{'x' * 30}/7890").place


def test_a_sentence_loses_every_part_of_the_url_but_the_host() -> None:
    url = f"json://ann:{TOKEN}@hooks.example.org/deep/secret-path?key=other%20key"
    said = scrubbed(f"error for {TOKEN.upper()} at hooks.example.org/deep/secret-path with other key", url)
    assert said == "error for *** at hooks.example.org/***/*** with *** key"


async def test_a_channel_nobody_set_up_is_unknown(outlet_of: Any) -> None:
    with pytest.raises(Unknown, match="no channel pager"):
        await outlet_of("json://localhost").push("pager", "Midwatch", "hello")


async def test_without_apprise_one_is_told_how_to_get_it(
    sink: Sink, outlet_of: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "apprise", None)
    with pytest.raises(Unavailable, match="Apprise is not installed") as missing:
        await outlet_of(sink.url("json")).push("phone", "Midwatch", "hello")
    assert "midwatch channel add" in missing.value.hint


async def test_two_channels_do_not_wait_for_each_other(sink: Sink, outlet_of: Any) -> None:
    sink.hangs = True
    slow = outlet_of(sink.url("json", "&rto=15"))
    async with asyncio.TaskGroup() as group:
        hanging = group.create_task(slow.push("phone", "Midwatch", "slow"))
        await asyncio.to_thread(sink.reached.wait, 20)
        sink.hangs = False
        await slow.push("phone", "Midwatch", "quick")
        assert not hanging.done()
        sink.release.set()
    assert {body["message"] for _, _, body in sink.got} == {"slow", "quick"}
