"""Checks that a webhook is from GitHub, is about a pull request, and is new."""

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
    """Whether this has the form of a signature; if not, no secret is fetched."""
    return _SIGNATURE.fullmatch(signature) is not None


def is_news(event: str) -> bool:
    """Whether an event may be about a pull request or its checks."""
    return _NEWS.fullmatch(event) is not None


def genuine(word: str, body: bytes, signature: str) -> bool:
    """Whether a body was signed with the shared secret."""
    wanted = "sha256=" + hmac.new(word.encode(), body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(wanted.encode(), signature.encode())


@dataclass(slots=True)
class Deliveries:
    """The last webhooks, to skip repeated ones. They are compared by body, because only the body is signed."""

    _seen: "OrderedDict[str, None]" = field(default_factory=OrderedDict)

    def new(self, forge: str, body: bytes) -> bool:
        """Whether this webhook is new."""
        name = f"{forge}:{hashlib.sha256(body).hexdigest()}"
        if name in self._seen:
            return False
        self._seen[name] = None
        while len(self._seen) > REMEMBERED:
            self._seen.popitem(last=False)
        return True
