"""A request is whole: what it names at the provider is refused, unless this very job received it."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from midwatch.gateway.metering import ANTHROPIC, GEMINI, OPENAI, Provider
from midwatch.gateway.metering.requests.answers_received import AnswersReceived
from midwatch.gateway.metering.requests.references import TABLE
from midwatch.gateway.model_access import ModelProxies
from midwatch.rules.budget.spending import Ceilings, Whose
from midwatch.terms.agents import ModelAccess
from midwatch.terms.orders import Limits
from tests.agents.model import FOREVER, Say
from tests.gateway.metering.greedy import DIALECTS
from tests.gateway.metering.lab import FarModel, Lab, answer, lab
from tests.gateway.metering.money_attacks import DEARER, NAMED_FAR, RESPONSES, user
from tests.gateway.metering.night import JOBS, spending_night


@pytest.mark.parametrize("name", NAMED_FAR)
async def test_what_is_named_at_the_provider_is_refused_with_what_to_send_instead(name: str) -> None:
    provider, path, body = NAMED_FAR[name]
    async with lab(provider=provider) as one:
        named = {} if provider is GEMINI else {"model": "gpt-5" if provider is OPENAI else "claude-sonnet-4-5"}
        heard = await one.ask(path, {**named, **body}, **one.key_of(provider))
        assert heard.status == 400
        assert heard.json()["error"]["message"].endswith(("instead.", "here."))
        assert one.far.got == []
        assert one.calls == []


def test_every_row_is_tried_by_one_of_these_requests() -> None:
    tried = [json.dumps(body) for _, _, body in NAMED_FAR.values()]
    words = {"A source of type url": "url", "An item reference": "item_reference"}
    rows = [row for row in TABLE if row.fate != "left out"]
    assert [row.field for row in rows if not any(f'"{words.get(row.field, row.field)}"' in one for one in tried)] == []
    assert all(row.source for row in TABLE)


@pytest.mark.parametrize(
    "more",
    [
        {"fallbacks": [{"model": "claude-opus-4-1"}]},
        {"fallback_credit_token": "token"},
        {"diagnostics": {"previous_message_id": "msg_of_another_job"}},
    ],
    ids=str,
)
async def test_what_changes_nothing_for_the_job_is_left_out(more: Mapping[str, Any]) -> None:
    body = {"model": "claude-sonnet-4-5", "max_tokens": 5, "messages": []}
    async with lab() as one:
        assert (await one.ask(body={**body, **more})).status == 200
        assert json.loads(one.far.got[0].body) == body


PATHS = [
    (ANTHROPIC, "/v1/messages/batches", "Batches"),
    (ANTHROPIC, "/v1/files", "Files"),
    (OPENAI, "/v1/batches", "Batches"),
    (OPENAI, "/v1/files", "Files"),
    (OPENAI, "/v1/uploads", "Files"),
    (OPENAI, "/v1/vector_stores/vs_1/search", "Files"),
    (OPENAI, "/v1/conversations/conv_1/items", "Conversations"),
    (OPENAI, "/v1/responses/resp_1/cancel", "Conversations"),
    (OPENAI, "/v1/responses/compact", "Conversations"),
    (OPENAI, "/v1/containers", "Containers"),
    (OPENAI, "/v1/fine_tuning/jobs", "Other models"),
    (GEMINI, "/v1beta/models/gemini-2.5-pro:batchGenerateContent", "Batches"),
    (GEMINI, "/v1beta/cachedContents", "Files"),
    (GEMINI, "/upload/v1beta/files", "Files"),
    (GEMINI, "/v1beta/interactions", "Conversations"),
    (GEMINI, "/v1beta/tunedModels/mine:generateContent", "Other models"),
]


@pytest.mark.parametrize(("provider", "path", "what"), PATHS, ids=lambda value: str(getattr(value, "name", value)))
async def test_a_path_that_keeps_or_postpones_something_says_what_to_do(
    provider: Provider, path: str, what: str
) -> None:
    async with lab(provider=provider) as one:
        heard = await one.ask(path, {}, **one.key_of(provider))
        assert heard.status == 404
        assert heard.json()["error"]["message"].startswith(f"{what} ")
        assert one.far.got == []


class KeepsAnswers:
    """A provider of Responses that keeps its answers, and bills what a request takes in by naming them."""

    def __init__(self) -> None:
        self.made = 1_000
        self.kept: dict[str, int] = {}

    async def talk(self, got: Any, _reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        said = json.loads(got.body)
        entry = len(got.body) + self.kept.get(str(said.get("previous_response_id")), 0)
        name = f"resp_{len(self.kept)}"
        self.kept[name] = entry + self.made
        usage = {"input_tokens": entry, "output_tokens": self.made}
        whole = {
            "id": name,
            "model": "gpt-5",
            "status": "completed",
            "output": [{"id": f"msg_{name}"}],
            "usage": usage,
        }
        if said.get("stream"):
            data = b"data: " + json.dumps({"type": "response.completed", "response": whole}).encode() + b"\n\n"
            writer.write(answer(data, kind="text/event-stream"))
        else:
            writer.write(answer(json.dumps(whole).encode()))
        await writer.drain()


async def ask(one: Lab, **more: Any) -> int:
    body = {"model": "gpt-5", "input": "Go on.", "max_output_tokens": 1_000, **more}
    return (await one.ask(RESPONSES, body, **one.key_of(OPENAI))).status


@pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])
async def test_an_answer_that_this_job_received_may_be_named_and_no_other(stream: bool) -> None:
    async with lab(FarModel(talk=KeepsAnswers().talk), provider=OPENAI) as one:
        assert await ask(one, previous_response_id="resp_0") == 400
        assert await ask(one, stream=stream) == 200
        assert await ask(one, stream=stream, previous_response_id="resp_0") == 200
        assert await ask(one, stream=stream, input=[{"type": "item_reference", "id": "msg_resp_1"}]) == 200
        assert await ask(one, stream=stream, input=[{"id": "msg_resp_0"}, user("More.")]) == 200
        assert await ask(one, previous_response_id="resp_9") == 400
        assert await ask(one, input=[{"type": "item_reference", "id": "msg_resp_9"}]) == 400
        assert len(one.far.got) == 4


async def test_an_answer_that_the_provider_does_not_keep_cannot_be_named() -> None:
    async with lab(FarModel(talk=KeepsAnswers().talk), provider=OPENAI) as one:
        assert await ask(one, store=False) == 200
        assert await ask(one, previous_response_id="resp_0") == 400


def test_a_later_attempt_of_a_job_may_name_what_an_earlier_one_received() -> None:
    """And a server that runs for weeks remembers no more than the latest jobs."""
    nothing: Any = None
    proxies = ModelProxies(nothing, nothing, nothing, nothing, nothing, nothing, b"k")
    access = ModelAccess(provider="openai", model="gpt-5", secret="model")
    first = proxies.received_by(proxies.grant("job_1", 1, "plan", access))
    assert proxies.received_by(proxies.grant("job_1", 2, "execute", access)) is first
    for number in range(2, 500):
        assert proxies.received_by(proxies.grant(f"job_{number}", 1, "plan", access)) is not first
    assert len(proxies.received) <= 100


async def test_a_key_for_repeated_requests_never_leaves() -> None:
    """A server that knows it may give another job's answer."""
    async with lab(provider=OPENAI) as one:
        key = one.key_of(OPENAI)
        fields = {**key["fields"], "Idempotency-Key": "another-jobs"}
        await one.ask(RESPONSES, {"model": "gpt-5", "input": "Hi"}, **{**key, "fields": fields})
        assert "another-jobs" not in (await one.far.has_got()).head


