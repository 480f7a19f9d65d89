"""What an agent does that wants to spend: attacks on its budget and needs of honest work, for `make attacks`."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final

from midwatch.gateway.metering import ANTHROPIC, GEMINI, OPENAI, PriceList, Provider, TokenUsage
from midwatch.rules.budget.spending import Ceilings, Whose
from tests.gateway.metering.greedy import DIALECTS, DOLLAR, Dialect, GreedyModel, billed, in_its_shape, statuses
from tests.gateway.metering.lab import lab

FAR = "https://elsewhere.example/x"
MESSAGES, RESPONSES, CHAT = "/v1/messages", "/v1/responses", "/v1/chat/completions"
GENERATE = "/v1beta/models/gemini-2.5-pro:generateContent"
COUNT = "/v1beta/models/gemini-2.5-pro:countTokens"


def user(*content: object) -> dict[str, Any]:
    return {"role": "user", "content": list(content)}


def says(*content: object) -> dict[str, Any]:
    return {"messages": [user(*content)]}


def hears(*items: object) -> dict[str, Any]:
    return {"input": list(items)}


def shows(*parts: object) -> dict[str, Any]:
    return {"contents": [{"role": "user", "parts": list(parts)}]}


SHELL = {"type": "shell", "environment": {"type": "container_auto", "file_ids": ["file-1"]}}
NAMED_FAR: dict[str, tuple[Provider, str, dict[str, Any]]] = {
    "container": (ANTHROPIC, MESSAGES, {"container": "container_1"}),
    "mcp_servers": (ANTHROPIC, MESSAGES, {"mcp_servers": [{"type": "url", "url": FAR, "name": "x"}]}),
    "picture by url": (ANTHROPIC, MESSAGES, says({"type": "image", "source": {"type": "url", "url": FAR}})),
    "picture by file": (ANTHROPIC, MESSAGES, says({"type": "image", "source": {"type": "file", "file_id": "file_1"}})),
    "upload": (ANTHROPIC, MESSAGES, says({"type": "container_upload", "file_id": "file_1"})),
    "file in a result": (
        ANTHROPIC,
        MESSAGES,
        says({"type": "tool_result", "content": [{"type": "document", "source": {"type": "file", "file_id": "f"}}]}),
    ),
    "file when counted": (ANTHROPIC, f"{MESSAGES}/count_tokens", says({"type": "image", "source": {"file_id": "f"}})),
    "a tool's model": (ANTHROPIC, MESSAGES, {"tools": [{"type": "custom", "name": "x", "model": "claude-opus-4-1"}]}),
    "previous_response_id": (OPENAI, RESPONSES, {"previous_response_id": "resp_of_another_job"}),
    "previous_response_id in a list": (OPENAI, RESPONSES, {"previous_response_id": ["resp_1"]}),
    "conversation": (OPENAI, RESPONSES, {"conversation": "conv_1"}),
    "conversation as an object": (OPENAI, RESPONSES, {"conversation": {"id": "conv_1"}}),
    "prompt": (OPENAI, RESPONSES, {"prompt": {"id": "pmpt_1"}}),
    "prompt of a chat": (OPENAI, CHAT, {"prompt": {"id": "pmpt_1"}}),
    "moderation": (OPENAI, CHAT, {"moderation": {"model": "omni-moderation-latest"}}),
    "background": (OPENAI, RESPONSES, {"background": True}),
    "models": (OPENAI, CHAT, {"models": ["o1-pro"]}),
    "fallbacks": (OPENAI, CHAT, {"fallbacks": ["o1-pro"]}),
    "preset": (OPENAI, CHAT, {"preset": "dear"}),
    "plugins": (OPENAI, CHAT, {"plugins": [{"id": "web"}]}),
    "item": (OPENAI, RESPONSES, hears({"type": "item_reference", "id": "msg_1"})),
    "bare item": (OPENAI, RESPONSES, hears({"id": "msg_1"})),
    "item without a name": (OPENAI, RESPONSES, hears({"type": "item_reference"})),
    "generated picture": (OPENAI, RESPONSES, hears({"type": "image_generation_call", "id": "ig_1", "result": None})),
    "file": (OPENAI, RESPONSES, hears(user({"type": "input_file", "file_id": "file-1"}))),
    "picture's file": (OPENAI, RESPONSES, hears(user({"type": "input_image", "image_url": None, "file_id": "f"}))),
    "screenshot's file": (OPENAI, RESPONSES, hears({"type": "computer_call_output", "output": {"file_id": "f"}})),
    "file's address": (OPENAI, RESPONSES, hears(user({"type": "input_file", "file_url": FAR}))),
    "file of a chat": (OPENAI, CHAT, says({"type": "file", "file": {"file_id": "file-1"}})),
    "picture's address": (OPENAI, CHAT, says({"type": "image_url", "image_url": {"url": FAR}})),
    "film": (OPENAI, CHAT, says({"type": "video_url", "video_url": {"url": FAR}})),
    "sound's address": (OPENAI, CHAT, says({"type": "audio_url", "audio_url": {"url": FAR}})),
    "earlier sound": (OPENAI, CHAT, {"messages": [{"role": "assistant", "audio": {"id": "audio_1"}}]}),
    "vector stores": (OPENAI, RESPONSES, {"tools": [{"type": "file_search", "vector_store_ids": ["vs_1"]}]}),
    "a server among the tools": (OPENAI, RESPONSES, {"tools": [{"type": "mcp", "server_url": FAR}]}),
    "code in a container": (OPENAI, RESPONSES, {"tools": [{"type": "code_interpreter", "container": "cntr_1"}]}),
    "shell in a container": (OPENAI, RESPONSES, {"tools": [SHELL]}),
    "shell added later": (OPENAI, RESPONSES, hears({"type": "additional_tools", "tools": [SHELL]})),
    "shell that ran there": (
        OPENAI,
        RESPONSES,
        hears({"type": "shell_call", "environment": {"type": "container_reference", "container_id": "cntr_1"}}),
    ),
    "cachedContent": (GEMINI, GENERATE, {"cachedContent": "cachedContents/1"}),
    "cached_content": (GEMINI, GENERATE, {"cached_content": "cachedContents/1"}),
    "cache when counted": (GEMINI, COUNT, {"generateContentRequest": {"cachedContent": "cachedContents/1"}}),
    "fileData": (GEMINI, GENERATE, shows({"fileData": {"fileUri": "https://www.youtube.com/watch?v=1"}})),
    "file_data": (GEMINI, GENERATE, shows({"file_data": {"file_uri": "files/1"}})),
    "another model for it": (GEMINI, GENERATE, {"generationConfig": {"routingConfig": {"autoMode": {}}}}),
    "what is not known yet": (OPENAI, RESPONSES, {"source_conversation_id": "conv_1"}),
    "what is not known in another spelling": (GEMINI, GENERATE, {"previousResponseId": "x"}),
    "a memory": (ANTHROPIC, MESSAGES, {"memory_store_ids": ["mem_1"]}),
}


DEARER: dict[str, tuple[str, str, dict[str, Any]]] = {
    "another model": ("messages", MESSAGES, {"model": "claude-opus-4-1"}),
    "an alias": ("messages", MESSAGES, {"model": "opus"}),
    "another spelling": ("messages", MESSAGES, {"model": "Claude-Sonnet-4-5"}),
    "a dated one": ("messages", MESSAGES, {"model": "claude-sonnet-4-5-20250929"}),
    "another when counted": ("messages", f"{MESSAGES}/count_tokens", {"model": "claude-opus-4-1"}),
    "another response": ("responses", RESPONSES, {"model": "o1-pro"}),
    "a fine-tuned one": ("responses", RESPONSES, {"model": "ft:gpt-5:mine::1"}),
    "another chat": ("chat", CHAT, {"model": "gpt-5-pro"}),
    "another in the path": ("generate", GENERATE.replace("2.5-pro", "3-ultra"), {}),
    "another in path and body": ("generate", GENERATE, {"model": "models/gemini-3-ultra"}),
    "another in a part": ("generate", COUNT, {"generateContentRequest": {"model": "models/gemini-3-ultra"}}),
}

ALLOWANCE: Final = 4 * DOLLAR
Try = Callable[[], Awaitable[str]]
"""Returns what went wrong; nothing where an attack was stopped, or a need was met."""


def model_of(provider: Provider) -> dict[str, str]:
    """Name the usual model as this provider's requests do."""
    return {} if provider is GEMINI else {"model": "gpt-5" if provider is OPENAI else "claude-sonnet-4-5"}


