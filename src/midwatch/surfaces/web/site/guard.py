"""The guard of the pages and the API: who is asking, from where, by which name, and what the browser may do."""

import hmac
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import quote

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from midwatch.errors import MidwatchError, Refused, Stranger, TooLarge, WrongHost
from midwatch.evening.accounts import Entrance, by_cookie, by_token
from midwatch.surfaces.api.access import Caller
from midwatch.surfaces.api.ascii_json import AsciiJson
from midwatch.surfaces.api.problems import problem
from midwatch.terms.people import Scope as Right

COOKIE = "midwatch"
LARGEST_BODY = 1_000_000
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
HOOKS = "/hooks/"
"""Where forges send webhooks; each one is signed."""
PUBLIC = frozenset({"/login", "/welcome", "/healthz", "/readyz", "/favicon.ico"})
POLICY = (
    "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",  # "no-referrer" would make a browser hide the origin of Midwatch's own forms too
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}


@dataclass(frozen=True, slots=True)
class Guard:
    """Runs before the application. A visitor who is not logged in sees only the login page."""

    app: ASGIApp
    entrance: Entrance
    hosts: Callable[[], frozenset[str]]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or say why not."""
        if scope["type"] != "http":
            return
        nonce = secrets.token_urlsafe(16)
        headers = Headers(scope=scope)
        state = scope.setdefault("state", {})
        state["nonce"], state["caller"] = nonce, None
        dressed = _dressed(send, nonce, static=scope["path"].startswith("/static/"))
        try:
            self._asked_by_name(headers)
            self._small_enough(headers)
            caller, cookie = await self._who(headers)
            state["caller"], state["cookie"] = caller, cookie
            state["still"] = partial(self._still_reads, headers)
            self._meant_it(scope, headers, caller)
            if caller is None and not _public(scope["path"]):
                raise Stranger("Log in first.", hint="Open /login, or send a token: Authorization: Bearer mwt_...")
        except MidwatchError as refused:
            await _refusal(refused, scope, headers)(scope, receive, dressed)
            return
        await self.app(scope, _bounded(receive), dressed)

    def _asked_by_name(self, headers: Headers) -> None:
        # A page elsewhere reaches in by another name for this address (DNS rebinding).
        if headers.get("host", "") not in self.hosts():
            raise WrongHost(
                f"Host {headers.get('host', '')!r} is not allowed.",
                hint="Open it by the address it printed at its start, or add the name to server.allowed_hosts.",
            )

    @staticmethod
    def _small_enough(headers: Headers) -> None:
        length = headers.get("content-length", "0")
        if not length.isdigit() or int(length) > LARGEST_BODY:
            raise TooLarge(f"A request may have {LARGEST_BODY:,} bytes.", hint="Send less.")

    async def _still_reads(self, headers: Headers) -> bool:
        """Whether who sent this request may read now; a stream that asks does not keep a login alive."""
        try:
            caller, _ = await self._who(headers, used=False)
        except Stranger:
            return False
        return caller is not None and caller.may(Right.READ)

    async def _who(self, headers: Headers, *, used: bool = True) -> tuple[Caller | None, str]:
        given = headers.get("authorization", "")
        if given:
            kind, _, secret = given.partition(" ")
            found = await by_token(self.entrance, secret.strip()) if kind.lower() == "bearer" else None
            if found is None:
                raise Stranger("This token is not valid.", hint="Make one: midwatch token new NAME")
            person, token = found
            scopes = frozenset(token.scopes) & person.role.scopes
            return Caller(person.name, person.role, scopes, "token", identity=f"{person.id} {token.id}"), ""
        cookie = _cookie(headers)
        known = await by_cookie(self.entrance, cookie, used=used) if cookie else None
        if known is None:
            return None, ""
        person, login = known
        return Caller(person.name, person.role, person.role.scopes, "login", login.csrf, person.id), cookie

    def _meant_it(self, scope: Scope, headers: Headers, caller: Caller | None) -> None:
        """Refuse requests that another site's page made the browser send."""
        if scope["method"] in SAFE or (caller is not None and caller.way == "token"):
            return
        if scope["path"].startswith(HOOKS):
            return  # not sent by a browser: its signature proves who sent it
        origin, site = headers.get("origin"), headers.get("sec-fetch-site")
        ours = {f"{scheme}://{host}" for host in self.hosts() for scheme in ("http", "https")}
        if (origin and origin not in ours) or (site and site not in {"same-origin", "none"}) or not (origin or site):
            raise Refused("This came from another page.", hint="Do it on Midwatch's own page.")
        by_form = scope["path"] in PUBLIC or scope["path"] == "/logout"  # plain forms: their origin is proof enough
        shown = headers.get("x-csrf", "").encode()
        if caller is not None and not by_form and not hmac.compare_digest(shown, caller.csrf.encode()):
            raise Refused("This page was loaded before you logged in.", hint="Reload the page.")


def _cookie(headers: Headers) -> str:
    try:
        jar: SimpleCookie = SimpleCookie(headers.get("cookie", ""))
    except CookieError:
        return ""
    return jar[COOKIE].value if COOKIE in jar else ""


def _public(path: str) -> bool:
    return path in PUBLIC or path.startswith(("/static/", HOOKS))


def _refusal(error: MidwatchError, scope: Scope, headers: Headers) -> Response:
    wants_page = "text/html" in headers.get("accept", "") and "hx-request" not in headers
    if isinstance(error, Stranger) and wants_page and scope["method"] == "GET" and "authorization" not in headers:
        return RedirectResponse(f"/login?next={quote(scope['path'], safe='/')}", status_code=303)
    answer = AsciiJson(problem(error), status_code=error.status)
    if isinstance(error, Stranger):
        answer.headers["www-authenticate"] = "Bearer"
        if "hx-request" in headers:
            answer.headers["hx-redirect"] = "/login"
    return answer


def _dressed(send: Send, nonce: str, *, static: bool) -> Send:
    async def dressed(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.update(HEADERS)
            headers["content-security-policy"] = POLICY.format(nonce=nonce)
            headers.setdefault("cache-control", "no-cache" if static else "no-store")
        await send(message)

    return dressed


def _bounded(receive: Receive) -> Receive:
    """Count the bytes of a request without a stated length."""
    seen = 0

    async def bounded() -> Any:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > LARGEST_BODY:
            raise TooLarge(f"A request may have {LARGEST_BODY:,} bytes.", hint="Send less.")
        return message

    return bounded
