"""Which folders a clone needs on disk, read from the paths its orders allow."""

from collections.abc import Iterable
from pathlib import Path

from midwatch.rules.paths import top_folder
from midwatch.workshop.git.git import Git


def folders_named(patterns: Iterable[str]) -> tuple[str, ...]:
    """List the folders if the patterns name nothing but whole folders from the top; else nothing, meaning all.

    `api/` is such a folder; `api` may be a file.
    """
    found = [top_folder(pattern) for pattern in patterns]
    return tuple(dict.fromkeys(found)) if all(found) else ()


async def narrow(git: Git, tree: Path, folders: tuple[str, ...]) -> None:
    """Let a clone that is not checked out yet hold only these folders and the files above them."""
    names = "".join(f"{folder}\n" for folder in folders).encode()
    await git.run(tree, "sparse-checkout", "set", "--cone", "--no-sparse-index", "--stdin", stdin=names)
