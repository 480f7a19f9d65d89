"""Inspects a person's repository and reports what prevents its use, without changing anything."""

import asyncio
import shlex
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

from midwatch.errors import Misuse, Refused
from midwatch.terms.jobs import RepositoryFacts
from midwatch.workshop.git.git import Git
from midwatch.workshop.git.remotes import checked, failure
from midwatch.workshop.git.unshallow import refuse_unreachable

MOST_DIRTY = 50


async def inspect(git: Git, path: Path) -> RepositoryFacts:
    """Return a repository's top folder, branch, newest commit and uncommitted paths (at most 50); it may be bare."""
    # A partial clone would fetch what we ask for, and the fetch would write to it.
    whole, git = git, git.alone()
    if not await asyncio.to_thread(path.is_dir):
        raise Misuse(f"{path} is not a folder.", hint="Give the path of a git repository on this machine.")
    asked = ("--is-bare-repository", "--absolute-git-dir", "--show-object-format")
    code, out, _ = await git.attempt(path, "rev-parse", *asked)
    if code:
        raise Misuse(f"{path} is not a git repository.", hint=f"Run `git init {path}` and commit something first.")
    bare, git_dir, form = out.decode().splitlines()
    top = Path(git_dir if bare == "true" else await git.text(path, "rev-parse", "--show-toplevel"))
    await _refuse_files_elsewhere(git, path, top, git_dir)
    head, branch = await _at_once(_head(git, top), _branch(git, top))
    if form != "sha1":
        raise Refused(f"{top} uses SHA-256 object names.", hint="Only SHA-1 repositories are supported so far.")
    _, _, dirty = await _at_once(
        refuse_unreachable(whole, top),
        _refuse_what_we_cannot_carry(git, top, head, called=str(top)),
        _dirty(git, top, bare=bare == "true"),
    )
    return RepositoryFacts(path=str(top), branch=branch, head=head, dirty=dirty)


async def _refuse_files_elsewhere(git: Git, path: Path, top: Path, git_dir: str) -> None:
    """Raise Refused if `core.worktree` names a folder that is not the repository's own."""
    code, out, _ = await git.attempt(top, "rev-parse", "--absolute-git-dir")
    if code or out.decode(errors="surrogateescape").rstrip("\n") != git_dir:
        raise Refused(
            f"The settings of {path} say that its files are in {top}.",
            hint=f"Remove that setting: git -C {shlex.quote(str(path))} config --unset core.worktree",
        )


async def _at_once(*looks: Coroutine[Any, Any, Any]) -> list[Any]:
    """Run some looks at the same time; the first one that failed, in this order, says why."""
    found = await asyncio.gather(*looks, return_exceptions=True)
    for one in found:
        if isinstance(one, BaseException):
            raise one
    return found


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


async def inspect_url(git: Git, url: str, look: Path) -> RepositoryFacts:
    """Return a remote repository's branch and newest commit, from a temporary copy of that one commit in `look`."""
    address, reaching = checked(url), git.toward(url)
    code, out, complaints = await reaching.converse(Path("/"), "ls-remote", "--quiet", "--symref", address, "HEAD")
    if code:
        raise failure(url, complaints)
    said = [line.split("\t")[0] for line in out.decode(errors="replace").splitlines() if line.endswith("\tHEAD")]
    branch = next((name.removeprefix("ref: refs/heads/") for name in said if name.startswith("ref: ")), "")
    head = next((name for name in said if not name.startswith("ref: ")), "")
    if not head or not branch:
        raise Misuse(f"{url} has no commits or no main branch.", hint="Push something, or give it a default branch.")
    await git.run(Path("/"), "init", "--quiet", "--bare", "--template=", "--object-format=sha1", str(look))
    fetch = ("fetch", "--quiet", "--no-tags", "--no-write-fetch-head")
    wanted = f"+refs/heads/{branch}:refs/heads/look"
    # The oldest protocol for serving files knows no depth; then the whole history comes.
    for depth in (("--depth=1",), ()):
        code, _, complaints = await reaching.converse(look, *fetch, *depth, address, wanted)
        if code == 0 or "shallow" not in complaints:
            break
    if code:
        raise failure(url, complaints)
    await _refuse_what_we_cannot_carry(git, look, "refs/heads/look", called=url)
    return RepositoryFacts(path=url, branch=branch, head=head)


async def _refuse_what_we_cannot_carry(git: Git, top: Path, head: str, *, called: str) -> None:
    code, listing, _ = await git.attempt(top, "ls-tree", "-r", "-z", head)
    tree = [] if code else listing.split(b"\0")  # a clone without trees is checked once its origin has completed it
    modules = [line.split(b"\t", 1)[1].decode(errors="replace") for line in tree if line.startswith(b"160000 ")]
    if modules:
        raise Refused(
            f"{called} has submodules ({modules[0]}).",
            hint="Submodules are not supported yet; take a repository without them.",
            because=tuple(modules),
        )
    await _refuse_large_files(git, top, tree, called)


async def _refuse_large_files(git: Git, top: Path, tree: list[bytes], called: str) -> None:
    attributes = [line for line in tree if line.endswith((b"\t.gitattributes", b"/.gitattributes"))]
    for line in attributes:
        details, name = line.split(b"\t", 1)
        _, content, _ = await git.attempt(top, "cat-file", "blob", details.split()[2].decode())
        if b"filter=lfs" in content:
            raise Refused(
                f"{called} keeps files in Git LFS ({name.decode(errors='replace')}).",
                hint="Git LFS is not supported yet; take a repository without it.",
            )


async def _dirty(git: Git, top: Path, *, bare: bool) -> tuple[str, ...]:
    if bare:
        return ()
    # A file that a partial clone has not fetched cannot have been changed either.
    output = await git.run(top, "status", "--porcelain=v1", "-z", "--untracked-files=normal", "--ignore-submodules=all")
    paths, tokens = set[str](), iter(output.split(b"\0"))
    for token in tokens:
        if token:
            paths.add(token[3:].decode(errors="replace"))
            if token[:1] in (b"R", b"C") or token[1:2] in (b"R", b"C"):
                next(tokens)  # the name it had before
    return tuple(sorted(paths)[:MOST_DIRTY])
