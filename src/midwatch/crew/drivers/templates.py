"""What drivers of strangers' programs share: command lines with gaps in them, and answers that hold an object."""

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
    """Put the brief's own address, key and model where `{base_url}`, `{key}` and `{model}` stand."""
    own = {"{base_url}": brief.access.base_url.rstrip("/"), "{key}": brief.access.placeholder, "{model}": brief.model}
    for name, value in own.items():
        text = text.replace(name, value)
    return text


def in_home(words: Sequence[str], reads: str = "") -> tuple[str, ...]:
    """Make a command line whose `{home}` is the home it wakes up in, and whose stdin is a file there, or nothing.

    A shell does it and gives way to the program, so that a signal reaches the program itself.
    """
    line = " ".join(
        '"$HOME"'.join(quote(part) if part else "" for part in word.split("{home}")) or "''" for word in words
    )
    source = f'"$HOME"/{quote(reads)}' if reads else "/dev/null"
    return ("/bin/sh", "-c", f"exec {line} < {source}")


def asked_for(brief: AgentBrief) -> str:
    """Give the prompt, with the shape of the answer in words for programs that cannot promise one."""
    return brief.prompt + (SHAPED.format(json.dumps(brief.schema)) if brief.schema is not None else "")


def shape(said: str) -> dict[str, Any] | None:
    """Find the object in someone's last words: all of them, or the last block of code."""
    for text in (said, *reversed(_FENCED.findall(said))):
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict):
            return found
    return None