async def test_another_job_may_not_name_it() -> None:
    far = KeepsAnswers()
    async with lab(FarModel(talk=far.talk), provider=OPENAI) as one:
        assert await ask(one) == 200
    async with lab(FarModel(talk=far.talk), provider=OPENAI, job="another") as one:
        assert await ask(one, previous_response_id="resp_0") == 400


async def test_what_an_answer_brings_is_reserved_before_the_request_leaves() -> None:
    """Each names the one before, so that each takes in all that was said: the body is short and the bill is long."""
    ceiling = 4_000_000
    ceilings = {Whose.JOB: Ceilings(usd_micros=ceiling)}
    far = KeepsAnswers()
    async with lab(FarModel(talk=far.talk), provider=OPENAI, ceilings=ceilings) as one:
        assert await ask(one, input="~" * 200_000) == 200
        status, number = 200, 0
        while status == 200:
            statuses = await asyncio.gather(*(ask(one, previous_response_id=f"resp_{number}") for _ in range(10)))
            status, number = min(statuses), len(far.kept) - 1
        spent = one.ledger.budget(Whose.JOB, "job").spent.usd_micros
        last = max(call.usd_micros for call in one.calls)
        assert spent <= ceiling + last


def test_the_oldest_names_are_forgotten_first() -> None:
    received = AnswersReceived()
    for number in range(30_000):
        received.remember(f"resp_{number}", (), tokens=1, made=1)
    assert received.brought_by("resp_0") is None
    assert received.brought_by("resp_29999") is not None


