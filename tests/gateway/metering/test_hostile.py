"""Jobs that try to get out another way, and providers that misbehave."""

import asyncio
import base64
import gzip
import json
from dataclasses import replace
from urllib.parse import quote

import pytest

from midwatch.gateway.metering import ANTHROPIC, GEMINI, OPENAI, PROVIDERS, Provider, ProxyLimits
from midwatch.rules.budget.spending import Amount, Ceilings, Whose
from tests.gateway.metering.lab import QUICK, SECRET, FarModel, Got, Lab, answer, lab, message
from tests.patience import PATIENCE

HEAD = "POST {target} HTTP/1.1\r\nHost: {host}\r\nx-api-key: {key}\r\nContent-Length: 2\r\n\r\n{{}}"


async def refused(one: Lab, raw: str, *status: int) -> None:
    heard = await one.say(raw.encode("latin-1"))
    assert heard.status in status, (raw, heard.raw)
    said = heard.json()["error"]["message"]
    assert said.endswith(".")
    assert "JSON" not in said, "it was refused for its body alone"
    assert one.far.got == []
    assert one.calls == []


@pytest.mark.parametrize(
    "target",
    [
        "/",
        "//v1/messages",
        "/v1//messages",
        "/v1/messages/",
        "/v1/./messages",
        "/v1/x/../messages",
        "/v1/%2e%2e/v1/messages",
        "/v1/messages%2f..%2fcomplete",
        "/v1/%6dessages",
        "/v1/messages;x=1",
        "/v1/messages%00",
        "/v1/messages/batches",
        "/v1/organizations/api_keys",
        "/v1/files",
        "/v1/complete",
        "/V1/MESSAGES",
        "/v1/models/claude",
        "/v1beta/models/gemini:generateContent",
        "/v1/responses",
        "/v1/messages\x80",
    ],
)
async def test_no_other_path_leads_out(target: str) -> None:
    async with lab() as one:
        await refused(one, HEAD.format(target=target, host="127.0.0.1:8119", key=one.grant.placeholder), 404, 400)


BY_THE_WAY = [
    "GET /v1/models",
    "GET /v1/models?client_version=0.142.5",
    "GET /backend-api/wham/usage",
    "POST /backend-api/codex/responses",
    "POST /v1/backend-api/conversations",
    "POST /oauth/token",
    "POST /v1/oauth/token",
    "GET /api/oauth/claude_cli/client_data",
    "POST /api/event_logging/batch",
    "HEAD /",
]
"""What agents ask besides: their own news, usage and logins."""


@pytest.mark.parametrize("provider", PROVIDERS.values(), ids=lambda one: one.name)
@pytest.mark.parametrize("asked", BY_THE_WAY)
async def test_what_agents_ask_by_the_way_is_not_found_and_never_leaves(provider: Provider, asked: str) -> None:
    """Nor is a credential needed: the answer is the same, and they ask some of it with none."""
    async with lab(provider=provider, ceilings={Whose.JOB: Ceilings(requests=1)}) as one:
        body = b'{"grant_type": "refresh_token"}' if asked.startswith("POST") else b""
        head = f"{asked} HTTP/1.1\r\nHost: 127.0.0.1:8120\r\nContent-Length: {len(body)}\r\n\r\n"
        heard = await one.say(head.encode() + body)
        assert (heard.status, heard.whole) == (404, True)
        assert "content-type: application/json" in heard.head
        if not asked.startswith("HEAD"):
            assert heard.json()["error"]["message"].endswith("only requests to models are.")
        assert (one.far.got, one.far.open, one.calls) == ([], 0, [])
        assert one.ledger.budget(Whose.JOB, "job").reserved == Amount(), "nor is anything set aside for it"


@pytest.mark.parametrize(
    "model",
    ["../../v1/x", "a%2f..", "a/b", "", ".", "..", "a:generateContent/..", "a?x=", "a#b", "a b", "x" * 300, "é"],
)
async def test_no_model_is_a_path(model: str) -> None:
    async with lab(provider=GEMINI) as one:
        target = f"/v1beta/models/{model}:generateContent"
        await refused(one, HEAD.format(target=target, host="localhost", key=one.grant.placeholder), 404, 400)


