"""Opens a bundle in a repository of its own: measured before it is unpacked, and unpacked within limits."""

import asyncio
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from midwatch.errors import Refused
from midwatch.terms.projects import commit_id
from midwatch.workshop.git.git import Git, telling_line
from midwatch.workshop.git.mirrors import GitMirrors
from midwatch.workshop.git.sandboxed_git import MOST_BYTES
from midwatch.workshop.sandbox.deep_folders import remove

MIB = 1 << 20
MOST_HEADER = 64 * 1024
MOST_OBJECTS = 200_000
MOST_FILE = 64 * MIB
MOST_TREE = 8 * MIB
MOST_ALTOGETHER = 512 * MIB
MOST_TREES = 64 * MIB
TIP = "refs/heads/tip"
PLAIN = {
    "hasDotgit": "it holds a name that git would take for its own folder",
    "hasDot": "it holds a file or folder called .",
    "hasDotdot": "it holds a file or folder called ..",
    "fullPathname": "it holds a name with a slash in it",
}
"""Messages of git's checker in plain words."""
MODES = frozenset({b"40000", b"100644", b"100755", b"100664", b"120000", b"160000"})


@dataclass(frozen=True)
class PackedWork:
    """What an agent delivers: commits from base to head in a bundle, for one attempt at one job."""

    project: str
    job: str
    epoch: int
    base: str
    head: str
    bundle: Path


@dataclass(frozen=True)
class Contents:
    """What the bundle's pack holds: each object's kind and its size when unpacked."""

    kinds: dict[str, str] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)

    def of(self, kind: str) -> list[str]:
        return [name for name, found in self.kinds.items() if found == kind]


def unreadable(why: str) -> Refused:
    """Report why a delivery cannot be opened."""
    return Refused(f"The work cannot be accepted: {why}.", hint="Start the job again.", because=(why,))


async def unpack(git: Git, mirrors: GitMirrors, delivery: PackedWork, place: Path) -> Contents:
    """Index the bundle's pack with fsck's strict checker, with the mirror's objects as alternates.

    A fetch from a bundle skips that checker, and `git fsck` would also judge every object the person ever committed.
    """
    mirror = mirrors.path(delivery.project)
    await asyncio.to_thread(remove, place)
    await git.run(Path("/"), "init", "--quiet", "--bare", "--template=", "--object-format=sha1", str(place))
    await asyncio.to_thread(_borrow, place, mirror)
    with _opened(delivery) as (file, needed):
        await _refuse_unknown(git, place, needed)
        index = ("index-pack", "--stdin", "--fix-thin", "--strict", f"--max-input-size={MOST_BYTES}")
        code, _, complaints = await git.converse(place, *index, stdin=file)
    if code:
        raise unreadable(_why(code, complaints))
    contents = await _weigh(git, place)
    code, _, complaint = await git.attempt(place, "update-ref", TIP, f"{delivery.head}^{{commit}}")
    if code:
        raise unreadable(complaint)
    if (await git.attempt(place, "merge-base", "--is-ancestor", delivery.base, delivery.head))[0]:
        raise Refused(
            "The work does not descend from the commit it was to start from.",
            hint="Start the job again; the agent must build on the commit it was given.",
        )
    return contents


def _why(code: int, complaints: str) -> str:
    if code < 0 or "memory" in complaints or "malloc" in complaints:
        return "unpacking it needs far more time or memory than normal work does"
    line = telling_line(complaints)
    plain = (f"{words} (git says {name})" for name, words in PLAIN.items() if f" {name}:" in line)
    return next(plain, line) or f"git index-pack ended with {code}"


