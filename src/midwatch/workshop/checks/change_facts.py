"""Reads what a change did to each file, so that rules can judge it without a repository."""

import asyncio
import contextlib
import re
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

from midwatch.errors import Unknown
from midwatch.rules.checks.cheating import FileFact
from midwatch.rules.checks.dependencies import DECLARING, dependencies_of
from midwatch.rules.checks.discovery import TELLING, Looked
from midwatch.rules.checks.shadowing import Surroundings
from midwatch.rules.paths import inside, names
from midwatch.terms.projects import commit_id
from midwatch.workshop.checks.check_files import MOST_CHARACTERS, Read, kind_of, scripts_of
from midwatch.workshop.checks.check_scripts import called_scripts
from midwatch.workshop.git.git import Git
from midwatch.workshop.git.mirrors import GitMirrors
from midwatch.workshop.git.remotes import is_url

MOST_PATHS = 50_000
MOST_DECLARING = 20
MOST_LOCK_BYTES = 4 * 1024**2
"""A longer lockfile cannot be read, and names nothing."""
_HUNK = re.compile(r"^@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@", re.MULTILINE)


async def read_changes(
    mirrors: GitMirrors, project: str, commits: tuple[str, str], may_change: tuple[str, ...], commands: tuple[str, ...]
) -> tuple[FileFact, ...]:
    """Read every changed file before and after the change, and its role in the checks."""
    base, head = commits

    async def read(commit: str, path: str) -> bytes:
        return await mirrors.show_file(project, commit, path)

    paths = frozenset(await _paths(mirrors.git, mirrors.path(project), base))
    scripts = scripts_of(commands) | await called_scripts(read, base, commands, paths)

    return tuple(
        [
            FileFact(
                path=change.path,
                kind=await kind_of(change, read, commits, scripts, paths),
                before=None if change.status == "A" else await _text(read, base, change.path),
                after=None if change.status == "D" else await _text(read, head, change.path),
                allowed=inside(change.path, may_change),
            )
            for change in await mirrors.changes(project, base, head)
        ]
    )


async def read_surroundings(
    mirrors: GitMirrors, project: str, base: str, installed: Iterable[str] = ()
) -> Surroundings:
    """Read what was there before a change: its files, and what they depend on; `installed` are modules of Python."""
    paths = await _paths(mirrors.git, mirrors.path(project), base)
    texts = {}
    for path in [path for path in paths if "/" not in path and names(path, DECLARING)][:MOST_DECLARING]:
        try:
            found = await mirrors.show_file(project, base, path)
        except Unknown:
            continue
        texts[path] = found[:MOST_LOCK_BYTES].decode(errors="replace")
    named = await asyncio.to_thread(dependencies_of, texts)
    return Surroundings(frozenset(paths), {**named, "python": named["python"] | frozenset(installed)})


_SITES = ("lib/python3*/site-packages", "lib/python3/dist-packages", "lib/python3*/dist-packages")


_OF_ANY_PROJECT = frozenset(
    {"tests", "test", "docs", "doc", "examples", "example", "scripts", "benchmarks", "src", "bin"}
)
"""Folders that some packages install by mistake, and that most projects have."""


def installed_modules(prefixes: Iterable[Path]) -> frozenset[str]:
    """List the modules of Python that are installed below folders, by the names under which they are imported."""
    sites = {site for prefix in prefixes for pattern in _SITES for site in prefix.glob(pattern)}
    found: set[str] = set()
    for site in sites:
        with contextlib.suppress(OSError):
            entries = islice(site.iterdir(), MOST_PATHS)
            found.update(entry.name.partition(".")[0] for entry in entries if "-info" not in entry.name)
    return frozenset(found - _OF_ANY_PROJECT)


async def _text(read: Read, commit: str, path: str) -> str:
    try:
        return (await read(commit, path))[: 4 * MOST_CHARACTERS].decode(errors="replace")[:MOST_CHARACTERS]
    except Unknown:
        return ""  # a link or a submodule, not a file: it exists, and holds no text


async def look(mirrors: GitMirrors, project: str, commit: str, placed: tuple[str, ...]) -> Looked:
    """Report what a commit says about its own checks."""
    return await _look(mirrors.git, mirrors.path(project), commit, placed)


async def look_now(mirrors: GitMirrors, project: str, source: str, branch: str) -> Looked | None:
    """Report what a project's branch says about its own checks now; None if nothing of it is on this machine."""
    place, git = mirrors.path(project) if is_url(source) else Path(source), mirrors.git.alone()
    if not await asyncio.to_thread(place.is_dir):
        return None
    wanted = f"refs/heads/{branch}^{{commit}}"
    code, out, _ = await git.attempt(place, "rev-parse", "--verify", "--quiet", "--end-of-options", wanted)
    return None if code else await _look(git, place, out.decode().strip(), ())


async def _look(git: Git, repository: Path, commit: str, placed: tuple[str, ...]) -> Looked:
    paths = await _paths(git, repository, commit)
    texts = {}
    for name in TELLING:
        if name in paths:
            code, found, _ = await git.attempt(repository, "cat-file", "blob", f"{commit_id(commit)}:{name}")
            if not code:  # a link or a submodule holds no text, and a partial clone may lack it
                texts[name] = found[:MOST_CHARACTERS].decode(errors="replace")
    return Looked(texts=texts, paths=paths, placed=placed)


async def _paths(git: Git, repository: Path, commit: str) -> tuple[str, ...]:
    listed = await git.run(repository, "ls-tree", "-r", "-z", "--name-only", commit_id(commit))
    return tuple(name.decode(errors="replace") for name in listed.split(b"\0")[:MOST_PATHS] if name)


async def changed_lines(mirrors: GitMirrors, project: str, base: str, head: str) -> dict[str, frozenset[int]]:
    """List the lines a change wrote, by file, numbered as after the change."""
    options = (
        "diff",
        "--unified=0",
        "--no-renames",
        "--text",
        "--no-textconv",
        "--no-ext-diff",
        "--no-color",
        "--no-prefix",
    )
    said = await mirrors.git.run(mirrors.path(project), *options, commit_id(base), commit_id(head), "--")
    found: dict[str, frozenset[int]] = {}
    for piece in re.split(r"^diff --git ", said.decode(errors="replace"), flags=re.MULTILINE)[1:]:
        target = re.search(r"^\+\+\+ (.+?)\t?$", piece, re.MULTILINE)
        if target is None or target[1] == "/dev/null":
            continue
        spans = ((int(start), int(count or 1)) for start, count in _HUNK.findall(piece))
        found[target[1]] = frozenset(line for start, count in spans for line in range(start, start + count))
    return found