@pytest.mark.parametrize("where", ["{key}:streamGenerateContent", "a:streamGenerateContent?alt={key}"])
async def test_the_placeholder_does_not_leave_in_the_target(where: str) -> None:
    async with lab(provider=GEMINI) as one:
        key = one.grant.placeholder
        target = "/v1beta/models/" + where.format(key=key)
        await refused(one, HEAD.format(target=target, host="localhost", key=key), 400)


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "HEAD", "OPTIONS", "TRACE", "post", "PATCH"])
async def test_no_other_method_is_carried(method: str) -> None:
    async with lab() as one:
        key = one.grant.placeholder
        heard = await one.say(f"{method} /v1/messages HTTP/1.1\r\nHost: localhost\r\nx-api-key: {key}\r\n\r\n".encode())
        assert heard.status == 404
        assert (heard.body == b"") == (method == "HEAD")
        assert one.far.got == []


@pytest.mark.parametrize(
    "target",
    [
        "http://example.org/v1/messages",
        "https://api.anthropic.com/v1/messages",
        "http://127.0.0.1:1/v1/messages",
        "example.org:443",
        "*",
        "@example.org/v1/messages",
    ],
)
async def test_an_address_in_the_place_of_a_path_is_refused(target: str) -> None:
    async with lab() as one:
        await refused(one, HEAD.format(target=target, host="localhost", key=one.grant.placeholder), 400)


@pytest.mark.parametrize("host", ["api.anthropic.com", "example.org:443", "127.0.0.1.example.org", "", "127.0.0.2"])
async def test_a_request_for_another_host_is_refused(host: str) -> None:
    async with lab() as one:
        await refused(one, HEAD.format(target="/v1/messages", host=host, key=one.grant.placeholder), 400)


SMUGGLED = "0\r\n\r\nPOST /v1/files HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n"


@pytest.mark.parametrize(
    "fields",
    [
        "Content-Length: 5\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked\r\nContent-Length: 5",
        "Content-Length: 5\r\nContent-Length: 6",
        "Content-Length: 5, 6",
        "Content-Length: +5",
        "Content-Length: 0x5",
        "Content-Length: -1",
        "Transfer-Encoding: gzip, chunked",
        "Transfer-Encoding: xchunked",
        "Transfer-Encoding : chunked",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
        "Host: localhost",
        "X-Api-Key",
        "A\0B: c",
        "Upgrade: websocket\r\nConnection: upgrade",
        "Upgrade: h2c",
    ],
)
async def test_nothing_is_smuggled(fields: str) -> None:
    async with lab() as one:
        key = one.grant.placeholder
        head = f"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nx-api-key: {key}\r\n{fields}\r\n\r\n"
        await refused(one, head + SMUGGLED, 400, 426)


async def test_what_follows_a_request_is_never_read_as_another() -> None:
    async with lab() as one:
        second = one.post("/v1/responses") + one.post("/v1/messages")
        heard = await one.say(one.post() + second)
        assert heard.raw.count(b"HTTP/1.1") == 1
        assert "connection: close" in heard.head
        assert len(one.far.got) == 1
        assert b"responses" not in one.far.got[0].body


async def test_a_connection_is_not_kept_for_another_provider() -> None:
    async with lab() as one:
        reader, writer = await one.dial()
        writer.write(one.post(fields={"Connection": "keep-alive"}))
        first = await reader.read()
        assert first.startswith(b"HTTP/1.1 200")
        writer.close()
        heard = await one.ask("/v1/chat/completions")
        assert heard.status == 404
        assert len(one.far.got) == 1


async def test_trailers_and_chunk_extensions_are_left_behind() -> None:
    async with lab() as one:
        body = json.dumps({"model": "claude-sonnet-4-5", "max_tokens": 5}).encode()
        head = one.post(body=b"").replace(b"Content-Length: 0", b"Transfer-Encoding: chunked\r\nTrailer: x-api-key")
        heard = await one.say(head, b"%x;a=b\r\n%s\r\n0\r\nx-api-key: other\r\n\r\n" % (len(body), body))
        got = await one.far.has_got()
        assert heard.status == 200
        assert got.body == body
        assert got.fields()["content-length"] == str(len(body))
        assert not {"transfer-encoding", "trailer"} & set(got.fields())
        assert "other" not in got.head


async def test_a_field_that_is_called_private_to_the_connection_stays_behind() -> None:
    async with lab() as one:
        await one.ask(fields={"Connection": "anthropic-beta, close", "anthropic-beta": "x", "anthropic-version": "1"})
        left = (await one.far.has_got()).fields()
        assert "anthropic-beta" not in left
        assert left["anthropic-version"] == "1"


