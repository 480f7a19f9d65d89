"""The scripted model tells the truth about itself: otherwise nothing measured with it would mean anything."""

import gzip
import json
import subprocess
import zlib
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx
import pytest

from midwatch.terms.agents import Tokens
from tests.agents.model import (
    Fault,
    Garbage,
    HangUp,
    Model,
    Read,
    Say,
    Shell,
    Write,
    model_in_a_thread,
    refused_port,
    scripted_model,
)
from tests.agents.sealed import Sealed, SealingFailed, sealed_network
from tests.conftest import missing

USED = Tokens(input=11, output=7, cache_read=5, cache_write=3)
FOLDED = Tokens(input=14, output=7, cache_read=5)
PATHS = {
    "anthropic": "/v1/messages",
    "responses": "/v1/responses",
    "chat": "/v1/chat/completions",
    "gemini": "/v1beta/models/gemini-x:streamGenerateContent",
}


@pytest.fixture
async def model() -> AsyncIterator[Model]:
    async with scripted_model() as serving:
        yield serving


def tools(api: str) -> list[dict[str, Any]]:
    shape = {"type": "object", "properties": {"command": {"type": "string"}}}
    offers: dict[str, list[dict[str, Any]]] = {
        "anthropic": [{"name": "Bash", "input_schema": shape}],
        "responses": [{"type": "function", "name": "shell_command", "parameters": shape}],
        "chat": [{"type": "function", "function": {"name": "bash", "parameters": shape}}],
        "gemini": [{"functionDeclarations": [{"name": "run_shell_command", "parameters": shape}]}],
    }
    return offers[api]


async def ask(model: Model, api: str, key: str, **more: Any) -> httpx.Response:
    body = {"model": "scripted", "stream": True, "tools": tools(api), "stream_options": {"include_usage": True}} | more
    async with httpx.AsyncClient(base_url=model.url) as client:
        return await client.post(PATHS[api], json=body, headers={"x-api-key": key})


async def all_that_arrives(client: httpx.AsyncClient, api: str, key: str) -> bytes:
    """Read a stream that is cut off."""
    body = {"model": "scripted", "stream": True, "tools": tools(api), "stream_options": {"include_usage": True}}
    arrived = b""
    async with client.stream("POST", PATHS[api], json=body, headers={"x-api-key": key}) as answer:
        try:
            async for some in answer.aiter_raw():
                arrived += some
        except httpx.RemoteProtocolError:
            return arrived
    pytest.fail("The stream was not cut.")


def whole_events(data: bytes) -> list[dict[str, Any]]:
    blocks = data.split(b"\n\n")[:-1]
    lines = [line for block in blocks for line in block.split(b"\n") if line.startswith(b"data: {")]
    return [json.loads(line.removeprefix(b"data: ")) for line in lines]


def read_usage(api: str, events: list[dict[str, Any]]) -> Tokens:
    """A reader of our own, as plain as can be: the last numbers seen."""
    seen = Tokens()
    for event in events:
        if api == "anthropic" and (event["type"] in ("message_start", "message_delta")):
            usage = event.get("usage") or event["message"]["usage"]
            seen = Tokens(
                input=usage["input_tokens"],
                output=usage["output_tokens"],
                cache_read=usage["cache_read_input_tokens"],
                cache_write=usage["cache_creation_input_tokens"],
            )
        elif api == "responses" and event["type"] == "response.completed":
            usage = event["response"]["usage"]
            cached = usage["input_tokens_details"]["cached_tokens"]
            seen = Tokens(input=usage["input_tokens"] - cached, output=usage["output_tokens"], cache_read=cached)
        elif api == "chat" and event.get("usage"):
            usage = event["usage"]
            cached = usage["prompt_tokens_details"]["cached_tokens"]
            seen = Tokens(input=usage["prompt_tokens"] - cached, output=usage["completion_tokens"], cache_read=cached)
        elif api == "gemini":
            usage = event["usageMetadata"]
            cached = usage["cachedContentTokenCount"]
            prompt = usage["promptTokenCount"] - cached
            seen = Tokens(input=prompt, output=usage["candidatesTokenCount"], cache_read=cached)
    return seen


