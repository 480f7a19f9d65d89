"""What an agent's clone still holds: its size, its age, and work that exists only there."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

from midwatch.errors import MidwatchError
from midwatch.terms.figures import some
from midwatch.terms.term import Term
from midwatch.workshop.git.git import Git
from midwatch.workshop.git.sandboxed_git import SandboxedGit
from midwatch.workshop.sandbox import safe_files
from midwatch.workshop.sandbox.disk import weigh

MOST_REFS = 20_000
MOST_STATUS = 16 * 1024**2
WALL = timedelta(minutes=3)
CANNOT_TELL = "it cannot be read, so this is unknown"
_SHA = re.compile(r"\b[0-9a-f]{40}\b")

# Our own git folder and the agent's index, as data: its settings, hooks and excludes are never read.
# The index keeps its time, from which git knows that a file changed in the same moment cannot be trusted.
# Where git cannot open a folder it says so, leaves out what is in it, and ends well.
# A nested repository is not entered: git would run there with that repository's own settings.
_LOOK = """
git cat-file --batch-check='%(objectname) %(objecttype)' < "$desk/names" > "$desk/there"
git update-ref --no-deref HEAD "$head"
if [ -f "$tree/.git/index" ]; then cp -p "$tree/.git/index" index; else git read-tree HEAD; fi
export LC_ALL=C
git --git-dir="$desk/borrower.git" --work-tree="$tree" -c core.bare=false status --porcelain=v1 -z \\
  --no-renames --untracked-files=normal --ignore-submodules=all > "$desk/status" 2> "$desk/said"
if grep -q 'could not open directory' "$desk/said"; then exit 1; fi
"""


class Kept(Term):
    """One attempt's clone on disk."""

    job: str
    epoch: int
    path: str
    bytes: int
    changed_at: datetime
    head: str = ""
    unique: tuple[str, ...] = ()
    """Work that exists only there, in words; nothing where all of it is in the mirror."""


def epochs(folder: Path) -> list[int]:
    """List a job's attempts, oldest first."""
    if not folder.is_dir():
        return []
    return sorted(int(place.name) for place in folder.iterdir() if place.name.isdigit() and place.is_dir())


def measured(place: Path, who: tuple[str, int, str], unique: tuple[str, ...]) -> Kept:
    """Measure a clone. Its age is the newest change of any file's record, which no agent can set back."""
    job, epoch, head = who
    size, newest, _ = weigh(place)
    changed_at = datetime.fromtimestamp(newest, UTC)
    return Kept(job=job, epoch=epoch, path=str(place), bytes=size, changed_at=changed_at, head=head, unique=unique)


def unjudged(place: Path, job: str, epoch: int) -> Kept:
    """Describe a clone that cannot be read; an empty one holds nothing."""
    try:
        empty = not (place / "tree").is_dir() or not any((place / "tree").iterdir())
    except OSError:  # an agent may have closed it
        empty = False
    return measured(place, (job, epoch, ""), () if empty else (CANNOT_TELL,))


async def unique_work(git_sandbox: SandboxedGit, git: Git, mirror: Path, head: str) -> tuple[str, ...]:
    """List what a clone holds that is not in the mirror: commits, stashes, and uncommitted changes."""
    try:
        named = _named(git_sandbox.walls.tree)
        await git_sandbox.put("names", sorted({head, *named}))
        code = await git_sandbox.run(_LOOK, {"head": head}, wall=WALL)
        if code:
            return (CANNOT_TELL,)
        there = (await git_sandbox.read("there", most=MOST_STATUS)).decode(errors="replace")
        status = await git_sandbox.read("status", most=MOST_STATUS)
        missing = await _missing(git, mirror, _present(there))
    except (MidwatchError, OSError):
        return (CANNOT_TELL,)
    return (*_commits(missing, named), *_changes(status))


def _named(tree: Path) -> dict[str, str]:
    """Collect what the clone's refs and stash name, by reading files; what cannot be read might name more work."""
    found: dict[str, str] = {}
    files = list(safe_files.names_below(tree, ".git/refs", most=MOST_REFS))
    for name in files:
        found |= dict.fromkeys(_SHA.findall(safe_files.whole_text(tree, name)), name.removeprefix(".git/"))
    for line in safe_files.whole_text(tree, ".git/packed-refs", most=MOST_STATUS).splitlines():
        found |= dict.fromkeys(_SHA.findall(line), line.split(" ")[-1])
    # Older stashes are named only in the log of the newest.
    log = safe_files.whole_text(tree, ".git/logs/refs/stash", most=MOST_STATUS)
    return found | dict.fromkeys(_SHA.findall(log), "refs/stash")


def _present(there: str) -> list[str]:
    return [line.split(" ")[0] for line in there.splitlines() if not line.endswith(" missing")]


async def _missing(git: Git, mirror: Path, names: list[str]) -> list[str]:
    """List the objects the mirror lacks; it never collects, so an object in it stays, with all it needs."""
    asked = "".join(f"{name}\n" for name in names).encode()
    answer = await git.text(mirror, "cat-file", "--batch-check=%(objectname) %(objecttype)", stdin=asked)
    return [line.split(" ")[0] for line in answer.splitlines() if line.endswith(" missing")]


def _commits(missing: list[str], named: dict[str, str]) -> list[str]:
    stashed = [name for name in missing if named.get(name) == "refs/stash"]
    lost = [name for name in missing if name not in stashed]
    words = [f"{some(len(lost), 'branch end')} with commits ({lost[0][:12]})"] if lost else []
    return words + ([some(len(stashed), "stashed change")] if stashed else [])


def _changes(status: bytes) -> list[str]:
    lines = [line for line in status.split(b"\0") if line]
    new = [line for line in lines if line.startswith(b"??")]
    staged = [line for line in lines if line[:1] not in b" ?"]
    edited = [line for line in lines if line[1:2] not in b" ?"]
    kinds = ((staged, "staged"), (edited, "edited"), (new, "new"))
    return [
        f"{some(len(found), f'{word} file')} ({found[0][3:].decode(errors='backslashreplace')})"
        for found, word in kinds
        if found
    ]
