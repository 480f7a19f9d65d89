"""A write sent twice under one `Idempotency-Key` is carried out once; the second gets the first one's answer."""

import asyncio
import base64
import hmac
import os
from dataclasses import dataclass, field

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from fastapi import FastAPI
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from midwatch.compose.crew import house_key
from midwatch.compose.house import House
from midwatch.errors import MidwatchError, Misuse, Stale
from midwatch.ports.journal import StoredAnswer
from midwatch.surfaces.api.access import Caller, needed_scopes
from midwatch.surfaces.api.ascii_json import AsciiJson
from midwatch.surfaces.api.problems import problem

HEADER = "idempotency-key"
LONGEST_KEY = 200
NONCE = 12
"""Bytes; each answer has its own."""
API = "/api/"
WRITES = frozenset({"POST", "PUT", "PATCH", "DELETE"})


class OnlyOnce:
    """Runs before the API, after the caller is known.

    A key belongs to one person, by one token or by login, with the rights of then. An answer may hold a secret that is
    shown once, so it is stored sealed: by the key that the caller sent, which is not stored, and this installation's.
    """

    def __init__(self, app: FastAPI, house: House) -> None:
        self._app = app
        self._house = house

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Carry out the request, or return the earlier answer."""
        key = Headers(scope=scope).get(HEADER, "") if _writes(scope) else ""
        if not key or not self._may(scope):
            # Who may not do it is refused by the route, whatever was answered before.
            await self._app(scope, receive, send)
            return
        body = await _whole(receive)
        try:
            claim, seal = await self._claim(scope, key, body)
            before = await self._house.answers.claim(claim)
            answer = _as_before(before, claim, seal) if before else None
        except MidwatchError as refused:
            await AsciiJson(problem(refused), status_code=refused.status)(scope, receive, send)
            return
        if answer is not None:
            await answer(scope, receive, send)
            return
        await self._carry_out(ClaimedKey(claim, seal), scope, body, send)

    def _may(self, scope: Scope) -> bool:
        caller, method, path = scope["state"]["caller"], scope["method"], scope["path"]
        fitting = (one for verb, found, one in needed_scopes(self._app) if verb == method and found.match(path))
        needed = next(fitting, None)
        return caller is not None and needed is not None and caller.may(needed)

    async def _claim(self, scope: Scope, key: str, body: bytes) -> tuple[StoredAnswer, "Seal"]:
        if len(key) > LONGEST_KEY:
            raise Misuse(f"An Idempotency-Key has at most {LONGEST_KEY} characters.", hint="A UUID will do.")
        caller: Caller = scope["state"]["caller"]
        ours = await asyncio.to_thread(house_key, self._house.home)

        def mark(*parts: bytes) -> bytes:
            """Hash with this installation's key: a body may hold a secret that could be guessed."""
            sized = b"".join(len(part).to_bytes(8) + part for part in parts)
            return hmac.digest(ours, sized, "sha256")

        who = f"{caller.way} {caller.identity or caller.name}".encode(), key.encode()
        rights = " ".join(sorted(caller.scopes)).encode()
        asked = scope["method"].encode(), scope["path"].encode(), scope["query_string"], body
        claim = StoredAnswer(
            id=mark(b"key", *who).hex(), request=mark(b"request", rights, *asked).hex(), at=self._house.clock.now()
        )
        return claim, Seal(mark(b"seal", *who))

    async def _carry_out(self, claimed: "ClaimedKey", scope: Scope, body: bytes, send: Send) -> None:
        status, kind, result = 500, "", bytearray()

        async def receive() -> Message:
            return {"type": "http.request", "body": body, "more_body": False}

        async def heard(message: Message) -> None:
            nonlocal status, kind
            if message["type"] == "http.response.start":
                status, kind = message["status"], Headers(raw=message["headers"]).get("content-type", "")
            else:
                result.extend(message.get("body", b""))
                if not message.get("more_body"):
                    await self._keep(claimed, status, kind, bytes(result))
            await send(message)

        await self._app(scope, receive, heard)

    async def _keep(self, claimed: "ClaimedKey", status: int, kind: str, body: bytes) -> None:
        claim = claimed.answer
        if status >= 500:  # nothing was decided: the same key may be used again
            await self._house.answers.release(claim.id)
            return
        fields = {"status": status, "kind": kind, "body": claimed.seal.closed(body, claim.id)}
        await self._house.answers.settle(claim.model_copy(update=fields))


@dataclass(frozen=True, slots=True)
class Seal:
    """Encrypts an answer, so that the database alone does not give it."""

    key: bytes = field(repr=False)

    def closed(self, body: bytes, name: str) -> str:
        nonce = os.urandom(NONCE)
        return base64.b64encode(nonce + AESGCM(self.key).encrypt(nonce, body, name.encode())).decode()

    def opened(self, sealed: str, name: str) -> bytes:
        raw = base64.b64decode(sealed)
        try:
            return AESGCM(self.key).decrypt(raw[:NONCE], raw[NONCE:], name.encode())
        except InvalidTag:
            raise Stale("The answer to this key cannot be read.", hint="Check whether it was carried out.") from None


@dataclass(frozen=True, slots=True)
class ClaimedKey:
    """A key that was claimed for a request under way."""

    answer: StoredAnswer
    seal: Seal


def _as_before(before: StoredAnswer, claim: StoredAnswer, seal: Seal) -> Response:
    if not hmac.compare_digest(before.request, claim.request):
        raise Stale("This Idempotency-Key was used for another request, or with other rights.", hint="Use a new key.")
    if before.status is None:
        # Under way, or interrupted: carrying it out again could do it twice.
        raise Stale("A request with this key was started and not finished.", hint="Check whether it was carried out.")
    headers = {"content-type": before.kind, "idempotent-replayed": "true"}
    return Response(seal.opened(before.body, before.id), status_code=before.status, headers=headers)


def _writes(scope: Scope) -> bool:
    return scope["type"] == "http" and scope["method"] in WRITES and scope["path"].startswith(API)


async def _whole(receive: Receive) -> bytes:
    body = bytearray()
    while True:
        message = await receive()
        body.extend(message.get("body", b""))
        if not message.get("more_body"):
            return bytes(body)
