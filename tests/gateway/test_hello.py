"""One hello to a model in every API, and every way it can be answered; the credential shows nowhere (A3, N27)."""

import json
import ssl
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from midwatch.gateway.hello import hello
from midwatch.gateway.hello_result import HelloOutcome, HelloResult
from midwatch.gateway.metering import Upstream
from midwatch.gateway.vault import Vault
from midwatch.terms.agents import ModelAccess
from midwatch.terms.secrets import SecretReference
from tests.agents.model import (
    Fault,
    Garbage,
    Hang,
    HangUp,
    Model,
    Say,
    Step,
    fuel,
    refused_port,
    scripted_model,
    usage_limit,
)
from tests.stepped_clock import SteppedClock

NOW = datetime(2026, 11, 15, 3, tzinfo=UTC)
SOON = int(NOW.timestamp()) + 3600
NAMES = {"anthropic": "claude-sonnet-4-5", "openai": "gpt-5-codex", "gemini": "gemini-2.5-flash"}
APIS = {"anthropic": "POST /v1/messages", "openai": "POST /v1/responses"}


class Asking:
    """Says hello with a key that lies in a file."""

    def __init__(self, folder: Path, model: Model, upstream: Upstream) -> None:
        self.folder, self.model, self.upstream = folder, model, upstream
        self.key = ""

    async def __call__(
        self, step: Step, provider: str = "anthropic", *, chat: bool = False, **more: Any
    ) -> HelloResult:
        """Let the model play one step and ask it."""
        self.key = self.model.play("hello", step, every=True)
        access = ModelAccess(
            provider=provider, model=NAMES[provider], secret="mine", base_url=self.model.url
        ).model_copy(update=more)
        return await self.ask(access, chat=chat)

    async def ask(self, access: ModelAccess, *, chat: bool = False, seconds: float = 20) -> HelloResult:
        """Ask with whatever the key is."""
        file = self.folder / "key"
        file.touch(0o600)
        file.write_text(self.key)
        vault = Vault({"mine": SecretReference.read(f"file:{file}")})
        said = await hello(access, vault, self.upstream, SteppedClock(NOW), chat=chat, seconds=seconds)
        assert not self.key or self.key not in repr(said)
        return said


@pytest.fixture
async def asking(tmp_path: Path) -> AsyncIterator[Asking]:
    upstream = Upstream(trust=ssl.create_default_context())
    try:
        async with scripted_model() as model:
            yield Asking(tmp_path, model, upstream)
    finally:
        await upstream.close()


@pytest.mark.parametrize("provider", NAMES)
async def test_a_model_that_answers_says_so_with_its_name_in_one_small_request(asking: Asking, provider: str) -> None:
    said = await asking(Say("Hello."), provider)
    assert said.heard is HelloOutcome.ANSWERS
    assert said.sentence.startswith(f"{NAMES[provider]} answers in ")
    [asked] = asking.model.requests()
    assert asked.path == APIS.get(provider, f"POST /v1beta/models/{NAMES[provider]}:generateContent")
    assert len(json.dumps(asked.body)) < 200


async def test_programs_that_speak_chat_are_asked_about_by_chat(asking: Asking) -> None:
    assert (await asking(Say("Hello."), "openai", chat=True)).answers
    [asked] = asking.model.requests()
    assert (asked.path, asked.body["max_tokens"]) == ("POST /v1/chat/completions", 1)


@pytest.mark.parametrize(("kind", "field"), [("api_key", "x-api-key"), ("oauth", "authorization")])
async def test_a_key_and_a_subscription_are_presented_each_in_its_way(asking: Asking, kind: str, field: str) -> None:
    assert (await asking(Say("Hello."), kind=kind)).answers
    [asked] = asking.model.requests()
    assert asked.headers[field].removeprefix("Bearer ") == asking.key
    assert ("authorization" in asked.headers) is (kind == "oauth")
    assert asked.headers.get("anthropic-beta", "") == ("oauth-2025-04-20" if kind == "oauth" else "")


async def test_limits_the_provider_tells_of_are_told_on(asking: Asking) -> None:
    said = await asking(Say("Hello.", headers=fuel(0.3, SOON)))
    assert "70 % of 5h left" in said.sentence
    assert [(one.limit, one.remaining) for one in said.limits] == [("5h", 0.7)]


