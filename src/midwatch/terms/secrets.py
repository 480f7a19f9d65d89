"""Secrets: where one is stored, never its value."""

from enum import StrEnum
from typing import Self

from midwatch.errors import Misuse
from midwatch.terms.term import Term


class SecretPlace(StrEnum):
    """The kinds of places where a secret may be stored."""

    ENV = "env"
    CMD = "cmd"
    FILE = "file"


class SecretReference(Term):
    """Where a secret is: `env:NAME`, `cmd:pass show x` or `file:/path`. Safe to store and to show."""

    place: SecretPlace
    address: str

    @classmethod
    def read(cls, text: str) -> Self:
        place, colon, address = text.strip().partition(":")
        if not colon or place not in set(SecretPlace) or not address.strip():
            # The text is not repeated: what is no reference may be the secret itself.
            raise Misuse(
                "A secret must be given by reference, not by its value.",
                hint="Write env:NAME, cmd:<a command that prints it> or file:/path (a file only you can read).",
            )
        return cls(place=SecretPlace(place), address=address.strip())

    def __str__(self) -> str:
        return f"{self.place}:{self.address}"