@pytest.mark.parametrize("name", DEARER)
async def test_another_model_than_the_configured_one_is_refused_with_the_setting_that_allows_it(name: str) -> None:
    dialect, path, more = DEARER[name]
    spoken = DIALECTS[dialect]
    async with lab(provider=spoken.provider, models={spoken.model}) as one:
        heard = await one.ask(path, {**spoken.ask("Think."), **more}, **one.key_of(spoken.provider))
        assert heard.status == 400
        said = heard.json()["error"]["message"]
        assert "also_models" in said or said == "The request names two models."
        assert one.far.got == []


@pytest.mark.parametrize("name", DIALECTS)
async def test_what_headers_and_queries_say_about_a_model_never_leaves(name: str) -> None:
    dialect = DIALECTS[name]
    async with lab(provider=dialect.provider, models={dialect.model}) as one:
        key = one.key_of(dialect.provider)
        odd = {"x-model": "dear", "openai-model": "dear", "anthropic-model": "dear", "x-goog-model": "dear"}
        fields = {**key.get("fields", {}), **odd}
        path = f"{dialect.path}?model=dear&alt=sse"
        await one.ask(path, dialect.ask("Think."), **{**key, "fields": fields})
        got = await one.far.has_got()
        assert "dear" not in got.head


async def test_a_model_that_the_settings_list_beside_it_is_asked_at_its_own_price() -> None:
    async with lab(models={"claude-sonnet-4-5", "claude-3-5-haiku-latest"}) as one:
        for model in ("claude-sonnet-4-5", "claude-3-5-haiku-latest"):
            one.far.says = answer(
                json.dumps({"model": model, "usage": {"input_tokens": 100, "output_tokens": 100}}).encode()
            )
            assert (await one.ask(body={"model": model, "max_tokens": 100, "messages": []})).status == 200
        large, small = one.calls
        assert 0 < small.usd_micros < large.usd_micros


async def test_a_job_of_a_night_is_pinned_to_the_model_of_its_agent(database_url: str, tmp_path: Path) -> None:
    async with spending_night(database_url, tmp_path, Limits(usd=4)) as night:
        for job in JOBS[:2]:
            night.model.play(job, Say("Hm.", times=FOREVER), every=True)
        body: dict[str, object] = {"model": "claude-sonnet-4-5", "max_tokens": 10, "messages": []}
        assert (await night.ask(JOBS[0], body)).status_code == 200
        refused = await night.ask(JOBS[0], {**body, "model": "claude-opus-4-1"})
        assert refused.status_code == 400
        said = refused.json()["error"]["message"]
        assert said == (
            "The settings of this agent do not allow the model 'claude-opus-4-1'. "
            "To allow it, add it there to also_models."
        )
        assert {one.body["model"] for one in night.model.requests()} == {"claude-sonnet-4-5"}