@pytest.mark.parametrize(
    ("step", "heard", "words"),
    [
        (Fault(401, "invalid x-api-key"), HelloOutcome.REFUSED, "refuses the API key (401)"),
        (Fault(403), HelloOutcome.REFUSED, "refuses the API key (403)"),
        (Fault(404), HelloOutcome.NO_MODEL, "has no model claude-sonnet-4-5"),
        (Fault(402), HelloOutcome.UNPAID, "requires payment"),
        (
            Fault(400, "Your credit balance is too low"),
            HelloOutcome.DECLINED,
            'It says: "Your credit balance is too low"',
        ),
        (
            Fault(400, "system: This credential is only authorized for use with Claude Code"),
            HelloOutcome.DECLINED,
            "(400)",
        ),
        (Fault(400, "max_tokens or model output limit was reached."), HelloOutcome.ANSWERS, "answers in"),
        (Fault(429, headers={"retry-after": "90"}), HelloOutcome.LIMIT, "usage limit is reached until"),
        (Fault(529), HelloOutcome.TROUBLE, "reports an error (529)"),
        (Fault(302, headers={"location": "http://192.0.2.1/"}), HelloOutcome.GARBAGE, "is not a model API: 302"),
        (usage_limit(SOON), HelloOutcome.LIMIT, "usage limit is reached until"),
        (Garbage(), HelloOutcome.GARBAGE, "is not a model API: 200"),
        (Garbage(b'{"a": 1}', "application/json"), HelloOutcome.GARBAGE, "is not a model API: 200"),
        (Garbage(b"[" * 100_000, "application/json"), HelloOutcome.GARBAGE, "is not a model API: 200"),
        (Garbage(b"x" * 300_000, "application/json"), HelloOutcome.GARBAGE, "is not a model API: 200"),
        (HangUp(), HelloOutcome.UNREACHABLE, "gives no answer. The provider hung up"),
    ],
)
async def test_every_other_answer_has_its_sentence(asking: Asking, step: Step, heard: HelloOutcome, words: str) -> None:
    said = await asking(step)
    assert (said.heard, words in said.sentence) == (heard, True), said.sentence
    assert said.known is (heard in {HelloOutcome.LIMIT, HelloOutcome.ANSWERS})
    if step == usage_limit(SOON):
        assert said.resets_at == datetime.fromtimestamp(SOON, UTC)


async def test_a_token_kept_for_its_own_program_is_known_all_the_same(asking: Asking) -> None:
    words = "This credential is only authorized for use with Claude Code and cannot be used for other API requests."
    said = await asking(Fault(400, words), kind="oauth")
    assert (said.heard, said.known, said.answers) == (HelloOutcome.RESERVED, True, False)


@pytest.mark.parametrize(
    ("provider", "fault", "heard"),
    [
        ("openai", Fault(429, kind="insufficient_quota"), HelloOutcome.UNPAID),
        ("openai", Fault(400, kind="model_not_found"), HelloOutcome.NO_MODEL),
        ("gemini", Fault(400, kind="API_KEY_INVALID"), HelloOutcome.REFUSED),
    ],
)
async def test_providers_that_say_it_by_another_number_are_understood(
    asking: Asking, provider: str, fault: Fault, heard: HelloOutcome
) -> None:
    assert (await asking(fault, provider)).heard is heard


async def test_a_provider_that_repeats_the_key_or_escape_codes_is_not_quoted_word_for_word(asking: Asking) -> None:
    key = asking.model.key("hello")
    said = await asking(Fault(400, f"\x1b[31mbad {key} {'y' * 500}"))
    assert said.sentence.count("y") < 300
    assert "\x1b" not in said.sentence
    assert key not in said.sentence
    named = await asking(Garbage(json.dumps({"type": "message", "model": f"m-{key}"}).encode(), "application/json"))
    assert named.answers
    assert key not in named.sentence


async def test_nobody_there_and_somebody_who_never_answers_are_told_apart_in_words(asking: Asking) -> None:
    asking.key = "sk-nobody-there"
    access = ModelAccess(provider="anthropic", model="m", secret="mine", base_url=f"http://127.0.0.1:{refused_port()}")
    said = await asking.ask(access)
    assert (said.heard, "cannot be reached" in said.sentence) == (HelloOutcome.UNREACHABLE, True)
    asking.key = asking.model.play("hello", Hang(), every=True)
    said = await asking.ask(access.model_copy(update={"base_url": asking.model.url}), seconds=0.3)
    assert (said.heard, "within 0.3 seconds" in said.sentence) == (HelloOutcome.UNREACHABLE, True)
    asking.key = asking.model.play("hello", Say("x", hold=3), every=True)
    said = await asking.ask(access.model_copy(update={"base_url": asking.model.url}), seconds=0.3)
    assert said.heard is HelloOutcome.UNREACHABLE


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"secret": "other"}, "No secret is called other."),
        ({"base_url": "http://192.0.2.1"}, "without encryption"),
        ({"provider": "nobody"}, "No provider is called nobody."),
        ({"provider": "gemini", "model": "../files"}, "No model can be called"),
    ],
)
async def test_what_cannot_be_right_is_not_asked_at_all(asking: Asking, more: dict[str, str], words: str) -> None:
    asking.key = asking.model.play("hello", every=True)
    access = ModelAccess(provider="anthropic", model="m", secret="mine", base_url=asking.model.url)
    said = await asking.ask(access.model_copy(update=more))
    assert (said.heard, words in said.sentence) == (HelloOutcome.NOT_ASKED, True), said.sentence
    assert asking.model.requests() == []


async def test_a_key_with_odd_characters_never_leaves(asking: Asking) -> None:
    asking.key = "sk-two words"
    access = ModelAccess(provider="anthropic", model="m", secret="mine", base_url=asking.model.url)
    assert (await asking.ask(access)).heard is HelloOutcome.NOT_ASKED
    assert asking.model.requests() == []
