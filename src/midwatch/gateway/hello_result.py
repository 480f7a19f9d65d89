"""What a provider's answer to a hello means, as one plain sentence that never holds the credential."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from midwatch.gateway.metering.calls import ProviderQuota
from midwatch.gateway.metering.masking import mask_everywhere
from midwatch.terms.agents import ModelAccess
from midwatch.views.text.plain import clean

SHOWN_LIMITS: Final = 3
_RESERVED: Final = "only authorized for use with Claude Code"
_CUT_SHORT: Final = "model output limit was reached"
"""How some models report that one token was too little: they did answer."""


class HelloOutcome(StrEnum):
    """How a hello was answered."""

    ANSWERS = "answers"
    RESERVED = "reserved"
    """The provider knows the token, and accepts it only from its own program."""
    REFUSED = "refused"
    NO_MODEL = "no_model"
    LIMIT = "limit"
    UNPAID = "unpaid"
    DECLINED = "declined"
    TROUBLE = "trouble"
    UNREACHABLE = "unreachable"
    GARBAGE = "garbage"
    NOT_ASKED = "not_asked"
    """Nothing was sent: the credential was unavailable, or the address or the model is invalid."""


UNQUOTED: Final = frozenset({HelloOutcome.LIMIT, HelloOutcome.RESERVED, HelloOutcome.REFUSED})
"""Where the sentence is complete; about a key they refuse, some providers repeat parts of that key."""


@dataclass(frozen=True, slots=True)
class HelloResult:
    """The result of one hello."""

    heard: HelloOutcome
    sentence: str
    ms: int = 0
    model: str = ""
    """The model's name in the provider's answer."""
    limits: tuple[ProviderQuota, ...] = ()
    resets_at: datetime | None = None

    @property
    def answers(self) -> bool:
        return self.heard is HelloOutcome.ANSWERS

    @property
    def known(self) -> bool:
        """Whether the provider accepted the credential for this model, even where it had no answer just now."""
        return self.heard in {HelloOutcome.ANSWERS, HelloOutcome.RESERVED, HelloOutcome.LIMIT}


@dataclass(frozen=True, slots=True)
class HelloAnswer:
    """A received answer, and what is needed to interpret it."""

    access: ModelAccess
    api: str
    status: int
    body: bytes
    secret: str
    limits: tuple[ProviderQuota, ...]
    ms: int

    def parsed(self) -> Any:
        """Parse the body; None where it is no JSON object."""
        try:
            found = json.loads(self.body)
        except (ValueError, RecursionError):
            return None
        return found if isinstance(found, dict) else None

    def words(self) -> str:
        """Return the provider's own error message, without the credential some of them repeat."""
        result = self.parsed()
        error = result.get("error") if result else None
        message = error.get("message") if isinstance(error, Mapping) else error
        shown = (
            mask_everywhere(self.secret, message.encode()).decode(errors="replace") if isinstance(message, str) else ""
        )
        return clean(shown)

    def names(self, word: str) -> bool:
        """Whether the error's body contains a word."""
        return word.encode() in self.body


def judge(answer: HelloAnswer) -> HelloResult:
    if 200 <= answer.status < 300:
        return _good(answer)
    heard = _error(answer)
    resets = max((one.resets_at for one in answer.limits if one.rejected and one.resets_at), default=None)
    said = answer.words()
    # Some models reject one token as too little with an error; the model is there all the same.
    if heard is HelloOutcome.DECLINED and _CUT_SHORT in said:
        return _good_words(answer, "")
    sentence = _SENTENCES[heard](answer, resets)
    quoted = f' It says: "{said}"' if said and heard not in UNQUOTED else ""
    return HelloResult(heard, f"{sentence}{quoted}", answer.ms, limits=answer.limits, resets_at=resets)


def _error(answer: HelloAnswer) -> HelloOutcome:
    """Interpret the status, after the messages of providers that use another status for it."""
    status = answer.status
    if answer.access.kind == "oauth" and answer.names(_RESERVED):
        return HelloOutcome.RESERVED
    for word, heard in _BY_WORD.items():
        if answer.names(word):
            return heard
    if status >= 500:
        return HelloOutcome.TROUBLE
    return _BY_NUMBER.get(status, HelloOutcome.DECLINED if status >= 400 else HelloOutcome.GARBAGE)


