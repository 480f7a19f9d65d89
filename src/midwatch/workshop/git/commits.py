"""Commits of an agent at work, read from its loose objects by hand: git is never run where an agent may set traps."""

import re
import zlib
from pathlib import Path

from midwatch.workshop.sandbox import safe_files

LARGEST_OBJECT = 64 * 1024
MOST = 50
_SHA = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def subjects_since(tree: Path, head: str, base: str) -> tuple[str, ...]:
    """Give the subjects of the commits from base to head, oldest first; as many as are there to be read.

    Only first parents are followed. A commit that is packed, or too large to look at, ends the walk.
    """
    found: list[str] = []
    at = head
    while at != base and len(found) < MOST:
        read = _commit(tree, at)
        if read is None:
            break
        at, subject = read
        found.append(subject)
    return tuple(reversed(found))


def _commit(tree: Path, sha: str) -> tuple[str, str] | None:
    """Read one commit: its first parent and its subject."""
    if not _SHA.fullmatch(sha):
        return None
    packed = safe_files.read(tree, f".git/objects/{sha[:2]}/{sha[2:]}", most=LARGEST_OBJECT)
    if packed is None:
        return None
    try:
        content = zlib.decompressobj().decompress(packed, LARGEST_OBJECT)
    except zlib.error:
        return None
    kind, _, body = content.partition(b"\0")
    if not kind.startswith(b"commit "):
        return None
    headers, _, message = body.decode(errors="replace").partition("\n\n")
    parents = [line.removeprefix("parent ") for line in headers.splitlines() if line.startswith("parent ")]
    return (parents or [""])[0], (message.strip().splitlines() or [""])[0][:200]
