"""Telling GitHub's own webhooks from anybody else's, and a new one from one that was heard before."""

import hashlib
import hmac
from collections import OrderedDict
from dataclasses import dataclass, field

REMEMBERED = 2000
LONGEST_ID = 100


def genuine(word: str, body: bytes, signature: str) -> bool:
    """Whether a body was signed with the secret both sides have."""
    wanted = "sha256=" + hmac.new(word.encode(), body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(wanted.encode(), signature.encode())


@dataclass(slots=True)
class Deliveries:
    """The names of the last webhooks; a repeated one makes nobody look again."""

    _seen: "OrderedDict[str, None]" = field(default_factory=OrderedDict)

    def new(self, name: str) -> bool:
        """Whether this one was not heard before."""
        name = name[:LONGEST_ID]
        if name in self._seen:
            return False
        self._seen[name] = None
        while len(self._seen) > REMEMBERED:
            self._seen.popitem(last=False)
        return True
