"""Where a request of each provider has its content, its tools and its settings."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeGuard

from midwatch.gateway.metering.providers import Shape

Said = Mapping[str, Any]

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
CONFIGS: Final = ("generationConfig", "generation_config")
"""Gemini's API takes every name in two spellings."""
CLIENT_RUN: Final = ("bash_", "text_editor_", "memory_", "computer_")
"""How the types begin of the tools that Anthropic defines and the job runs."""
INLINE: Final = ("inlineData", "inline_data")
MIME: Final = ("mimeType", "mime_type")
_WITHIN: Final = ("generateContentRequest", "generate_content_request")


def counted(shape: Shape, said: Said) -> list[Said]:
    """Return the request that is wrapped in one of Gemini's for counting tokens, with its tools and files."""
    return [said[name] for name in _WITHIN if shape == "gemini" and isinstance(said.get(name), Mapping)]


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


def snake_case(name: str) -> str:
    return re.sub(r"([A-Z])", lambda found: f"_{found[1].lower()}", name)
