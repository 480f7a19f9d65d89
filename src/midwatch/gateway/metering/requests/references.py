"""What a request may name that is not in it: it is at the provider, so its cost and its owner are unknown."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from midwatch.gateway.metering.providers import Shape
from midwatch.gateway.metering.requests.content import Said, snake_case

_MESSAGES: Final = "anthropics/anthropic-sdk-python 009b0353 (2026-08-07), types/beta/message_create_params.py"
_BLOCKS: Final = "the same, types/beta/beta_content_block_param.py and its sources"
_RESPONSES: Final = "openai/openai-python e43b4224 (2026-08-21), types/responses/response_create_params.py"
_ITEMS: Final = "the same, types/responses/response_input_item_param.py"
_CHAT: Final = "the same, types/chat/completion_create_params.py and chat_completion_content_part_*_param.py"
_ROUTER: Final = "openrouter.ai/docs/features/model-routing, /provider-routing, /presets, /web-search"
_GENERATE: Final = "googleapis/python-genai 66807187 (2026-08-21), models.py _GenerateContentConfig_to_mldev"
_PARTS: Final = "the same, types.py Part and FileData; a file's address may be any, also of a film"

Find = Callable[[Said], object]
"""Returns what is named, or nothing."""


@dataclass(frozen=True, slots=True)
class Reference:
    """One way in which a request may name what is not in it."""

    shape: Shape
    place: Literal["request", "content"]
    field: str
    find: Find
    what: str
    instead: str
    """What to send, or to set."""
    source: str
    fate: Literal["refused", "left out", "ours"] = "refused"
    """Ours may be named where this very job received it; what is left out changes nothing for the job."""

    @property
    def sentence(self) -> str:
        return f"{self.field} {self.what}; {self.instead} instead."


def _field(name: str) -> Find:
    return lambda said: said.get(name) or None


def _address(name: str) -> Find:
    def found(part: Said) -> object:
        value = part.get(name)
        return value if value is not None and not _brought(value) else None

    return found


def _brought(address: object) -> bool:
    """Return whether an address contains its own content."""
    url = address.get("url") if isinstance(address, Mapping) else address
    return url is None or (isinstance(url, str) and url[:5].lower() == "data:")


def _source(kind: str) -> Find:
    return lambda part: part if part.get("type") == kind else None


def _gemini_file(name: str) -> Find:
    def found(part: Said) -> object:
        file = part.get(name)
        return (file.get("fileUri") or file.get("file_uri") or None) if isinstance(file, Mapping) else None

    return found


def _item(part: Said) -> object:
    """Find an item that has nothing but its name; its type may be left out."""
    kind = part.get("type")
    bare = kind is None and "id" in part and not {"role", "content", "text"} & part.keys()
    return part.get("id", "") if kind == "item_reference" or bare else None


def _picture_made_before(part: Said) -> object:
    made = part.get("type") == "image_generation_call" and not part.get("result")
    return part.get("id", "") if made else None


def _environment(part: Said) -> object:
    """Find where a shell's command ran or is to run, unless it is the job's own machine."""
    where = part.get("environment")
    named = str(part.get("type")).startswith("shell") and where is not None
    return where if named and not (isinstance(where, Mapping) and where.get("type") == "local") else None


_COMMANDS: Final = "have the agent run its commands in its own sandbox"
_CONTENT: Final = "send the content itself, as text or as base64 data,"
_WHOLE: Final = "send the whole conversation in the request"
_PIN: Final = "list the model in also_models of the agent and send a request to it"

TABLE: Final = (
    Reference(
        "anthropic",
        "request",
        "container",
        _field("container"),
        "names a place at the provider where code runs",
        _COMMANDS,
        _MESSAGES,
    ),
    Reference(
        "anthropic",
        "request",
        "mcp_servers",
        _field("mcp_servers"),
        "names servers that the provider would ask itself",
        "have the agent ask them",
        _MESSAGES,
    ),
    # Claude Code may send the next three, so they are taken out rather than refused.
    Reference(
        "anthropic",
        "request",
        "fallbacks",
        _field("fallbacks"),
        "names other models for answers that are declined",
        _PIN,
        _MESSAGES,
        "left out",
    ),
    Reference(
        "anthropic",
        "request",
        "fallback_credit_token",
        _field("fallback_credit_token"),
        "names an earlier request",
        "send the request without it",
        _MESSAGES,
        "left out",
    ),
    Reference(
        "anthropic",
        "request",
        "diagnostics",
        _field("diagnostics"),
        "names an earlier request to be compared with",
        "send the request without it",
        _MESSAGES,
        "left out",
    ),
    Reference(
        "anthropic", "content", "A source of type url", _source("url"), "is fetched by the provider", _CONTENT, _BLOCKS
    ),
    Reference(
        "anthropic",
        "content",
        "file_id",
        _field("file_id"),
        "names a file that is kept at the provider",
        _CONTENT,
        _BLOCKS,
    ),
    Reference(
        "openai",
        "request",
        "previous_response_id",
        _field("previous_response_id"),
        "names an answer that this job has not received",
        _WHOLE,
        _RESPONSES,
        "ours",
    ),
    Reference(
        "openai",
        "request",
        "conversation",
        _field("conversation"),
        "names a conversation that is kept at the provider",
        _WHOLE,
        _RESPONSES,
    ),
    Reference(
        "openai",
        "request",
        "prompt",
        _field("prompt"),
        "names a prompt that is kept at the provider, which may bring its own tools and model",
        "send its text as instructions",
        _RESPONSES,
    ),
    Reference(
        "openai",
        "request",
        "moderation",
        _field("moderation"),
        "asks another model",
        "send the request without it",
        f"{_RESPONSES}; chat/completion_create_params.py",
    ),
    *(
        Reference("openai", "request", name, _field(name), what, instead, _ROUTER)
        for name, what, instead in (
            ("models", "names other models", _PIN),
            ("fallbacks", "names other models", _PIN),
            ("preset", "names settings that are kept at the provider", "send the settings themselves"),
            ("plugins", "names what the provider would run itself", _COMMANDS),
        )
    ),
    Reference(
        "openai",
        "content",
        "An item reference",
        _item,
        "names a part of an answer that this job has not received",
        _WHOLE,
        _ITEMS,
        "ours",
    ),
    Reference(
        "openai",
        "content",
        "image_generation_call",
        _picture_made_before,
        "names a picture that is kept at the provider",
        _CONTENT,
        _ITEMS,
    ),
    Reference(
        "openai",
        "content",
        "environment",
        _environment,
        "names a place at the provider where code runs",
        _COMMANDS,
        f"{_ITEMS}; function_shell_tool_param.py",
    ),
    *(
        Reference("openai", "content", name, _address(name), "is fetched by the provider", _CONTENT, source)
        for name, source in (
            ("image_url", f"{_ITEMS}; {_CHAT}"),
            ("file_url", _ITEMS),
            ("video_url", _ROUTER),
            ("audio_url", _ROUTER),
        )
    ),
    Reference(
        "openai",
        "content",
        "file_id",
        _field("file_id"),
        "names a file that is kept at the provider",
        _CONTENT,
        f"{_ITEMS}; {_CHAT}",
    ),
    Reference(
        "openai",
        "content",
        "audio",
        _field("audio"),
        "names sound of an earlier answer that is kept at the provider",
        "send its text",
        "the same, types/chat/chat_completion_assistant_message_param.py",
    ),
    *(
        Reference(
            "gemini", "request", name, _field(name), "names content that is kept at the provider", _WHOLE, _GENERATE
        )
        for name in ("cachedContent", "cached_content")
    ),
    *(
        Reference(
            "gemini",
            "content",
            name,
            _gemini_file(name),
            "is fetched by the provider, or names a file that is kept there",
            "send the content itself as inlineData",
            _PARTS,
        )
        for name in ("fileData", "file_data")
    ),
)
"""Each provider's references; its tools and MCP servers among the tools are in `body_rules.py`."""