@pytest.mark.parametrize("api", PATHS)
async def test_a_whole_answer_is_counted_as_it_is_told(model: Model, api: str) -> None:
    key = model.play("whole", Say("Some words, more than one piece of them.", do=(Shell("true"),), usage=USED))
    answer = await ask(model, api, key)
    assert answer.status_code == 200
    assert "true" in answer.text
    assert model.told("whole") == read_usage(api, whole_events(answer.content))
    assert model.told("whole") == (USED if api == "anthropic" else FOLDED)
    assert model.made("whole") == USED
    assert model.requests("whole")[0].whole


@pytest.mark.parametrize("api", PATHS)
async def test_an_answer_cut_anywhere_is_counted_by_what_arrived(model: Model, api: str) -> None:
    say = Say("Some words, more than one piece of them.", usage=USED)
    full = await ask(model, api, model.play("full", say))
    async with httpx.AsyncClient(base_url=model.url) as client:  # one for all: making one takes longer than a request
        for cut in range(0, len(full.content) + 1, 13):
            key = model.play("cut", Say(say.text, usage=USED, cut=cut))
            arrived = await all_that_arrives(client, api, key)
            assert len(arrived) == cut
            assert model.told("cut") == read_usage(api, whole_events(arrived))
            assert model.requests("cut")[0].sent == cut
            assert not model.requests("cut")[0].whole


@pytest.mark.parametrize("api", PATHS)
async def test_a_compressed_stream_says_the_same(model: Model, api: str) -> None:
    key = model.play("packed", Say("Some words.", usage=USED, encoding="gzip"))
    answer = await ask(model, api, key)
    assert answer.headers["content-encoding"] == "gzip"
    assert model.told("packed") == read_usage(api, whole_events(answer.content))
    assert zlib.decompress(gzip.compress(answer.content), wbits=31) == answer.content


@pytest.mark.parametrize("api", PATHS)
async def test_an_answer_at_once_carries_the_same_numbers(model: Model, api: str) -> None:
    key = model.play("once", Say("Some words.", usage=USED))
    path = PATHS[api].replace("streamGenerateContent", "generateContent")
    async with httpx.AsyncClient(base_url=model.url) as client:
        body = {"model": "scripted", "tools": tools(api)}
        answer = await client.post(path, json=body, headers={"authorization": f"Bearer {key}"})
    assert "Some words." in answer.text
    assert model.made("once") == USED
    assert str(USED.output) in answer.text


async def test_steps_are_played_in_turn_and_side_calls_do_not_use_them_up(model: Model) -> None:
    key = model.play("turn", Fault(429, times=2), Say("Then this."))
    first = await ask(model, "anthropic", key)
    side = await ask(model, "anthropic", key, tools=[])
    second = await ask(model, "anthropic", key)
    third = await ask(model, "anthropic", key)
    assert [first.status_code, side.status_code, second.status_code, third.status_code] == [429, 200, 429, 200]
    assert [asked.main for asked in model.requests("turn")] == [True, False, True, True]
    assert "Done." in (await ask(model, "anthropic", key)).text


ANSWERED: dict[str, list[dict[str, Any]]] = {
    "messages": [{"role": "assistant", "content": "One."}, {"role": "user", "content": "ok"}],
    "input": [
        {"type": "reasoning", "summary": []},
        {"type": "message", "role": "assistant", "content": "One."},
        {"type": "function_call", "name": "shell"},
        {"type": "function_call_output", "output": "ok"},
    ],
}
"""An answer and what came back, as two APIs repeat them."""


@pytest.mark.parametrize(("api", "field"), [("anthropic", "messages"), ("responses", "input"), ("chat", "messages")])
async def test_a_step_may_follow_from_the_conversation_instead_of_what_was_asked_before(
    model: Model, api: str, field: str
) -> None:
    steps = [Say(f"Step {number}.") for number in range(4)]
    key = model.play("job", *steps, final=Say("Enough."), opening=("Make a plan", 2))
    plan, work = {"role": "user", "content": "Make a plan."}, {"role": "user", "content": "Do it."}
    talks = [[plan], [plan], [plan, *ANSWERED[field]], [work], [work, *ANSWERED[field]], [work, *ANSWERED[field] * 2]]
    said = [(await ask(model, api, key, stream=False, **{field: talk})).text for talk in talks]
    for text, words in zip(said, ("Step 0.", "Step 0.", "Step 1.", "Step 2.", "Step 3.", "Enough."), strict=True):
        assert words in text


