"""Which files decide what the checks check: the agent may change them, but not to its own advantage."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable

from midwatch.errors import Unknown
from midwatch.rules.checks.cheating import FileFact, FileKind
from midwatch.rules.checks.manifests import ManifestChange, change_of, is_manifest, takes_over
from midwatch.rules.checks.steering import steers_checks, steers_only_new
from midwatch.rules.paths import names
from midwatch.terms.jobs import FileChange

EXISTING_TESTS = (
    "tests/",
    "test/",
    "spec/",
    "__tests__/",
    "testdata/",
    "test_*.py",
    "*_test.py",
    "*_test.go",
    "*_test.c*",
    "*_test.exs",
    "*_spec.rb",
    "*.test.*",
    "*.spec.*",
    "*Test.java",
    "*Tests.java",
    "*IT.java",
    "*Test.kt",
    "*Test.php",
    "*Tests.cs",
)
"""Restored from the base; new ones stay, because they are part of the work."""

SNAPSHOTS = ("__snapshots__/", "*.snap", "*.ambr", "*.snapshot", "*.approved.*", "*.golden")
"""What tests compare with, as a tool recorded it: restored from the base."""

FIXTURES = ("fixtures/", "__fixtures__/", "fixture/", "testdata/", "test-data/", "test_data/")
"""Inside tests, settings in these are what a test works on."""

SCRIPT_NAMES = re.compile(r"check|test|verify|lint|spec|(?:^|[^a-z])ci(?:[^a-z]|$)")
INTERPRETERS = re.compile(r"(?:.*/)?(?:sh|bash|dash|zsh|python[\d.]*|node|ruby|perl|deno|bun)$")

MOST_CHARACTERS = 200_000
"""Bytes read of one file; a longer test file or settings file is judged by its beginning."""

Read = Callable[[str, str], Awaitable[bytes]]


def scripts_of(commands: Iterable[str]) -> frozenset[str]:
    """Name the files in the tree that check commands call: a check is what its script says.

    Only files whose names look like a check: `python3 app.py` runs what the work is about.
    """
    found = set()
    for command in commands:
        words = re.split(r"[\s;&|()]+", command)
        for before, word in zip(["", *words], words, strict=False):
            path = word.strip("\"'").removeprefix("./")
            called = "/" in word or bool(INTERPRETERS.match(before.strip("\"'")))
            if called and not word.startswith(("/", "-")) and SCRIPT_NAMES.search(path.rsplit("/", 1)[-1].lower()):
                found.add(path)
    return frozenset(found)


async def kind_of(
    change: FileChange,
    read: Read,
    commits: tuple[str, str],
    scripts: frozenset[str],
    base: frozenset[str] = frozenset(),
) -> FileKind:
    """Say what a changed file is to the checks; `base` names the files that were there before."""
    path = change.path
    is_test = names(path, EXISTING_TESTS)
    usual = FileKind.TEST if is_test else FileKind.CODE
    if path in scripts:
        return FileKind.CONFIG
    if is_test and names(path, FIXTURES):
        return usual
    if steers_checks(path):
        return usual if change.status == "A" and steers_only_new(path, base) else FileKind.CONFIG
    if (kind := await _as_manifest(change, read, commits, base)) is not None:
        return kind
    return FileKind.SNAPSHOT if names(path, SNAPSHOTS) else usual


async def _as_manifest(
    change: FileChange, read: Read, commits: tuple[str, str], base: frozenset[str]
) -> FileKind | None:
    path = change.path
    if not is_manifest(path):
        return None
    if change.status == "A" and steers_only_new(path, base):
        return FileKind.CODE
    texts = [await _whole(read, commit, path) for commit in commits]
    if texts[0] is None or texts[1] is None:
        return FileKind.CONFIG
    changed = await asyncio.to_thread(change_of, path, texts[0], texts[1])
    if changed is ManifestChange.BUILD and change.status == "A" and not takes_over(path, base):
        return FileKind.CODE
    if changed is ManifestChange.SETTINGS:
        return FileKind.CONFIG
    return FileKind.BUILD if changed is ManifestChange.BUILD else FileKind.CODE


async def _whole(read: Read, commit: str, path: str) -> str | None:
    """Read a manifest whole; nothing where it is not there, None where it is no text."""
    try:
        return (await read(commit, path))[: 4 * MOST_CHARACTERS].decode()
    except Unknown:
        return ""
    except UnicodeDecodeError:
        return None


def to_restore(files: Iterable[FileFact]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Split the changed check files into those to restore from the base and those to remove.

    A test file that was only moved is where it belongs: restored, it would exist twice.
    """
    every = tuple(files)
    moved_to = {_content(file) for file in every if file.kind is FileKind.TEST and file.before is None}
    back: list[str] = []
    away: list[str] = []
    for file in every:
        if file.allowed or file.kind in (FileKind.CODE, FileKind.BUILD):
            continue
        if file.before is not None:
            known_whole = file.after is None and len(file.before) < MOST_CHARACTERS
            moved = known_whole and (file.path.rsplit("/", 1)[-1], file.before) in moved_to
            if not moved:
                back.append(file.path)
        elif file.kind is FileKind.CONFIG:
            away.append(file.path)
    return tuple(back), tuple(away)


def _content(file: FileFact) -> tuple[str, str]:
    return file.path.rsplit("/", 1)[-1], file.after or ""
