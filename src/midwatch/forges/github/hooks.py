"""Telling GitHub's own webhooks from anybody else's, and a new one from one that was heard before."""

import hashlib
import hmac
import re
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Final

REMEMBERED: Final = 2000
_SIGNATURE: Final = re.compile(r"sha256=[0-9a-f]{64}")
_NEWS: Final = re.compile(r"pull_request|check_(run|suite)|status")


def signed(signature: str) -> bool:
    """Whether this has the shape of a signature at all: nothing is fetched for what has not."""
    return _SIGNATURE.fullmatch(signature) is not None


def is_news(event: str) -> bool:
    """Whether an event may be about a pull request or its checks."""
    return _NEWS.fullmatch(event) is not None


def genuine(word: str, body: bytes, signature: str) -> bool:
    """Whether a body was signed with the secret both sides have."""
    wanted = "sha256=" + hmac.new(word.encode(), body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(wanted.encode(), signature.encode())


@dataclass(slots=True)
class Deliveries:
    """The last webhooks; a repeated one makes nobody look again. Only the body is signed: it alone tells them apart."""

    _seen: "OrderedDict[str, None]" = field(default_factory=OrderedDict)

    def new(self, forge: str, body: bytes) -> bool:
        """Whether this one was not heard before."""
        name = f"{forge}:{hashlib.sha256(body).hexdigest()}"
        if name in self._seen:
            return False
        self._seen[name] = None
        while len(self._seen) > REMEMBERED:
            self._seen.popitem(last=False)
        return True
