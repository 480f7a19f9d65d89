"""A write sent twice under one `Idempotency-Key` is carried out once; the second gets the first one's answer."""

import hashlib

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from midwatch.compose.house import House
from midwatch.errors import MidwatchError, Misuse, Stale
from midwatch.ports.journal import StoredAnswer
from midwatch.surfaces.api.ascii_json import AsciiJson
from midwatch.surfaces.api.problems import problem

HEADER = "idempotency-key"
LONGEST_KEY = 200
API = "/api/"
WRITES = frozenset({"POST", "PUT", "PATCH", "DELETE"})


class OnlyOnce:
    """Runs before the API. A key belongs to its caller; a different request with the same key is refused."""

    def __init__(self, app: ASGIApp, house: House) -> None:
        self._app = app
        self._house = house

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Carry out the request, or return the earlier answer."""
        key = Headers(scope=scope).get(HEADER, "") if _writes(scope) else ""
        if not key:
            await self._app(scope, receive, send)
            return
        body = await _whole(receive)
        try:
            claim = self._claim(scope, key, body)
            before = await self._house.answers.claim(claim)
            answer = self._as_before(before, claim) if before else None
        except MidwatchError as refused:
            await AsciiJson(problem(refused), status_code=refused.status)(scope, receive, send)
            return
        if answer is not None:
            await answer(scope, receive, send)
            return
        await self._carry_out(claim, scope, body, send)

    def _claim(self, scope: Scope, key: str, body: bytes) -> StoredAnswer:
        if len(key) > LONGEST_KEY:
            raise Misuse(f"An Idempotency-Key has at most {LONGEST_KEY} characters.", hint="A UUID will do.")
        caller = scope["state"]["caller"].name
        asked = b"\n".join([scope["method"].encode(), scope["path"].encode(), scope["query_string"], body])
        return StoredAnswer(
            id=hashlib.sha256(f"{caller}\n{key}".encode()).hexdigest(),
            request=hashlib.sha256(asked).hexdigest(),
            at=self._house.clock.now(),
        )

    @staticmethod
    def _as_before(before: StoredAnswer, claim: StoredAnswer) -> Response:
        if before.request != claim.request:
            raise Stale("This Idempotency-Key was used for another request.", hint="Use a new key.")
        if before.status is None:
            # Under way, or interrupted: carrying it out again could do it twice.
            raise Stale(
                "A request with this key was started and not finished.", hint="Check whether it was carried out."
            )
        headers = {"content-type": before.kind, "idempotent-replayed": "true"}
        return Response(before.body, status_code=before.status, headers=headers)

    async def _carry_out(self, claim: StoredAnswer, scope: Scope, body: bytes, send: Send) -> None:
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
                    await self._keep(claim, status, kind, bytes(result))
            await send(message)

        await self._app(scope, receive, heard)

    async def _keep(self, claim: StoredAnswer, status: int, kind: str, body: bytes) -> None:
        if status >= 500:  # nothing was decided: the same key may be used again
            await self._house.answers.release(claim.id)
            return
        fields = {"status": status, "kind": kind, "body": body.decode(errors="replace")}
        await self._house.answers.settle(claim.model_copy(update=fields))


def _writes(scope: Scope) -> bool:
    return scope["type"] == "http" and scope["method"] in WRITES and scope["path"].startswith(API)


async def _whole(receive: Receive) -> bytes:
    body = bytearray()
    while True:
        message = await receive()
        body.extend(message.get("body", b""))
        if not message.get("more_body"):
            return bytes(body)
