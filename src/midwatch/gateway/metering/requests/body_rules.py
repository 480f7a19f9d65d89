"""What a request may not ask of a provider: to fetch, send or run things itself, or to charge another price."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from midwatch.gateway.metering.providers import Shape
from midwatch.gateway.metering.requests.content import (
    CLIENT_RUN,
    CONFIGS,
    INLINE,
    MIME,
    Said,
    content_parts,
    counted,
    snake_case,
    tools_in,
)
from midwatch.gateway.metering.requests.references import refused_references

_OPENAI_TOOLS: Final = frozenset({"function", "custom", "local_shell", "shell", "apply_patch"})
_GEMINI_TOOLS: Final = frozenset({"functionDeclarations", "function_declarations"})
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
    "routingConfig": (None,),
    "modelConfig": (None,),
    "modelSelectionConfig": (None,),
}
"""The same of Gemini's `generationConfig`."""
_MEDIA: Final = ("audio/", "video/")
_SOUNDS: Final = ("input_audio", "audio_url", "video_url", "input_video")
_CLEARING: Final = "clear_"
"""Edits of a context that only leave something out; others have the model write a summary, in a request of its own."""


def objection(shape: Shape, said: Said) -> str:
    """Say why a request of this shape is not sent, and what to send instead; empty: it is sent."""
    return next((why for one in (said, *counted(shape, said)) for why in _objections(shape, one)), "")


def _objections(shape: Shape, said: Said) -> Iterator[str]:
    yield from _dearer(shape, said)
    if shape == "openai" and said.get("web_search_options"):
        yield "The provider would search the web itself for web_search_options, which is not allowed here."
    if shape == "openai" and _SEARCHING.search(str(said.get("model"))):
        yield "This model searches the web itself, so it is not allowed here."
    parts = list(content_parts(shape, said))
    yield from refused_references(shape, said, parts)
    for tool in tools_in(shape, said, parts):
        if isinstance(tool, Mapping) and tool.get("model"):
            yield f"The tool {_named(tool)} names a model of its own, which is not allowed here."
        if not _ours_to_run(shape, tool):
            yield f"The tool {_named(tool)} is run by the provider itself, which is not allowed here."
    if any(_sounds(part) for part in parts):
        yield "Sound and film cost another price than text, so they are not allowed here."


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


def _edits(said: Said) -> Iterator[str]:
    management = said.get("context_management")
    edits = management.get("edits") if isinstance(management, Mapping) else management
    for edit in edits if isinstance(edits, list) else ([edits] if edits else []):
        yield str(edit.get("type")) if isinstance(edit, Mapping) else str(edit)


def _ours_to_run(shape: Shape, tool: object) -> bool:
    if not isinstance(tool, Mapping):
        return False
    if shape == "gemini":
        return set(tool) <= _GEMINI_TOOLS
    kind = tool.get("type")
    if shape == "openai":
        return isinstance(kind, str) and kind in _OPENAI_TOOLS and not _runs_far(tool)
    return kind in (None, "custom") or (isinstance(kind, str) and kind.startswith(CLIENT_RUN))


def _runs_far(tool: Said) -> bool:
    """Return whether a shell runs in a container of the provider, and not where the job is."""
    where = tool.get("environment")
    return where is not None and not (isinstance(where, Mapping) and where.get("type") == "local")


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