async def test_a_stranger_is_refused_and_an_address_names_the_script_too(model: Model) -> None:
    assert (await ask(model, "anthropic", "sk-somebody")).status_code == 401
    model.play("by-address", Say("Found."))
    async with httpx.AsyncClient() as client:
        url = model.address("by-address") + "/v1/messages"
        answer = await client.post(
            url, json={"model": "m", "tools": tools("anthropic")}, headers={"x-api-key": "other"}
        )
    assert "Found." in answer.text


async def test_what_is_held_back_comes_when_it_is_let_go(model: Model) -> None:
    key = model.play("held", Say("A long enough text to be held in the middle.", hold=50))
    async with httpx.AsyncClient(base_url=model.url) as client:
        body = {"model": "m", "stream": True, "tools": tools("anthropic")}
        async with client.stream("POST", "/v1/messages", json=body, headers={"x-api-key": key}) as answer:
            asked = await model.asked("held")
            await model.sending(asked, 50)
            assert asked.sent == 50
            model.release("held")
            assert b"message_stop" in await answer.aread()


async def test_no_answer_and_no_sense_are_what_they_say(model: Model) -> None:
    key = model.play("odd", HangUp(times=1), Garbage())
    with pytest.raises(httpx.RemoteProtocolError):
        await ask(model, "anthropic", key)
    assert b"not the model" in (await ask(model, "anthropic", key)).content
    with pytest.raises(httpx.ConnectError):
        async with httpx.AsyncClient() as client:
            await client.get(f"http://127.0.0.1:{refused_port()}")


async def test_actions_become_the_tools_that_were_offered(model: Model) -> None:
    key = model.play("acts", Say(do=(Shell("ls"), Write("a.txt", "text"), Read("b.txt"))))
    offer: list[dict[str, Any]] = [
        {"name": name, "input_schema": {"properties": {"filePath": {}}}} for name in ("bash", "write", "read")
    ]
    answer = await ask(model, "anthropic", key, tools=offer, stream=False)
    calls = [(block["name"], block["input"]) for block in answer.json()["content"]]
    assert calls == [
        ("bash", {"command": "ls"}),
        ("write", {"filePath": "a.txt", "content": "text"}),
        ("read", {"filePath": "b.txt"}),
    ]


def test_it_serves_from_a_thread() -> None:
    with model_in_a_thread() as model:
        key = model.play("thread", Say("From a thread."), every=True)
        answer = httpx.post(f"{model.url}/v1/messages", json={"model": "m"}, headers={"x-api-key": key})
        assert "From a thread." in answer.text
        assert len(model.requests("thread")) == 1


@pytest.fixture
def sealed() -> Iterator[Sealed]:
    try:
        with sealed_network() as network:
            yield network
    except SealingFailed as problem:
        missing("netns", str(problem))


def test_a_sealed_network_holds_the_model_and_writes_down_what_looks_outside(sealed: Sealed) -> None:
    with model_in_a_thread(sealed.listen()) as model:
        key = model.play("inside", Say("You are inside."), every=True)
        fetch = "import sys,urllib.request as u;print(u.urlopen(u.Request(*eval(sys.argv[1]))).read())"
        request = (f"{model.url}/v1/messages", b'{"model": "m"}', {"x-api-key": key})
        inside = [*sealed.enter, "python3", "-c", fetch]
        done = subprocess.run([*inside, repr(request)], capture_output=True, text=True, check=True)
        assert "You are inside." in done.stdout
        assert (sealed.names(), sealed.strays()) == ([], 0)
        assert subprocess.run([*inside, "('http://outside.example/',)"], capture_output=True, check=False).returncode
        assert "outside.example" in sealed.names()
        assert subprocess.run([*inside, "('http://10.9.8.7/',)"], capture_output=True, check=False).returncode
        assert sealed.strays() == 1
