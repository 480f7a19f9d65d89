"""What every API's answer is made of: a body, or pieces of a stream that know what has been told with them."""

import itertools
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from midwatch.terms.agents import Tokens
from tests.agents.model.script import Fault

NOTHING = Tokens()


@dataclass(frozen=True)
class Piece:
    """One event of a stream; the numbers are totals since its beginning."""

    data: bytes
    told: Tokens
    """What a reader knows once it has this event whole."""
    made: Tokens
    """What the model has made by then, told or not."""


@dataclass(frozen=True)
class Question:
    """One request, as the script sees it."""

    api: str
    body: dict[str, Any]
    model: str
    stream: bool
    offered: dict[str, Any]
    kinds: dict[str, str]
    """For each tool, the API's word for its kind, where there are several."""
    number: int

    def name(self, prefix: str, index: int = 0) -> str:
        """Make a name that no other answer has."""
        return f"{prefix}_{self.number:06d}{index:04d}scripted"


class Stream:
    """Collects pieces; whoever builds an answer says what each event tells and how much of the output it carries."""

    def __init__(self, usage: Tokens, carriers: int) -> None:
        self.usage = usage
        self.carriers = max(carriers, 1)
        self.carried = 0
        self.told = NOTHING
        self.pieces: list[Piece] = []
        self.sequence = itertools.count()

    def add(self, data: Any, *, name: str = "", told: Tokens | None = None, carries: bool = False) -> None:
        """Put one event at the end."""
        self.told = self.told if told is None else told
        self.carried += carries
        made = self.usage.model_copy(update={"output": self.usage.output * self.carried // self.carriers})
        text = data if isinstance(data, str) else json.dumps(data)
        head = f"event: {name}\n" if name else ""
        self.pieces.append(Piece(f"{head}data: {text}\n\n".encode(), self.told, made))

    def whole(self) -> Sequence[Piece]:
        """Give all pieces; with the last one everything has been made."""
        last = self.pieces[-1]
        return [*self.pieces[:-1], Piece(last.data, last.told, self.usage)]


def chopped(text: str, size: int = 24) -> Iterable[str]:
    """Cut a text as a model would hand it out."""
    return [text[at : at + size] for at in range(0, len(text), size)]


KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}


def refusal(fault: Fault, api: str) -> dict[str, Any]:
    """Say no in the words of this API."""
    kind = fault.kind or KINDS.get(fault.status, "api_error")
    message = fault.message or f"scripted {fault.status}"
    if api == "anthropic":
        return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_scripted"}
    if api == "gemini":
        return {"error": {"code": fault.status, "message": message, "status": fault.kind or "RESOURCE_EXHAUSTED"}}
    return {"error": {"message": message, "type": kind, "code": kind, "param": None}}
