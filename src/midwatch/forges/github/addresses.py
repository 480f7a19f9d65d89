"""The owner and name of a repository in an address, and the address of its host's API."""

import re
from dataclasses import dataclass
from urllib.parse import quote, urlsplit

from midwatch.errors import Misuse

API = "https://api.github.com"
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,100}")


@dataclass(frozen=True, slots=True)
class Repository:
    """One repository, as REST names it."""

    owner: str
    name: str

    def __str__(self) -> str:
        return f"{self.owner}/{self.name}"

    def at(self, *parts: str) -> str:
        """Return the API path of something in it; a branch's slash is part of its name."""
        return "/".join(("/repos", self.owner, self.name, *(quote(part, safe="") for part in parts)))


def repository_of(source: str) -> Repository:
    """Read owner and name from `https://host/owner/name.git`, `ssh://git@host/owner/name` or `git@host:owner/name`."""
    path = urlsplit(source).path if "://" in source else source.partition(":")[2]
    parts = [part for part in path.removesuffix("/").removesuffix(".git").split("/") if part]
    if len(parts) != 2 or not all(_NAME.fullmatch(part) and part.strip(".") for part in parts):
        raise Misuse(
            f"{source} is not the address of a GitHub repository.",
            hint="Use an address like https://github.com/owner/name",
        )
    return Repository(*parts)