@pytest.mark.parametrize("value", ["a\r\nX-Injected: 1", "a\nX-Injected: 1", "a\r X-Injected: 1"])
async def test_no_field_is_injected(value: str) -> None:
    async with lab() as one:
        await one.ask(fields={"anthropic-beta": value})
        assert all("x-injected" not in got.fields() for got in one.far.got)


async def test_a_continue_is_given_before_the_body_is_sent() -> None:
    async with lab() as one:
        raw = one.post(fields={"Expect": "100-continue"})
        head, _, body = raw.partition(b"\r\n\r\n")
        reader, writer = await one.dial()
        writer.write(head + b"\r\n\r\n")
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 100")
        writer.write(body)
        assert (await reader.read()).startswith(b"HTTP/1.1 200")
        assert "expect" not in one.far.got[0].fields()
        writer.close()


@pytest.mark.parametrize("said", [b"POST /v1/mess", b"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nx-api-k"])
async def test_a_request_that_never_ends_is_ended(said: bytes) -> None:
    async with lab(patience=replace(QUICK, head=0.2)) as one:
        heard = await one.say(said)
        assert heard.status == 408


async def test_a_body_that_never_ends_is_ended() -> None:
    async with lab(patience=replace(QUICK, body=0.2)) as one:
        heard = await one.say(one.post()[:-3])
        assert heard.status == 408
        assert one.far.got == []


@pytest.mark.parametrize("head", ["x: " + "a" * 40_000, "\r\n".join(f"x{n}: a" for n in range(200)), "x" * 70_000])
async def test_a_huge_head_is_refused(head: str) -> None:
    async with lab() as one:
        heard = await one.say(f"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\n{head}\r\n\r\n".encode())
        assert heard.status in {431, 400}
        assert one.far.got == []


async def test_a_gigabyte_is_refused_by_its_announcement() -> None:
    async with lab() as one:
        head = one.post(body=b"").replace(b"Content-Length: 0", b"Content-Length: 1073741824")
        heard = await one.say(head)
        assert heard.status == 413
        assert heard.json()["error"]["type"] == "request_too_large"


async def test_a_body_without_an_announced_length_is_cut_where_it_is_too_long() -> None:
    async with lab(room=ProxyLimits(body=300_000)) as one:
        head = one.post(body=b"").replace(b"Content-Length: 0", b"Transfer-Encoding: chunked")
        chunk = b"10000\r\n" + b"x" * 65536 + b"\r\n"
        heard = await one.say(head, *[chunk] * 100)
        assert heard.status == 413
        assert one.far.got == []


async def test_one_job_cannot_fill_the_memory_with_many_bodies() -> None:
    async with lab(room=ProxyLimits(body=100_000, bodies=150_000)) as one:
        reader, writer = await one.dial()
        held = one.post(body=b" " * 90_000 + b"{}")
        writer.write(held[:-1])
        await writer.drain()
        async with asyncio.timeout(PATIENCE):
            while (await one.ask(body=b" " * 90_000)).status != 429:
                pass
        writer.close()
        await reader.read()


@pytest.mark.parametrize(
    "body",
    [b"", b"null", b"[]", b"{", b'{"model": 5}', b'{"model": ""}', b"\xff", b"[" * 100_000, b'{"max_tokens": 5}'],
    ids=str,
)
async def test_a_body_that_is_no_request_is_refused(body: bytes) -> None:
    async with lab() as one:
        heard = await one.ask(body=body)
        assert heard.status == 400
        assert one.far.got == []