def _naming(name: str) -> Try:
    async def attack() -> str:
        provider, path, body = NAMED_FAR[name]
        async with lab(provider=provider) as one:
            heard = await one.ask(path, {**model_of(provider), **body}, **one.key_of(provider))
            return f"it left, and was answered {heard.status}" if one.far.got else ""

    return attack


def _asking(name: str) -> Try:
    async def attack() -> str:
        dialect, path, more = DEARER[name]
        spoken = DIALECTS[dialect]
        async with lab(provider=spoken.provider, models={spoken.model}) as one:
            await one.ask(path, {**spoken.ask("Think."), **more}, **one.key_of(spoken.provider))
            return "another model was asked" if one.far.got else ""

    return attack


def _storming(dialect: Dialect, body: dict[str, Any]) -> Try:
    async def attack() -> str:
        ceilings = {Whose.JOB: Ceilings(usd_micros=ALLOWANCE)}
        async with lab(GreedyModel(dialect).far, provider=dialect.provider, ceilings=ceilings) as one:
            answered = [await statuses(one, dialect, [body] * 50) for _ in range(3)]
            if not one.far.got:
                return f"it proves nothing: the answers were {set(answered[0])}"
            largest = TokenUsage(cache_write=max(billed(got.body)[0] for got in one.far.got) + 2_000, output=4_096)
            booked = one.ledger.budget(Whose.JOB, "job").spent.usd_micros
            allowed = ALLOWANCE + PriceList().usd_micros(dialect.provider, dialect.model, largest)
            return f"{booked / DOLLAR:.2f} USD were booked of 4" if booked > allowed else ""

    return attack


def _working(dialect: Dialect) -> Try:
    async def need() -> str:
        async with lab(GreedyModel(dialect).far, provider=dialect.provider, models={dialect.model}) as one:
            answered = await statuses(one, dialect, [dialect.ask("Think.") | in_its_shape(dialect, 500)] * 4)
            return "" if answered == [200] * 4 else f"it was answered {answered}"

    return need


SPENDING: Final[dict[str, Try]] = {
    **{f"name at the provider: {name}": _naming(name) for name in NAMED_FAR},
    **{f"ask another model: {name}": _asking(name) for name in DEARER},
    **{f"fifty at once without a limit: {name}": _storming(one, one.ask("Think.")) for name, one in DIALECTS.items()},
    **{f"fifty dear texts at once: {name}": _storming(one, one.ask("~" * 150_000)) for name, one in DIALECTS.items()},
}
HONEST: Final[dict[str, Try]] = {f"ask its own model: {name}": _working(one) for name, one in DIALECTS.items()}


def tried(one: Try) -> str:
    """Carry it out in a loop of its own."""

    async def run() -> str:
        return await one()

    return asyncio.run(run())


def prepare() -> None:
    """Ask once, which loads what requests need: a copy for another user holds only what is loaded."""
    tried(HONEST["ask its own model: messages"])
