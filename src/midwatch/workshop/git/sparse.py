"""Which folders a clone needs on disk, read from the paths its orders allow."""

from collections.abc import Iterable
from pathlib import Path

from midwatch.workshop.git.git import Git

_WILD = frozenset('*?[]\\!"')


def folders_named(patterns: Iterable[str]) -> tuple[str, ...]:
    """List the folders if the patterns name nothing but whole folders from the top; else nothing, meaning all.

    `api/` is such a folder only with an inner slash or a leading one: without, it may lie at any depth.
    """
    found = [_folder(pattern.strip()) for pattern in patterns]
    return tuple(dict.fromkeys(found)) if all(found) else ()


def _folder(pattern: str) -> str:
    body = pattern.removeprefix("./")
    whole = body.endswith(("/", "/**"))
    name = body.removesuffix("**").strip("/")
    anchored = body.endswith("/**") or body.startswith("/") or "/" in body.rstrip("/")
    parts = name.split("/")
    plain = name.isprintable() and not set(name) & _WILD and not {"", ".", ".."} & set(parts)
    return name if whole and anchored and plain else ""


async def narrow(git: Git, tree: Path, folders: tuple[str, ...]) -> None:
    """Let a clone that is not checked out yet hold only these folders and the files above them."""
    names = "".join(f"{folder}\n" for folder in folders).encode()
    await git.run(tree, "sparse-checkout", "set", "--cone", "--no-sparse-index", "--stdin", stdin=names)