_KEPT: Final = (
    "agent",
    "assistant",
    "batch",
    "cache",
    "container",
    "conversation",
    "environment",
    "file",
    "memory_store",
    "message",
    "prompt",
    "response",
    "skill",
    "thread",
    "vector_store",
)
_UNKNOWN: Final = re.compile(rf"(?:.*_)?(?:{'|'.join(_KEPT)})_(?:ids?|uris?|urls?)")
"""What the next reference will be called, before it has a row: providers add them oftener than this table changes."""


def refused_references(shape: Shape, said: Said, parts: Iterable[Said]) -> Iterator[str]:
    """Say what a request names that is refused wherever it comes from."""
    for row, _ in _found(shape, said, parts, "refused"):
        yield row.sentence
    known = {row.field for row in TABLE if row.shape == shape and row.place == "request"}
    for name, value in said.items():
        if value and name not in known and _UNKNOWN.fullmatch(snake_case(name)):
            yield f"{name[:60]} names something that is kept at the provider; {_WHOLE} instead."


def names_of_answers(shape: Shape, said: Said, parts: Iterable[Said]) -> list[tuple[Reference, object]]:
    """Return the names of earlier answers, and of parts of them, that a request refers to."""
    return list(_found(shape, said, parts, "ours"))


def left_out(shape: Shape, said: Said) -> list[str]:
    """Return the fields that are taken out before a request is sent."""
    return [row.field for row, _ in _found(shape, said, (), "left out")]


def _found(shape: Shape, said: Said, parts: Iterable[Said], fate: str) -> Iterator[tuple[Reference, object]]:
    rows = [row for row in TABLE if row.shape == shape and row.fate == fate]
    places: dict[str, list[Said]] = {"request": [said], "content": list(parts)}
    for row in rows:
        for one in places[row.place]:
            value = row.find(one)
            if value is not None:
                yield row, value


_ANY: Final = "(?:/.*)?"
_ELSEWHERE: Final = (
    (
        rf"/v1/(?:messages/)?batches{_ANY}|.*:batch\w+|/v1beta/batches{_ANY}",
        "Batches are answered later and billed by themselves; send each request by itself instead.",
    ),
    (
        rf"/v1/(?:files|uploads|vector_stores){_ANY}|(?:/upload)?/v1beta/(?:files|cachedContents|fileSearchStores|corpora){_ANY}",
        "Files and caches are kept at the provider; send their content in each request instead.",
    ),
    (
        rf"/v1/(?:conversations|threads|assistants|responses/.+){_ANY}|/v1(?:beta)?/(?:interactions|sessions|agents|environments){_ANY}",
        "Conversations are kept at the provider; send the whole conversation in each request instead.",
    ),
    (rf"/v1/(?:containers|skills){_ANY}", f"Containers run code at the provider; {_COMMANDS} instead."),
    (
        rf"/v1/(?:fine_tuning|images|audio|videos|embeddings|moderations|realtime|evals){_ANY}|/v1beta/tunedModels{_ANY}",
        "Other models than the configured one have no price here; ask that one instead.",
    ),
)
"""Paths of the providers where something is kept, runs or is answered later (their API references, 2026-08)."""


def kept_at(path: str) -> str:
    """Say why a path is not available, and what to do instead; empty where it is none of these."""
    return next((why for pattern, why in _ELSEWHERE if re.fullmatch(pattern, path, re.ASCII)), "")