@contextmanager
def _opened(delivery: PackedWork) -> Iterator[tuple[int, list[str]]]:
    """Open a version 2 bundle that holds exactly the promised commit, and seek to the start of its pack."""
    try:
        file = os.open(delivery.bundle, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise unreadable(f"the bundle cannot be opened ({error.strerror})") from None
    try:
        facts = os.fstat(file)
        if not stat.S_ISREG(facts.st_mode):
            raise unreadable("the bundle is not a plain file")
        if facts.st_size > MOST_BYTES:
            raise Refused(f"The work is larger than {MOST_BYTES // MIB} MiB.", hint="Keep large files out of commits.")
        header, gap, pack = os.read(file, MOST_HEADER).partition(b"\n\n")
        needed = _read_header(header if gap else b"", delivery)
        _count_objects(pack[:12])
        os.lseek(file, len(header) + 2, os.SEEK_SET)
        yield file, needed
    finally:
        os.close(file)


def _read_header(header: bytes, delivery: PackedWork) -> list[str]:
    first, *lines = header.split(b"\n")
    if first != b"# v2 git bundle":
        raise unreadable("it is not a git bundle")
    heads = [line.split(b" ")[0].decode(errors="replace") for line in lines if not line.startswith(b"-")]
    if heads != [commit_id(delivery.head)] or not commit_id(delivery.base):
        raise unreadable("it holds another commit than the one promised")
    return [line[1:41].decode(errors="replace") for line in lines if line.startswith(b"-")]


def _count_objects(start: bytes) -> None:
    count = int.from_bytes(start[8:12], "big")
    if start[:4] != b"PACK" or len(start) < 12:
        raise unreadable("it holds no pack")
    if count > MOST_OBJECTS:
        raise unreadable(f"it holds {count} objects, more than {MOST_OBJECTS}")


async def _refuse_unknown(git: Git, place: Path, needed: list[str]) -> None:
    asked = "".join(f"{name}\n" for name in needed).encode()
    answer = await git.text(place, "cat-file", "--batch-check=%(objecttype)", stdin=asked)
    if any(line != "commit" for line in answer.splitlines()):
        raise unreadable("it builds on a commit that is not in the mirror")


async def _weigh(git: Git, place: Path) -> Contents:
    """Check the size of everything before unpacking: a small pack can become very large."""
    names: list[str] = []
    for index in await asyncio.to_thread(lambda: list((place / "objects" / "pack").glob("*.idx"))):
        file = await asyncio.to_thread(os.open, index, os.O_RDONLY | os.O_CLOEXEC)
        try:
            _, out, _ = await git.converse(place, "show-index", stdin=file)
        finally:
            os.close(file)
        names += [line.split()[1].decode() for line in out.splitlines()]
    asked = "".join(f"{name}\n" for name in names).encode()
    answer = await git.text(place, "cat-file", "--batch-check=%(objectname) %(objecttype) %(objectsize)", stdin=asked)
    contents = Contents()
    for name, kind, size in (line.split(" ") for line in answer.splitlines()):
        contents.kinds[name], contents.sizes[name] = kind, int(size)
    _refuse_heavy(contents)
    return contents


def _refuse_heavy(contents: Contents) -> None:
    heaviest = {kind: max((contents.sizes[name] for name in contents.of(kind)), default=0) for kind in ("blob", "tree")}
    if heaviest["blob"] > MOST_FILE:
        raise _heavy(f"a file of {heaviest['blob'] // MIB} MiB, more than {MOST_FILE // MIB}")
    if heaviest["tree"] > MOST_TREE:
        raise _heavy("a folder with far too many entries")
    if sum(contents.sizes[name] for name in contents.of("tree")) > MOST_TREES:
        raise _heavy("far too many folders")
    if (total := sum(contents.sizes.values())) > MOST_ALTOGETHER:
        raise _heavy(f"{total // MIB} MiB when unpacked, more than {MOST_ALTOGETHER // MIB}")


def _heavy(what: str) -> Refused:
    return Refused(f"The work holds {what}.", hint="Keep large files out of commits, and ask for smaller steps.")


async def odd_modes(git: Git, place: Path, contents: Contents) -> list[str]:
    """Name entries with modes that git never writes; git itself shows them as if they were plain ones."""
    trees = contents.of("tree")
    asked = "".join(f"{name}\n" for name in trees).encode()
    out = await git.run(place, "cat-file", "--batch=%(objectsize)", stdin=asked)
    found = await asyncio.to_thread(lambda: list(_odd(_split(out, len(trees)))))
    return [f"{name.decode(errors='backslashreplace')} has the mode {mode.decode()}" for mode, name in found]


def _split(out: bytes, count: int) -> Iterator[bytes]:
    place = 0
    for _ in range(count):
        end = out.index(b"\n", place)
        size = int(out[place:end])
        yield out[end + 1 : end + 1 + size]
        place = end + 1 + size + 1


def _odd(trees: Iterable[bytes]) -> Iterator[tuple[bytes, bytes]]:
    for tree in trees:
        place = 0
        while place < len(tree):
            end = tree.index(b"\0", place)
            mode, _, name = tree[place:end].partition(b" ")
            if mode not in MODES:
                yield mode, name
            place = end + 21


def _borrow(place: Path, mirror: Path) -> None:
    (place / "objects" / "info").mkdir(exist_ok=True)
    (place / "objects" / "info" / "alternates").write_text(f"{mirror / 'objects'}\n")
