"""What a provider bills besides ordinary tokens is booked as it reports it, or cannot be asked for."""

import json
from typing import Any

import pytest

from midwatch.gateway.metering import ANTHROPIC, GEMINI, OPENAI, PROVIDERS, Provider, TokenUsage
from tests.gateway.metering.greedy import DIALECTS
from tests.gateway.metering.lab import FarModel, answer, lab

RUNS = [
    {"type": "compaction", "input_tokens": 1000, "cache_read_input_tokens": 7, "output_tokens": 300},
    {"type": "message", "input_tokens": 20, "output_tokens": 10},
]


async def booked(name: str, said: dict[str, Any], **fields: str) -> tuple[TokenUsage, int]:
    """Have a provider answer with this, and tell what was booked."""
    dialect = DIALECTS[name]
    far = FarModel(answer(json.dumps(said).encode(), **fields))
    async with lab(far, provider=dialect.provider) as one:
        await one.ask(dialect.path, dialect.ask("Hi."), **one.key_of(dialect.provider))
        call = await one.call()
        return call.usage, call.usd_micros


async def test_every_run_of_the_model_counts_also_those_that_the_sum_leaves_out() -> None:
    usage = {"input_tokens": 20, "output_tokens": 10, "iterations": RUNS}
    used, _ = await booked("messages", {"model": "claude-sonnet-4-5", "usage": usage})
    assert used == TokenUsage(input=1020, output=310, cache_read=7)


@pytest.mark.parametrize(
    ("name", "usage"),
    [
        (
            "responses",
            {"input_tokens": 1000, "input_tokens_details": {"cached_tokens": 100, "cache_write_tokens": 600}},
        ),
        ("chat", {"prompt_tokens": 1000, "prompt_tokens_details": {"cached_tokens": 100, "cache_write_tokens": 600}}),
    ],
)
async def test_what_is_written_into_a_cache_costs_more(name: str, usage: dict[str, Any]) -> None:
    used, cost = await booked(name, {"model": "gpt-6-sol", "usage": usage})
    assert used == TokenUsage(input=300, cache_read=100, cache_write=600)
    assert cost == (300 * 2_000_000 + 100 * 200_000 + 600 * 2_500_000) // 1_000_000


@pytest.mark.parametrize("tier", ["default", "auto", "standard", None, "priority", "flex"])
async def test_a_tier_that_a_project_is_set_to_costs_what_it_costs(tier: str | None) -> None:
    usage = {"input_tokens": 200_000, "output_tokens": 1_000_000}
    _, cost = await booked("responses", {"model": "gpt-6.1-terra", "service_tier": tier, "usage": usage})
    assert cost == {"priority": 10_400_000, "flex": 2_600_000}.get(str(tier), 5_200_000)


async def test_answers_made_in_one_country_cost_more() -> None:
    usage = {"input_tokens": 1000, "output_tokens": 0, "inference_geo": "us"}
    _, cost = await booked("messages", {"model": "claude-opus-4-6", "usage": usage})
    assert cost == 5500


async def test_a_second_model_for_answers_that_are_declined_is_left_out() -> None:
    body = {"model": "claude-sonnet-4-5", "max_tokens": 5, "messages": [], "fallbacks": [{"model": "claude-opus-4-1"}]}
    async with lab() as one:
        assert (await one.ask(body=body)).status == 200
        del body["fallbacks"]
        assert json.loads(one.far.got[0].body) == body


PAID_ELSEWHERE = {
    "anthropic": ("/v1/messages/batches", "/v1/files", "/v1/complete", "/v1/skills", "/v1/agents", "/v1/sessions"),
    "openai": (
        *(
            "/v1/completions",
            "/v1/embeddings",
            "/v1/batches",
            "/v1/files",
            "/v1/images/generations",
            "/v1/images/edits",
        ),
        *("/v1/audio/speech", "/v1/audio/transcriptions", "/v1/moderations", "/v1/fine_tuning/jobs", "/v1/evals"),
        *(
            "/v1/vector_stores",
            "/v1/assistants",
            "/v1/threads/runs",
            "/v1/conversations",
            "/v1/containers",
            "/v1/videos",
        ),
        *("/v1/responses/compact", "/v1/responses/resp_1/cancel", "/v1/realtime/client_secrets", "/v1/uploads"),
    ),
    "gemini": (
        *(f"/v1beta/models/gemini-2.5-pro:{act}" for act in ("embedContent", "batchGenerateContent", "predict")),
        *("/v1beta/cachedContents", "/v1beta/interactions", "/v1beta/tunedModels/x:generateContent", "/v1beta/batches"),
        *("/upload/v1beta/files", "/v1beta/fileSearchStores", "/v1beta/models/veo-3:predictLongRunning"),
    ),
}


@pytest.mark.parametrize("provider", PROVIDERS.values(), ids=lambda one: one.name)
async def test_other_paths_that_cost_money_are_not_there(provider: Provider) -> None:
    async with lab(provider=provider) as one:
        for path in PAID_ELSEWHERE[provider.name]:
            heard = await one.ask(path, {"model": "m"}, **one.key_of(provider))
            assert heard.status == 404, path
        assert one.far.got == []


def test_every_provider_is_asked_about() -> None:
    assert {one.name for one in (ANTHROPIC, OPENAI, GEMINI)} == set(PROVIDERS) == set(PAID_ELSEWHERE)
