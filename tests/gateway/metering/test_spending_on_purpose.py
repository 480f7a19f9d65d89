"""Agents that want to spend: whatever they write into their requests, a ceiling holds but for one input."""

import json
from typing import Any

import pytest

from midwatch.gateway.metering import PriceList, TokenUsage
from midwatch.rules.budget.spending import Ceilings, Whose
from tests.gateway.metering.greedy import (
    DIALECTS,
    DOLLAR,
    Dialect,
    GreedyModel,
    billed,
    in_its_shape,
    limits_in,
    statuses,
)
from tests.gateway.metering.lab import Lab, lab

CEILING = 4 * DOLLAR
LEAST = 4_096
"""The shortest answer that a request is cut to."""
each = pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS)


def ceilings(usd_micros: int = CEILING) -> dict[Whose, Ceilings]:
    return {Whose.JOB: Ceilings(usd_micros=usd_micros)}


def spent(one: Lab) -> int:
    return one.ledger.budget(Whose.JOB, "job").spent.usd_micros


def allowed(one: Lab, dialect: Dialect, ceiling: int = CEILING) -> int:
    """The ceiling, and the largest overshoot that is stated: one input and the shortest answer."""
    entry = max(billed(got.body)[0] for got in one.far.got)
    usage = TokenUsage(cache_write=entry, output=LEAST)
    return ceiling + PriceList().usd_micros(dialect.provider, dialect.model, usage)


async def spend(dialect: Dialect, *bodies: dict[str, Any], ceiling: int = CEILING) -> None:
    """Send all at once, then one after the other until the line."""
    greedy = GreedyModel(dialect)
    async with lab(greedy.far, provider=dialect.provider, ceilings=ceilings(ceiling)) as one:
        answered = await statuses(one, dialect, list(bodies))
        assert 200 in answered
        while 402 not in answered:
            answered = await statuses(one, dialect, [bodies[0]])
        assert ceiling <= spent(one) <= allowed(one, dialect, ceiling)
        assert all(list(limits_in(json.loads(got.body))) for got in one.far.got), "each left with a limit"


@each
async def test_twenty_requests_at_once_without_a_limit_stay_inside_the_ceiling(dialect: Dialect) -> None:
    """The exploit of issue 14: 25.60 USD were booked of an allowed 4."""
    await spend(dialect, *[dialect.ask("Think.")] * 20)


@each
async def test_a_text_of_one_token_for_each_byte_is_foreseen(dialect: Dialect) -> None:
    """Four bytes are a token of ordinary text only; an agent may write another."""
    await spend(dialect, *[dialect.ask("~" * 150_000) | {"max_tokens": 1, "max_output_tokens": 1}] * 20)


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("chat", {"n": 8, "max_completion_tokens": 16_000}),
        ("chat", {"n": 8.0, "max_completion_tokens": 16_000}),
        ("chat", {"best_of": "8", "max_tokens": 16_000}),
        ("chat", {"max_completion_tokens": 1, "max_tokens": 128_000}),
        ("chat", {"max_tokens": -1}),
        ("responses", {"max_output_tokens": 128_000.0}),
        ("responses", {"max_output_tokens": None}),
        ("responses", {"max_output_tokens": "128000"}),
        ("messages", {"max_tokens": 64_000, "thinking": {"type": "enabled", "budget_tokens": 63_000}}),
        ("generate", {"generationConfig": {"candidateCount": 8, "maxOutputTokens": 16_000}}),
        ("generate", {"generation_config": {"candidate_count": 8, "max_output_tokens": 16_000}}),
        ("generate", {"generationConfig": {"maxOutputTokens": "65536"}}),
        ("generate", {"generationConfig": {"thinkingConfig": {"thinkingBudget": 32_000}}}),
    ],
    ids=str,
)
async def test_whatever_is_written_about_its_length_is_foreseen(name: str, more: dict[str, Any]) -> None:
    dialect = DIALECTS[name]
    await spend(dialect, *[dialect.ask("Think.") | more] * 20)


@each
async def test_the_last_answer_is_cut_to_what_is_left(dialect: Dialect) -> None:
    await spend(dialect, dialect.ask("Think."), ceiling=CEILING // 40)


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("messages", {"max_tokens": "many"}),
        ("messages", {"max_tokens": True}),
        ("responses", {"max_output_tokens": 1.5}),
        ("responses", {"max_output_tokens": [128_000]}),
        ("chat", {"n": {"$gt": 1}}),
        ("generate", {"generationConfig": {"maxOutputTokens": float("nan")}}),
        ("generate", {"generationConfig": {"maxOutputTokens": 1}, "generation_config": {"maxOutputTokens": 65_536}}),
    ],
    ids=str,
)
async def test_a_length_that_two_readers_may_take_differently_is_refused(name: str, more: dict[str, Any]) -> None:
    dialect = DIALECTS[name]
    async with lab(provider=dialect.provider) as one:
        assert await statuses(one, dialect, [dialect.ask("Think.") | more]) == [400]
        assert one.far.got == []


@each
async def test_a_request_with_a_limit_that_fits_leaves_byte_for_byte(dialect: Dialect) -> None:
    body = dialect.ask("Think.") | in_its_shape(dialect, 5_000)
    async with lab(GreedyModel(dialect).far, provider=dialect.provider, ceilings=ceilings()) as one:
        assert await statuses(one, dialect, [body]) == [200]
        assert one.far.got[0].body == json.dumps(body).encode()
