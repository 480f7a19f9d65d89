"""What programs inside are told, and whom the proxy trusts outside."""

import asyncio
import ssl
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from midwatch.gateway.metering import (
    ANTHROPIC,
    GEMINI,
    OPENAI,
    PROVIDERS,
    Grant,
    ModelCredential,
    Provider,
    Upstream,
    derived_placeholder,
    environment,
)
from midwatch.gateway.metering.providers import CredentialKind
from tests.gateway.egress.conftest import Authority, authority
from tests.gateway.metering.lab import FarModel, lab

__all__ = ["authority"]


@pytest.mark.parametrize(
    ("provider", "kind", "told"),
    [
        (ANTHROPIC, "api_key", {"ANTHROPIC_BASE_URL": "http://127.0.0.1:8119", "ANTHROPIC_API_KEY": "p"}),
        (ANTHROPIC, "oauth", {"ANTHROPIC_BASE_URL": "http://127.0.0.1:8119", "CLAUDE_CODE_OAUTH_TOKEN": "p"}),
        (
            OPENAI,
            "none",
            {
                "OPENAI_BASE_URL": "http://127.0.0.1:8120/v1",
                "OPENAI_API_BASE": "http://127.0.0.1:8120/v1",
                "OPENAI_API_KEY": "p",
            },
        ),
        (
            GEMINI,
            "api_key",
            {
                "GOOGLE_GEMINI_BASE_URL": "http://127.0.0.1:8121",
                "GEMINI_BASE_URL": "http://127.0.0.1:8121",
                "GEMINI_API_KEY": "p",
            },
        ),
    ],
)
def test_programs_are_told_where_the_door_is_and_given_one_credential(
    provider: Provider, kind: CredentialKind, told: dict[str, str]
) -> None:
    assert environment(Grant("job", 1, provider, ModelCredential("s", kind), ("m",), "p")) == told


def test_a_placeholder_made_again_is_the_same_and_no_other_is() -> None:
    purposes = [
        (one, kind, key, purpose)
        for one in PROVIDERS.values()
        for kind in ("api_key", "oauth")
        for key in (b"a", b"b")
        for purpose in ("job 1", "job 2")
    ]
    made = [derived_placeholder(*each) for each in purposes]  # type: ignore[arg-type]
    assert made == [derived_placeholder(*each) for each in purposes]  # type: ignore[arg-type]
    assert len(set(made)) == len(made)


def test_a_grant_does_not_show_its_placeholder() -> None:
    assert "hidden" not in repr(Grant("job", 1, ANTHROPIC, ModelCredential("s"), ("m",), "hidden"))


@pytest.mark.parametrize(
    ("trust", "host", "status"),
    [
        (Authority.client, "files.example", 200),
        (Authority.client, "other.example", 502),
        (lambda _: None, "files.example", 502),
    ],
    ids=["known", "another name", "unknown authority"],
)
async def test_the_secret_goes_only_to_whom_the_certificate_names(
    authority: Authority,
    trust: Callable[[Authority], ssl.SSLContext | None],
    host: str,
    status: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    far = FarModel()
    async with lab(far) as one:
        server = await asyncio.start_server(far.attend, "127.0.0.1", 0, ssl=authority.server())
        port = server.sockets[0].getsockname()[1]
        loop = asyncio.get_running_loop()
        look_up = loop.getaddrinfo

        async def lead_home(name: str | bytes, *more: Any, **others: Any) -> Any:
            asked = name.decode() if isinstance(name, bytes) else name
            return await look_up("127.0.0.1" if asked == host else asked, *more, **others)

        monkeypatch.setattr(loop, "getaddrinfo", lead_home)
        upstream = Upstream(trust=trust(authority))
        one.proxy._exchange._upstream = upstream
        one.proxy._exchange._grant = replace(one.grant, provider=ANTHROPIC.at(f"https://{host}:{port}"))
        try:
            heard = await one.ask()
        finally:
            await upstream.close()
            server.close()
        assert heard.status == status
        assert len(far.got) == (status == 200)
        assert len(one.calls) == (status == 200)
