"""What drivers of other vendors' programs share: command lines with placeholders, and answers with an object."""

import json
import re
from collections.abc import Sequence
from shlex import quote
from typing import Any

from midwatch.ports.agent import AgentBrief

PROMPT_FILE = ".midwatch/prompt.txt"
SHAPED = "\n\nEnd with one JSON object of this shape and nothing after it:\n{}"

_FENCED = re.compile(r"```(?:json)?\s*\n(.*?)```", re.DOTALL)


def filled(text: str, brief: AgentBrief) -> str:
    """Replace `{base_url}`, `{key}`, `{model}` and `{small_model}` by the brief's address, key and models."""
    own = {
        "{base_url}": brief.access.base_url.rstrip("/"),
        "{key}": brief.access.placeholder,
        "{model}": brief.model,
        "{small_model}": brief.small_model or brief.model,
    }
    for name, value in own.items():
        text = text.replace(name, value)
    return text


def in_home(words: Sequence[str], reads: str = "") -> tuple[str, ...]:
    """Make a command line whose `{home}` is its home at run time, and whose stdin is a file there, or empty.

    A shell replaces itself by the program, so that a signal reaches the program itself.
    """
    line = " ".join(
        '"$HOME"'.join(quote(part) if part else "" for part in word.split("{home}")) or "''" for word in words
    )
    source = f'"$HOME"/{quote(reads)}' if reads else "/dev/null"
    return ("/bin/sh", "-c", f"exec {line} < {source}")


def asked_for(brief: AgentBrief) -> str:
    """Return the prompt; for programs without structured output it includes the schema of the answer."""
    return brief.prompt + (_shaped(brief) if brief.schema is not None else "")


def _shaped(brief: AgentBrief) -> str:
    return SHAPED.format(json.dumps(brief.schema))


def reminder(brief: AgentBrief) -> str:
    """Ask once more for the object that its last words lack."""
    return "Your last message did not end with the JSON object that was asked for." + _shaped(brief)


def shape(said: str) -> dict[str, Any] | None:
    """Find the JSON object in a last message: the whole text, or its last code block."""
    for text in (said, *reversed(_FENCED.findall(said))):
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict):
            return found
    return None
