"""Completes what a shallow or partial clone lacks, from its origin, and writes nothing to the clone itself."""

import asyncio
import shlex
from pathlib import Path

from midwatch.errors import MidwatchError, Refused
from midwatch.terms.projects import COMMIT_ID
from midwatch.workshop.git.git import Git
from midwatch.workshop.git.remotes import checked, failure, is_url
from midwatch.workshop.sandbox import safe_files

MOST_ROOTS = 1000


async def is_shallow(git: Git, top: Path) -> bool:
    """Return whether a clone's history was cut off."""
    return await git.text(top, "rev-parse", "--is-shallow-repository") == "true"


async def is_partial(git: Git, top: Path) -> bool:
    """Return whether a clone left files to be fetched on demand."""
    asked = ("config", "--get-regexp", r"^(extensions\.partialclone|remote\..*\.promisor)$")
    return (await git.attempt(top, *asked))[0] == 0


async def origin_of(git: Git, top: Path) -> str:
    """Return the origin of an incomplete clone; nothing if the clone is complete."""
    quiet = git.alone()
    shallow, partial = await asyncio.gather(is_shallow(quiet, top), is_partial(quiet, top))
    if not shallow and not partial:
        return ""
    code, out, _ = await quiet.attempt(top, "config", "--get", "extensions.partialClone")
    remote = out.decode(errors="replace").strip() if code == 0 else "origin"
    code, out, _ = await quiet.attempt(top, "config", "--get", f"remote.{remote}.url")
    url = out.decode(errors="replace").strip()
    if code or not url:
        raise incomplete(top, f"it has no remote {remote!r}")
    try:
        return checked(url) if is_url(url) else str((top / url).resolve())
    except MidwatchError as error:
        raise incomplete(top, error.message) from None


async def refuse_unreachable(git: Git, top: Path) -> None:
    """Raise Refused if a clone is incomplete and the repository it came from does not answer."""
    if not (origin := await origin_of(git, top)):
        return
    source: Path | str = origin if is_url(origin) else Path(origin)
    asked = ("ls-remote", "--quiet", *_far(git, source), origin, "HEAD")
    code, _, complaints = await git.toward(source).converse(Path("/"), *asked)
    if code:
        raise incomplete(top, failure(origin, complaints).message)


async def bring_missing(git: Git, mirror: Path, top: Path, origin: str) -> None:
    """Fetch everything the clone lacks: first its origin's branches, then what only the clone names."""
    source: Path | str = origin if is_url(origin) else Path(origin)
    reaching = git.toward(source)
    fetch = ("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--refmap=", *_far(git, source), origin)
    heads = ("+refs/heads/*:refs/midwatch/origin/heads/*", "+refs/tags/*:refs/midwatch/origin/tags/*")
    code, _, complaints = await reaching.converse(mirror, *fetch, *heads)
    if code:
        raise incomplete(top, failure(origin, complaints).message)
    for name in await _not_there(git, mirror, await _roots(git, top)):
        # A branch may have been rewritten since; most hosts still serve a commit by its id. If not, we report it later.
        await reaching.attempt(mirror, *fetch, f"+{name}:refs/midwatch/origin/commits/{name}")


def _far(git: Git, source: Path | str) -> tuple[str, ...]:
    return () if is_url(source) else (f"--upload-pack={git.far_side('upload-pack')}",)


async def _roots(git: Git, top: Path) -> list[str]:
    """List the commits at which the clone's history was cut, and those it knows its origin had."""
    quiet = git.alone()
    folder = Path(await quiet.text(top, "rev-parse", "--path-format=absolute", "--git-common-dir"))
    cut = await asyncio.to_thread(safe_files.text, folder, "shallow", most=1 << 20)
    known = await quiet.text(top, "for-each-ref", "--format=%(objectname)", "refs/remotes")
    return list(dict.fromkeys(COMMIT_ID.findall(f"{cut}\n{known}")))[:MOST_ROOTS]


async def _not_there(git: Git, mirror: Path, names: list[str]) -> list[str]:
    asked = "".join(f"{name}\n" for name in names).encode()
    answer = await git.text(mirror, "cat-file", "--batch-check=%(objectname)", stdin=asked)
    return [line.split(" ")[0] for line in answer.splitlines() if line.endswith(" missing")]


async def refuse_gaps(git: Git, mirror: Path, top: Path) -> None:
    """Raise Refused unless the mirror holds every object of every branch."""
    code, _, complaint = await git.attempt(mirror, "rev-list", "--objects", "--quiet", "--branches", "--tags")
    if code or await asyncio.to_thread((mirror / "shallow").exists):
        raise incomplete(top, complaint or "its history is still cut off")


def incomplete(top: Path, why: str) -> Refused:
    """Report that a clone lacks something we cannot get, and how to complete it."""
    there = f"git -C {shlex.quote(str(top))}"
    return Refused(
        f"{top} is a shallow or partial clone, and the rest of it cannot be fetched: {why.rstrip('.')}.",
        hint=f"Complete it with `{there} fetch --unshallow`; if it is partial, `{there} fetch --refetch --no-filter`.",
        because=(why,),
    )