def _good(answer: HelloAnswer) -> HelloResult:
    result = answer.parsed()
    if result is None or not _IS_ANSWER[answer.api](result):
        return HelloResult(HelloOutcome.GARBAGE, _garbage(answer, None), answer.ms)
    model = result.get("modelVersion" if answer.api == "generate" else "model")
    named = mask_everywhere(answer.secret, model.encode()).decode(errors="replace") if isinstance(model, str) else ""
    return _good_words(answer, clean(named, 80))


def _good_words(answer: HelloAnswer, model: str) -> HelloResult:
    asked = answer.access.model
    as_what = f", as {model}" if model and model != asked else ""
    left = _left(answer.limits)
    sentence = f"{asked} answers in {answer.ms} ms{as_what}{f'; {left} left' if left else ''}."
    return HelloResult(HelloOutcome.ANSWERS, sentence, answer.ms, model or asked, answer.limits)


def _left(limits: tuple[ProviderQuota, ...]) -> str:
    """Name the scarcest limit first; the full list is for scripts."""
    known = sorted((one for one in limits if one.remaining is not None), key=lambda one: one.remaining or 0.0)
    return ", ".join(f"{(one.remaining or 0.0) * 100:.0f} % of {one.limit}" for one in known[:SHOWN_LIMITS])


def _refused(answer: HelloAnswer, _: datetime | None) -> str:
    kind = "subscription token" if answer.access.kind == "oauth" else "API key"
    return f"{answer.access.provider} refuses the {kind} ({answer.status})."


def _no_model(answer: HelloAnswer, _: datetime | None) -> str:
    also = ", or agents.*.base_url names the wrong place" if answer.access.base_url else ""
    return f"{answer.access.provider} has no model {answer.access.model} for this credential{also}."


def _limit(answer: HelloAnswer, resets: datetime | None) -> str:
    until = f" until {resets.astimezone():%a %H:%M}" if resets else ""
    return f"{answer.access.provider} accepts the credential, but its usage limit is reached{until}."


def _garbage(answer: HelloAnswer, _: datetime | None) -> str:
    place = answer.access.base_url or answer.access.provider
    return f"{place} is not a model API: {answer.status}, with an unknown answer."


_BY_WORD: Final = {
    "insufficient_quota": HelloOutcome.UNPAID,
    "API_KEY_INVALID": HelloOutcome.REFUSED,
    "model_not_found": HelloOutcome.NO_MODEL,
}
_BY_NUMBER: Final = {
    401: HelloOutcome.REFUSED,
    402: HelloOutcome.UNPAID,
    403: HelloOutcome.REFUSED,
    404: HelloOutcome.NO_MODEL,
    429: HelloOutcome.LIMIT,
}
_SENTENCES: Final[Mapping[HelloOutcome, Callable[[HelloAnswer, datetime | None], str]]] = {
    HelloOutcome.REFUSED: _refused,
    HelloOutcome.NO_MODEL: _no_model,
    HelloOutcome.LIMIT: _limit,
    HelloOutcome.GARBAGE: _garbage,
    HelloOutcome.RESERVED: lambda answer, _: (
        f"{answer.access.provider} accepts the subscription token only from its own program."
    ),
    HelloOutcome.UNPAID: lambda answer, _: f"{answer.access.provider} requires payment ({answer.status}).",
    HelloOutcome.DECLINED: lambda answer, _: f"{answer.access.provider} declines the request ({answer.status}).",
    HelloOutcome.TROUBLE: lambda answer, _: f"{answer.access.provider} reports an error ({answer.status}); try later.",
}
_IS_ANSWER: Final[Mapping[str, Callable[[Mapping[str, Any]], bool]]] = {
    "messages": lambda found: found.get("type") == "message",
    "responses": lambda found: found.get("object") == "response" or isinstance(found.get("output"), list),
    "chat": lambda found: isinstance(found.get("choices"), list),
    "generate": lambda found: isinstance(found.get("candidates"), list) or "usageMetadata" in found,
}
