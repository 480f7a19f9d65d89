"""What tokens cost, what the provider says is left, and where models may be."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midwatch.errors import Misuse
from midwatch.gateway.metering import (
    ANTHROPIC,
    GEMINI,
    OPENAI,
    PROVIDERS,
    PriceList,
    Provider,
    ProviderQuota,
    TokenUsage,
)
from midwatch.gateway.metering.credentials import new_placeholder
from midwatch.gateway.metering.masking import StreamMask
from midwatch.gateway.metering.provider_quota import moment, readings
from tests.gateway.metering.lab import NOW, FarModel, answer, lab, message

each = pytest.mark.parametrize("provider", PROVIDERS.values(), ids=lambda one: one.name)
usages = st.builds(
    lambda fresh, out, read, write, hour: TokenUsage(fresh, out, read, write, min(hour, write)),
    *(st.integers(0, 300_000) for _ in range(5)),
)


def test_known_models_cost_what_the_list_says() -> None:
    prices = PriceList()
    usage = TokenUsage(input=1000, output=500, cache_read=100, cache_write=200, cache_write_1h=50)
    assert prices.usd_micros(ANTHROPIC, "claude-sonnet-4-5-20250929", usage) == 11_393
    assert prices.usd_micros(OPENAI, "gpt-4.1", TokenUsage(input=1000, output=100, cache_read=1000)) == 3_300
    assert prices.usd_micros(GEMINI, "gemini-2.5-pro", TokenUsage(input=1000, output=100)) == 2_250


@each
@given(usages)
def test_an_unknown_model_costs_as_much_as_the_dearest(provider: Provider, usage: TokenUsage) -> None:
    prices = PriceList()
    assert not prices.knows(provider, "no-such-model-9")
    unknown = prices.usd_micros(provider, "no-such-model-9", usage)
    assert (unknown > 0) == (usage.total > 0)
    for model in {"anthropic": ["claude-opus-4-1"], "openai": ["gpt-4.1", "o1-pro"], "gemini": ["gemini-2.5-pro"]}[
        provider.name
    ]:
        assert prices.usd_micros(provider, model, usage) <= unknown


def test_the_houses_own_table_wins() -> None:
    prices = PriceList({"claude-x*": {"input": 1, "output": 2}, "openai/*": {"input": 0, "output": 0.1}})
    usage = TokenUsage(input=10, output=10, cache_read=10, cache_write=10, cache_write_1h=5)
    assert prices.usd_micros(ANTHROPIC, "claude-xl", usage) == 50
    assert prices.usd_micros(OPENAI, "gpt-4.1", usage) == 1
    assert prices.knows(OPENAI, "anything")
    assert prices.usd_micros(ANTHROPIC, "claude-sonnet-4-5", TokenUsage(input=10)) == 30


def test_every_kind_of_token_may_have_a_price_of_its_own() -> None:
    table = {"input": 1.25, "output": 10, "cache_read": 0.125, "cache_write": 2.5}
    prices = PriceList({"openai/gpt-5": table})
    kinds = [TokenUsage(input=1000), TokenUsage(output=1000), TokenUsage(cache_read=1000), TokenUsage(cache_write=1000)]
    assert [prices.usd_micros(OPENAI, "gpt-5", one) for one in kinds] == [1250, 10_000, 125, 2500]
    hour = TokenUsage(cache_write=1000, cache_write_1h=1000)
    assert prices.usd_micros(OPENAI, "gpt-5", hour) == 2500, "an hour costs the same unless told otherwise"
    prices.override({"openai/gpt-5": {**table, "cache_write_1h": 5}})
    assert prices.usd_micros(OPENAI, "gpt-5", hour) == 5000


def test_a_name_written_out_wins_over_a_pattern_and_only_for_its_provider() -> None:
    prices = PriceList({"*": {"input": 9, "output": 9}, "openai/gpt-5": {"input": 1, "output": 1}})
    assert prices.usd_micros(OPENAI, "gpt-5", TokenUsage(input=1000)) == 1000
    assert prices.usd_micros(ANTHROPIC, "gpt-5", TokenUsage(input=1000)) == 9000


def test_another_table_takes_the_place_of_the_first_as_a_whole_or_not_at_all() -> None:
    prices = PriceList({"openai/a": {"input": 1, "output": 1}})
    with pytest.raises(Misuse, match="The price of openai/c cannot be read"):
        prices.override({"openai/b": {"input": 1, "output": 1}, "openai/c": {"input": 1}})
    assert (prices.knows(OPENAI, "a"), prices.knows(OPENAI, "b")) == (True, False)
    prices.override({})
    assert not prices.knows(OPENAI, "a")


async def test_a_request_costs_what_the_house_says() -> None:
    prices = PriceList({"anthropic/claude-sonnet-4-5": {"input": 100, "output": 1000}})
    async with lab(FarModel(answer(message(output=20, entry=100))), prices=prices) as one:
        assert (await one.ask()).status == 200
        assert (await one.call()).usd_micros == 100 * 100 + 20 * 1000


@pytest.mark.parametrize(
    "table",
    [
        {},
        {"input": 1},
        {"input": 1, "output": -1},
        {"input": 1, "output": 1, "odd": 1},
        {"input": float("nan"), "output": 1},
        {"input": 1, "output": float("inf")},
        {"input": 3_000_000, "output": 1},
    ],
)
def test_a_price_that_cannot_be_read_is_refused(table: dict[str, float]) -> None:
    with pytest.raises(Misuse, match="cannot be read"):
        PriceList({"openai/x": table})


def test_the_windows_of_a_subscription_are_a_fuel_gauge() -> None:
    fields = {
        "anthropic-ratelimit-unified-status": "allowed",
        "anthropic-ratelimit-unified-5h-utilization": "0.25",
        "anthropic-ratelimit-unified-5h-reset": "1794718800",
        "anthropic-ratelimit-unified-5h-status": "allowed",
        "anthropic-ratelimit-unified-7d-utilization": "1.02",
        "anthropic-ratelimit-unified-7d-status": "rejected",
    }
    at = datetime.fromtimestamp(1794718800, UTC)
    assert readings("anthropic", fields, 200, NOW) == [
        ProviderQuota("anthropic", "5h", remaining=0.75, resets_at=at),
        ProviderQuota("anthropic", "7d", remaining=0.0, rejected=True),
    ]


def test_limits_of_keys_are_read_in_every_dialect() -> None:
    anthropic = {
        "anthropic-ratelimit-input-tokens-limit": "1000",
        "anthropic-ratelimit-input-tokens-remaining": "250",
        "anthropic-ratelimit-input-tokens-reset": "2026-11-15T03:01:00Z",
    }
    later = NOW + timedelta(minutes=1)
    assert readings("anthropic", anthropic, 200, NOW) == [ProviderQuota("anthropic", "input-tokens", 0.25, 1000, later)]
    openai = {
        "x-ratelimit-limit-requests": "60",
        "x-ratelimit-remaining-requests": "59",
        "x-ratelimit-reset-requests": "1m0.5s",
        "x-ratelimit-remaining-tokens": "many",
    }
    assert readings("openai", openai, 200, NOW) == [
        ProviderQuota("openai", "requests", 59 / 60, 60, later + timedelta(seconds=0.5)),
        ProviderQuota("openai", "tokens"),
    ]


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("30", 30),
        ("1.5", 1.5),
        ("250ms", 0.25),
        ("2h3m", 7380),
        ("Sun, 15 Nov 2026 03:00:09 GMT", 9),
        ("soon", None),
        ("-5", None),
        ("", None),
        ("99999999999999", None),
        ("2026-11-15T03:00:10+00:00", 10),
        ("5x", None),
    ],
)
def test_when_something_resets(text: str, after: float | None) -> None:
    assert moment(text, NOW) == (None if after is None else NOW + timedelta(seconds=after))


@given(st.text(max_size=40))
def test_no_text_breaks_the_gauge(text: str) -> None:
    moment(text, NOW)
    names = ("anthropic-ratelimit-unified-5h-utilization", "x-ratelimit-limit-requests", "retry-after")
    assert all(
        one.remaining is None or 0 <= one.remaining <= 1 for one in readings("x", dict.fromkeys(names, text), 429, NOW)
    )


async def test_the_proxy_hands_over_what_the_provider_says_is_left() -> None:
    said = answer(message(), "429 Slow down", Retry_After="30", anthropic_ratelimit_requests_limit="10")
    async with lab(FarModel(said)) as one:
        assert (await one.ask()).status == 429
        assert [(fuel.limit, fuel.rejected) for fuel in one.fuel] == [("requests", False), ("retry-after", True)]
        assert one.fuel[1].resets_at is not None


@pytest.mark.parametrize(
    "base",
    [
        "http://api.example.org",
        "ftp://x",
        "https://",
        "https://user@host",
        "https://h/../x",
        "https://h//x",
        "https://h?x",
    ],
)
def test_a_model_is_reached_by_tls_or_on_this_machine(base: str) -> None:
    with pytest.raises(Misuse):
        ANTHROPIC.at(base)


@pytest.mark.parametrize("base", ["https://h.example", "https://h/deep/path/", "http://127.0.0.1:9", "http://[::1]:9"])
def test_another_upstream_may_be_named(base: str) -> None:
    assert OPENAI.at(base).base == base.rstrip("/")


@each
def test_placeholders_are_random_and_look_like_the_real_thing(provider: Provider) -> None:
    made = {new_placeholder(provider, kind) for kind in ("api_key", "oauth") for _ in range(50)}
    assert len(made) == 100
    assert all(len(one) > 50 and one.isascii() for one in made)


@given(st.lists(st.sampled_from([b"sec", b"ret-1", b"secret-1", b"s", b"secsecret-", b"1", b"\n"]), max_size=20))
def test_the_veil_hides_however_it_is_cut(parts: list[bytes]) -> None:
    veil = StreamMask("secret-1")
    passed = b"".join(veil.feed(part) for part in parts) + veil.end()
    assert passed == b"".join(parts).replace(b"secret-1", b"x" * 8)
