"""The scripted model itself: it takes requests, finds the script by the credential, and plays it."""

import asyncio
import json
import socket
import zlib
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

from midwatch.terms.agents import Tokens
from tests.agents.model import anthropic, chat, gemini, responses
from tests.agents.model.answers import Piece, Question, refusal
from tests.agents.model.ledger import SIDE, Asked, Ledger, Part, total
from tests.agents.model.script import Fault, Garbage, Hang, HangUp, Say, Step
from tests.agents.model.wire import Left, Wire, split


class Dialect(NamedTuple):
    """How one API says things."""

    stream: Callable[[Say, Question], Sequence[Piece]]
    body: Callable[[Say, Question], dict[str, Any]]
    counted: Callable[[Tokens], Tokens]


DIALECTS = {
    "anthropic": Dialect(anthropic.stream, anthropic.body, lambda usage: usage),
    "responses": Dialect(responses.stream, responses.body, responses.counted),
    "chat": Dialect(chat.stream, chat.body, responses.counted),
    "gemini": Dialect(gemini.stream, gemini.body, responses.counted),
}
PATHS = {"/messages": "anthropic", "/responses": "responses", "/chat/completions": "chat"}
CREDENTIALS = ("x-api-key", "x-goog-api-key", "api-key", "authorization")


class Model:
    """A model on loopback; see the package for how to use it."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.ledger = Ledger()
        self.offers: Mapping[str, int] = {}
        """The models in its list, and when each was published."""
        self.tells: Mapping[str, str] = {}
        """Words of a request, and what the name of its script has more than its credential says: `name-more`."""

    def play(
        self,
        name: str,
        *steps: Step,
        final: Step | None = None,
        side: Step = SIDE,
        every: bool = False,
        opening: tuple[str, int] = ("", 0),
    ) -> str:
        """Lay down a script, forget what was asked under its name before, and give an API key that plays it."""
        self.ledger.log[:] = [asked for asked in self.ledger.log if asked.name != name]
        self.ledger.parts[name] = Part(steps, final or Say("Done."), side, every, *opening)
        return self.key(name)

    def key(self, name: str, prefix: str = "sk-ant-api03-") -> str:
        """Give a credential by which this script is found; any that ends in `script-<name>` will do."""
        return f"{prefix}script-{name}"

    def address(self, name: str) -> str:
        """Give a base URL by which this script is found, whatever the credential says."""
        return f"{self.url}/s/{name}"

    def requests(self, name: str = "", *, main: bool | None = None) -> list[Asked]:
        """Give what was asked, of everyone or under one name, oldest first."""
        found = [asked for asked in self.ledger.log if not name or asked.name == name]
        return [asked for asked in found if main is None or asked.main is main]

    def told(self, name: str = "") -> Tokens:
        """Add up what readers were told in whole events."""
        return total(asked.told for asked in self.requests(name))

    def made(self, name: str = "") -> Tokens:
        """Add up what was made, told or not."""
        return total(asked.made for asked in self.requests(name))

    async def asked(self, name: str, number: int = 1) -> Asked:
        """Wait until so many main requests have come, and give the last of them."""
        async with self.ledger.news:
            await self.ledger.news.wait_for(lambda: len(self.requests(name, main=True)) >= number)
        return self.requests(name, main=True)[number - 1]

    async def sending(self, asked: Asked, size: int) -> None:
        """Wait until so many bytes of an answer's body have gone out."""
        async with self.ledger.news:
            await self.ledger.news.wait_for(lambda: asked.sent >= size)

    def release(self, name: str) -> None:
        """Let go of what `hold` or Hang holds back."""
        self.ledger.part(name).released.set()

    # Taking requests.

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Lead one connection to its end."""
        wire = Wire(reader, writer)
        try:
            while (got := await wire.request()) is not None:
                head, data = got
                headers = {key.decode(): value.decode() for key, value in head.headers}
                await self._request(wire, head.method.decode(), head.target.decode(), headers, data)
        except (Left, ConnectionError):
            pass
        finally:
            await wire.close()

    async def _request(self, wire: Wire, method: str, target: str, headers: dict[str, str], data: bytes) -> None:
        name, path = _whose(target, headers)
        api, model = _which(path)
        try:
            body = json.loads(data) if data else {}
        except ValueError:
            body = {}
        if method != "POST" or api not in DIALECTS:
            nothing = Say()
            await self.ledger.note(Asked(name, api, f"{method} {path}", headers, body, False, nothing))
            await wire.whole(*_aside(method, path, data, self.offers))
            return
        text = data.decode(errors="replace") if self.tells else ""
        name = next((f"{name}-{more}" for words, more in self.tells.items() if words in text), name)
        offered, kinds = _tools(api, body)
        part = self.ledger.part(name)
        main = bool(offered) or part.every
        asked = Asked(name, api, f"{method} {path}", headers, body, main, part.next(body, main=main))
        streams = bool(body.get("stream")) or "streamGenerateContent" in path
        number = len(self.ledger.log) + 1
        question = Question(api, body, body.get("model") or model, streams, offered, kinds, number)
        await self.ledger.note(asked)
        await self._answer(wire, asked, question, part)

    # Answering.

    async def _answer(self, wire: Wire, asked: Asked, question: Question, part: Part) -> None:
        match asked.step:
            case Fault() as fault:
                await wire.whole(fault.status, refusal(fault, asked.api), fault.headers)
            case Hang():
                await wire.until(part.released)
                raise Left
            case HangUp():
                raise Left
            case Garbage(body, content_type):
                await wire.begin(200, {"content-type": content_type})
                await wire.send(body)
                await wire.end()
            case Say() as say:
                await self._say(wire, asked, question, part, say)

    async def _say(self, wire: Wire, asked: Asked, question: Question, part: Part, say: Say) -> None:
        dialect = DIALECTS[asked.api]
        headers = {"request-id": question.name("req"), **say.headers}
        if question.stream:
            pieces = dialect.stream(say, question)
            headers |= {"content-type": "text/event-stream", "cache-control": "no-cache"}
        else:
            data = json.dumps(dialect.body(say, question)).encode()
            pieces = [Piece(data, dialect.counted(say.usage), say.usage)]
            headers |= {"content-type": "application/json"}
        coat = zlib.compressobj(wbits=31) if say.encoding == "gzip" else None
        await wire.begin(200, headers | ({"content-encoding": "gzip"} if coat else {}))
        asked.made = say.usage.model_copy(update={"output": 0})
        for index, piece in enumerate(pieces):
            data = piece.data
            if coat:
                mode = zlib.Z_FINISH if index == len(pieces) - 1 else zlib.Z_SYNC_FLUSH
                data = coat.compress(data) + coat.flush(mode)
            await self._send(wire, asked, part, say, data)
            asked.told, asked.made = piece.told, piece.made
        if say.cut is not None and asked.sent >= say.cut:
            raise Left  # a cut after the last byte still denies the proper end
        asked.whole = True
        await wire.end()

    async def _send(self, wire: Wire, asked: Asked, part: Part, say: Say, data: bytes) -> None:
        for some in split(data, asked.sent, (say.cut, say.hold), single=say.drip > 0):
            if say.cut is not None and asked.sent >= say.cut:
                raise Left
            if say.hold is not None and asked.sent >= say.hold:
                await wire.until(part.released)
            await wire.send(some)
            async with self.ledger.news:
                asked.sent += len(some)
                self.ledger.news.notify_all()
            if say.drip:
                await asyncio.sleep(say.drip)


def _whose(target: str, headers: dict[str, str]) -> tuple[str, str]:
    parts = urlsplit(target)
    path = parts.path
    if path.startswith("/s/"):
        name, _, rest = path.removeprefix("/s/").partition("/")
        return name, f"/{rest}"
    found = [headers.get(header, "") for header in CREDENTIALS] + parse_qs(parts.query).get("key", [])
    return next((text.partition("script-")[2] for text in found if "script-" in text), ""), path


def _which(path: str) -> tuple[str, str]:
    if path.startswith(("/v1beta/models/", "/v1alpha/models/")) and "enerateContent" in path:
        return "gemini", path.split("/models/")[1].partition(":")[0]
    return PATHS.get(path.removeprefix("/v1"), "other"), ""


def _tools(api: str, body: dict[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    if api == "responses":
        return responses.tools(body)
    return {"anthropic": anthropic, "chat": chat, "gemini": gemini}[api].offered(body), {}


def _aside(method: str, path: str, data: bytes, offers: Mapping[str, int]) -> tuple[int, dict[str, Any]]:
    if path.endswith("/count_tokens"):
        return 200, {"input_tokens": len(data) // 4}
    if path.endswith(":countTokens"):
        return 200, {"totalTokens": len(data) // 4}
    if method == "GET" and path.endswith("/models"):
        return 200, _listed(path, offers)
    return 404, {"type": "error", "error": {"type": "not_found_error", "message": "There is nothing here."}}


def _listed(path: str, offers: Mapping[str, int]) -> dict[str, Any]:
    """The list as each API gives it: Gemini names no time, OpenAI a number, Anthropic a date."""
    if path.startswith("/v1beta"):
        return {"models": [{"name": f"models/{name}"} for name in offers]}
    dated = [
        {"id": name, "object": "model", "created": at, "created_at": datetime.fromtimestamp(at, UTC).isoformat()}
        for name, at in offers.items()
    ]
    return {"object": "list", "data": dated, "models": [], "has_more": False}


@asynccontextmanager
async def scripted_model(listening: socket.socket | None = None) -> AsyncIterator[Model]:
    """Serve on a socket of yours (which may live in another network namespace), else on a free loopback port."""
    listening = listening or socket.create_server(("127.0.0.1", 0))
    model = Model(listening.getsockname()[1])
    writers: set[asyncio.StreamWriter] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # A listener made by hand does not name its protocol: asyncio leaves small parts waiting 40 ms for each other.
        writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        writers.add(writer)
        try:
            await model.serve(reader, writer)
        finally:
            writers.discard(writer)

    server = await asyncio.start_server(connected, sock=listening)
    try:
        yield model
    finally:
        server.close()
        for writer in list(writers):
            writer.transport.abort()
        await server.wait_closed()
