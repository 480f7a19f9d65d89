"""What a request may not ask of a provider: to fetch, send or run things itself, or to charge another price."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeGuard

from midwatch.gateway.metering.providers import Shape

Said = Mapping[str, Any]

_NEVER: Final[Mapping[Shape, tuple[str, ...]]] = {
    "anthropic": ("mcp_servers", "container"),
    # A stored prompt brings tools and addresses that are not in the request; a router's fields bring other models.
    "openai": ("web_search_options", "prompt", "models", "fallbacks", "plugins", "preset"),
    "gemini": (),
}
_SPOKEN: Final[Mapping[Shape, tuple[str, ...]]] = {
    "anthropic": ("system", "messages"),
    "openai": ("instructions", "messages", "input"),
    "gemini": ("systemInstruction", "system_instruction", "contents"),
}
_INWARD: Final[Mapping[Shape, tuple[str, ...]]] = {
    "anthropic": ("content", "source"),
    "openai": ("content", "output", "file"),
    "gemini": ("parts", "functionResponse", "function_response"),
}
"""Where content holds more content; a model's arguments to a tool are not content, and never inspected."""
CLIENT_RUN: Final = ("bash_", "text_editor_", "memory_", "computer_")
_OPENAI_TOOLS: Final = frozenset({"function", "custom", "local_shell", "shell", "apply_patch"})
_GEMINI_TOOLS: Final = frozenset({"functionDeclarations", "function_declarations"})
_ADDRESSES: Final = ("image_url", "file_url", "video_url", "audio_url")
_FILES: Final = ("fileData", "file_data")
_URIS: Final = ("fileUri", "file_uri")
_WITHIN: Final = ("generateContentRequest", "generate_content_request")
_SEARCHING: Final = re.compile(r"-search-(preview|api)")
_USUAL: Final[Mapping[str, tuple[object, ...]]] = {
    "service_tier": (None, "auto", "default", "standard", "standard_only", "SERVICE_TIER_STANDARD"),
    "serviceTier": (None, "auto", "default", "standard", "SERVICE_TIER_STANDARD"),
    "speed": (None, "standard"),
    "inference_geo": (None, "global"),
    "background": (None, False),
    "prediction": (None,),
    "audio": (None,),
    "modalities": (None, ["text"]),
}
"""What a request may say about how it is served; anything else has another price, or one that is known too late."""
_USUAL_CONFIG: Final[Mapping[str, tuple[object, ...]]] = {
    "responseModalities": (None, ["TEXT"], ["Text"], ["text"]),
    "speechConfig": (None,),
    "imageConfig": (None,),
}
"""The same of Gemini's `generationConfig`."""
_MEDIA: Final = ("audio/", "video/")
_SOUNDS: Final = ("input_audio", "audio_url", "video_url", "input_video")
_CLEARING: Final = "clear_"
"""Edits of a context that only leave something out; others have the model write a summary, in a request of its own."""
CONFIGS: Final = ("generationConfig", "generation_config")
"""Gemini's API takes every name in two spellings."""
INLINE: Final = ("inlineData", "inline_data")
MIME: Final = ("mimeType", "mime_type")


def objection(shape: Shape, said: Said) -> str:
    """Return a sentence why a request of this shape is not sent; empty: it is."""
    # Counting tokens wraps the request that is counted, with its tools and files.
    inner = [said[name] for name in _WITHIN if shape == "gemini" and isinstance(said.get(name), Mapping)]
    return next((why for one in (said, *inner) for why in _objections(shape, one)), "")


def _objections(shape: Shape, said: Said) -> Iterator[str]:
    yield from _dearer(shape, said)
    yield from _reaching(shape, said)
    parts = list(content_parts(shape, said))
    for tool in tools_in(shape, said, parts):
        if not _ours_to_run(shape, tool):
            yield f"The tool {_named(tool)} is run by the provider itself, which is not allowed here."
    if any(_sounds(part) for part in parts):
        yield "Sound and film cost another price than text, so they are not allowed here."
    if any(_far(part) for part in parts):
        yield "The provider would fetch an address named in the content, so send its content instead."


def _reaching(shape: Shape, said: Said) -> Iterator[str]:
    for name in _NEVER[shape]:
        if said.get(name):
            yield f"The provider would reach or run other things itself for {name}, which is not allowed here."
    if shape == "openai" and _SEARCHING.search(str(said.get("model"))):
        yield "This model searches the web itself, so it is not allowed here."