@pytest.mark.parametrize(
    "echo",
    [
        SECRET,
        f"Incorrect API key provided: {SECRET}.",
        json.dumps(SECRET).replace("/", "\\/"),
        quote(SECRET, safe=""),
        base64.b64encode(SECRET.encode()).decode(),
        SECRET[:20] + "\n" + SECRET[20:],
    ],
    ids=["bare", "sentence", "json", "url", "base64", "wrapped"],
)
@pytest.mark.parametrize("packed", [False, True])
async def test_a_provider_that_repeats_the_secret_in_an_error_is_censored(echo: str, packed: bool) -> None:
    body = f'{{"error": {{"message": "no: {echo}"}}}}'.encode()
    said = answer(gzip.compress(body), "401 No", Content_Encoding="gzip") if packed else answer(body, "401 No")
    async with lab(FarModel(said)) as one:
        heard = await one.ask()
        assert heard.status == 401
        assert SECRET.encode() not in heard.raw
        assert echo.encode() not in heard.raw
        assert b"[secret:model]" in heard.body
        assert SECRET not in repr(one.calls)


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
async def test_a_secret_in_the_middle_of_a_stream_is_masked_and_nothing_else_changes(size: int) -> None:
    text = f"data: sk-ant s {SECRET[:-1]}? {SECRET}\n\nevent: error\ndata: {SECRET}{SECRET}{SECRET[:9]}".encode()

    async def talk(_got: Got, _reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: %d\r\n\r\n" % len(text))
        for at in range(0, len(text), size):
            writer.write(text[at : at + size])
            await writer.drain()
            await asyncio.sleep(0)

    async with lab(FarModel(talk=talk)) as one:
        heard = await one.ask()
        assert heard.whole
        assert heard.body == text.replace(SECRET.encode(), b"x" * len(SECRET))


async def test_a_secret_in_a_field_of_an_answer_stays_outside() -> None:
    async with lab(FarModel(answer(message(), request_id=f"for {SECRET}", Anthropic_Organization_Id="org"))) as one:
        heard = await one.ask()
        assert heard.status == 200
        assert SECRET.encode() not in heard.raw
        assert "org" not in heard.head


async def test_an_error_without_end_is_told_in_our_own_words() -> None:
    async def talk(_got: Got, _reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 500 Oh\r\n\r\n")
        while True:
            writer.write(b"x" * 65536)
            await writer.drain()

    async with lab(FarModel(talk=talk)) as one:
        heard = await one.ask()
        assert heard.status == 500
        assert heard.json()["error"]["message"] == "The provider answered with 500; what it said cannot be shown."


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "307 Temporary Redirect", "308 Permanent", "304 Same"])
async def test_a_redirect_is_an_error_and_never_followed(status: str) -> None:
    async with lab() as one:
        one.far.says = answer(b"go", status, Location=f"http://127.0.0.1:{one.far.port}/v1/messages?x=1")
        heard = await one.ask()
        assert heard.status == 502
        assert "which is not followed" in heard.json()["error"]["message"]
        assert len(one.far.got) == 1
        assert "location" not in heard.head
        assert one.calls[0].status == int(status[:3])


@pytest.mark.parametrize(
    "said",
    [
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\nraw",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nX: a\0b\r\n\r\n",
        b"nonsense\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"x: y\r\n" * 60_000 + b"\r\n",
    ],
    ids=["upgrade", "two lengths", "zero byte", "nonsense", "huge head"],
)
async def test_a_provider_that_does_not_speak_plain_http_is_an_error(said: bytes) -> None:
    async def talk(_got: Got, _reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(said)
        await writer.drain()
        writer.close()

    async with lab(FarModel(talk=talk)) as one:
        heard = await one.ask()
        assert heard.status == 502
        assert heard.json()["type"] == "error"
        assert len(one.calls) == 1


async def test_cookies_are_never_sent_back() -> None:
    async with lab(FarModel(answer(message(), Set_Cookie="session=1; Path=/"))) as one:
        for _ in range(2):
            heard = await one.ask()
            assert "set-cookie" not in heard.head
        assert all("cookie" not in got.fields() for got in one.far.got)


async def test_whose_bill_it_is_is_not_the_jobs_to_say() -> None:
    async with lab(provider=OPENAI) as one:
        fields = {"OpenAI-Organization": "other", "OpenAI-Project": "p", "originator": "codex"}
        await one.ask("/v1/responses", {"model": "gpt-5"}, fields=fields)
        left = (await one.far.has_got()).fields()
        assert not {"openai-organization", "openai-project"} & set(left)
        assert left["originator"] == "codex"


@pytest.mark.parametrize("secret", ["with blank inside", "line\nbreak-in-it", "ümlaut-secret"])
async def test_a_secret_that_would_break_a_field_never_leaves(secret: str) -> None:
    async with lab(secret=secret) as one:
        heard = await one.ask()
        assert heard.status == 502
        assert heard.json()["error"]["message"] == "The credential for this model contains invalid characters."
        assert (one.far.got, one.calls) == ([], [])


async def test_without_its_secret_nothing_leaves_and_its_place_is_not_told() -> None:
    async with lab(provider=ANTHROPIC, secret="short") as one:
        heard = await one.ask()
        assert heard.status == 502
        assert heard.json()["error"]["message"] == "The credential for this model is not available."
        assert one.far.got == []


async def test_many_connections_that_say_nothing_do_not_keep_others_out() -> None:
    async with lab(room=ProxyLimits(at_once=8), patience=replace(QUICK, head=0.3)) as one:
        silent = [await one.dial() for _ in range(20)]
        assert (await one.ask()).status == 200
        for _, writer in silent:
            writer.transport.abort()
