"""Telling a repository on this machine from one that is reached over a network."""

import re
from typing import Final
from urllib.parse import urlsplit

SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
HELPER: Final = re.compile(r"[A-Za-z0-9+.-]+::")
_SCP: Final = re.compile(r"(?:[A-Za-z0-9_][A-Za-z0-9_.-]*@)?[A-Za-z0-9][A-Za-z0-9.-]*:(?!//)[^\s]+")


def is_url(source: str) -> bool:
    """Tell a URL (or `user@host:path`) from the path of a folder."""
    return bool(
        SCHEME.match(source) or HELPER.match(source) or (not source.startswith(("/", ".")) and _SCP.fullmatch(source))
    )


def name_of(source: str) -> str:
    """Name a repository by the last part of its path."""
    return re.split(r"[/:]", source.rstrip("/"))[-1].removesuffix(".git")


def host_of(source: str) -> str:
    """Name the host of a URL, with its port where it has one, or of `user@host:path`."""
    if SCHEME.match(source):
        return urlsplit(source).netloc.rpartition("@")[2].casefold()
    return source.partition(":")[0].rpartition("@")[2].casefold() if is_url(source) else ""
