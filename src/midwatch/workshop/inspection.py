"""Looks at a person's repository and says what stands in the way, without changing anything."""

import asyncio
from pathlib import Path

from midwatch.errors import Misuse, Refused
from midwatch.terms.jobs import RepositoryFacts
from midwatch.workshop.git import Git

MOST_DIRTY = 50


async def inspect(git: Git, path: Path) -> RepositoryFacts:
    """Tell a repository's top folder, branch, newest commit and uncommitted paths (at most 50); bare ones are fine."""
    if not await asyncio.to_thread(path.is_dir):
        raise Misuse(f"{path} is not a folder.", hint="Give the path of a git repository on this machine.")
    code, out, _ = await git.attempt(path, "rev-parse", "--is-bare-repository", "--absolute-git-dir")
    if code:
        raise Misuse(f"{path} is not a git repository.", hint=f"Run `git init {path}` and commit something first.")
    bare, git_dir = out.decode().splitlines()
    top = Path(git_dir if bare == "true" else await git.text(path, "rev-parse", "--show-toplevel"))
    head = await _head(git, top)
    branch = await _branch(git, top)
    await _refuse_what_we_cannot_carry(git, top, head)
    dirty = () if bare == "true" else await _dirty(git, top)
    return RepositoryFacts(path=str(top), branch=branch, head=head, dirty=dirty)


async def _head(git: Git, top: Path) -> str:
    code, out, _ = await git.attempt(top, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
    if code:
        raise Misuse(f"{top} has no commits yet.", hint="Commit something; Midwatch works from commits.")
    return out.decode().strip()


async def _branch(git: Git, top: Path) -> str:
    code, out, _ = await git.attempt(top, "symbolic-ref", "--quiet", "--short", "HEAD")
    if code:
        raise Misuse(f"{top} is on no branch (detached HEAD).", hint="Check out a branch, such as `git switch main`.")
    return out.decode().strip()


async def _refuse_what_we_cannot_carry(git: Git, top: Path, head: str) -> None:
    # 2.39 knows no single question for all three; each is one cheap look.
    if await git.text(top, "rev-parse", "--is-shallow-repository") == "true":
        raise Refused(f"{top} is a shallow clone.", hint="Run `git fetch --unshallow` there first.")
    if (await git.attempt(top, "config", "--get", "extensions.partialClone"))[0] == 0:
        raise Refused(f"{top} is a partial clone.", hint="Clone it again without --filter.")
    if await git.text(top, "rev-parse", "--show-object-format") != "sha1":
        raise Refused(f"{top} uses SHA-256 object names.", hint="Only SHA-1 repositories are supported so far.")
    tree = (await git.run(top, "ls-tree", "-r", "-z", head)).split(b"\0")
    modules = [line.split(b"\t", 1)[1].decode(errors="replace") for line in tree if line.startswith(b"160000 ")]
    if modules:
        raise Refused(
            f"{top} has submodules ({modules[0]}).",
            hint="Submodules are not supported yet; take a repository without them.",
            because=tuple(modules),
        )
    await _refuse_large_files(git, top, tree)


async def _refuse_large_files(git: Git, top: Path, tree: list[bytes]) -> None:
    attributes = [line for line in tree if line.endswith((b"\t.gitattributes", b"/.gitattributes"))]
    for line in attributes:
        details, name = line.split(b"\t", 1)
        if b"filter=lfs" in await git.run(top, "cat-file", "blob", details.split()[2].decode()):
            raise Refused(
                f"{top} keeps files in Git LFS ({name.decode(errors='replace')}).",
                hint="Git LFS is not supported yet; take a repository without it.",
            )


async def _dirty(git: Git, top: Path) -> tuple[str, ...]:
    output = await git.run(top, "status", "--porcelain=v1", "-z", "--untracked-files=normal")
    paths, tokens = set[str](), iter(output.split(b"\0"))
    for token in tokens:
        if token:
            paths.add(token[3:].decode(errors="replace"))
            if token[:1] in (b"R", b"C") or token[1:2] in (b"R", b"C"):
                next(tokens)  # the name it had before
    return tuple(sorted(paths)[:MOST_DIRTY])