def _dearer(shape: Shape, said: Said) -> Iterator[str]:
    for name, usual in _USUAL.items():
        if _unusual(said.get(name), usual):
            yield f"{name} changes the price of an answer, so only its default is allowed here."
    named = [said.get(one) for one in CONFIGS] if shape == "gemini" else []
    for config in (one for one in named if isinstance(one, Mapping)):
        for name, usual in _USUAL_CONFIG.items():
            if any(_unusual(config.get(one), usual) for one in (name, snake_case(name))):
                yield f"{name} changes the price of an answer, so only its default is allowed here."
    if any(not edit.startswith(_CLEARING) for edit in _edits(said)):
        yield "The provider would summarize the conversation itself, at a cost that cannot be foreseen."


def _unusual(value: object, usual: tuple[object, ...]) -> bool:
    # 0 and 1 are equal to False and True, and mean something else.
    return not any(value == one and type(value) is type(one) for one in usual)


def snake_case(name: str) -> str:
    return re.sub(r"([A-Z])", lambda found: f"_{found[1].lower()}", name)


def _edits(said: Said) -> Iterator[str]:
    management = said.get("context_management")
    edits = management.get("edits") if isinstance(management, Mapping) else management
    for edit in edits if isinstance(edits, list) else ([edits] if edits else []):
        yield str(edit.get("type")) if isinstance(edit, Mapping) else str(edit)


def content_parts(shape: Shape, said: Said) -> Iterator[Said]:
    """Yield every piece of content; without recursion, because a job decides how deep it is."""
    waiting = [said.get(name) for name in _SPOKEN[shape]]
    while waiting:
        one = waiting.pop()
        if isinstance(one, list):
            waiting += one
        elif isinstance(one, Mapping):
            yield one
            waiting += [one.get(name) for name in _INWARD[shape]]


def tools_in(shape: Shape, said: Said, parts: list[Said]) -> Iterator[object]:
    """Yield every tool, with OpenAI also those in the middle of the conversation or in a group."""
    waiting = [said.get("tools")]
    if shape == "openai":
        waiting += [part.get("tools") for part in parts]
    while waiting:
        one = waiting.pop()
        if isinstance(one, list):
            waiting += one
        elif shape == "openai" and _is_group(one):
            waiting.append(one["tools"])
        elif one is not None:
            yield one


def _is_group(tool: object) -> TypeGuard[Said]:
    """Return whether a tool is only a group of others, all of which are in the request."""
    return isinstance(tool, Mapping) and tool.get("type") == "namespace" and isinstance(tool.get("tools"), list)


def _ours_to_run(shape: Shape, tool: object) -> bool:
    if not isinstance(tool, Mapping):
        return False
    if shape == "gemini":
        return set(tool) <= _GEMINI_TOOLS
    kind = tool.get("type")
    if shape == "openai":
        return isinstance(kind, str) and kind in _OPENAI_TOOLS
    return kind in (None, "custom") or (isinstance(kind, str) and kind.startswith(CLIENT_RUN))


def _named(tool: object) -> str:
    if not isinstance(tool, Mapping):
        return "of an unknown shape"
    kind = tool.get("type") if "type" in tool else next((name for name in tool if name not in _GEMINI_TOOLS), "")
    return repr(kind)[:60]


def _sounds(part: Said) -> bool:
    """Whether a part is sound or film, which cost more than text."""
    inline: Said = next((part[name] for name in INLINE if isinstance(part.get(name), Mapping)), {})
    kind = next((str(inline[name]).lower() for name in MIME if inline.get(name)), "")
    return kind.startswith(_MEDIA) or any(part.get(name) is not None for name in _SOUNDS)


def _far(part: Said) -> bool:
    """Return whether the provider is to fetch a piece of content."""
    if part.get("type") == "url":
        return True
    if any(part.get(name) is not None and not _brought(part[name]) for name in _ADDRESSES):
        return True
    return any(_located(part.get(name)) for name in _FILES)


def _located(file: object) -> bool:
    return isinstance(file, Mapping) and any(file.get(name) for name in _URIS)


def _brought(address: object) -> bool:
    """Return whether an address contains its own content."""
    url = address.get("url") if isinstance(address, Mapping) else address
    return url is None or (isinstance(url, str) and url[:5].lower() == "data:")
