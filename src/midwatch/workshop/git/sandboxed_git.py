"""Runs git inside the walls, with our settings, on the objects of an agent's clone."""

import asyncio
import shlex
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

from midwatch.errors import Refused, Unavailable
from midwatch.terms.agents import IN_CHECKOUT
from midwatch.terms.projects import commit_id
from midwatch.workshop.git.git import environment, hardened
from midwatch.workshop.sandbox import safe_files
from midwatch.workshop.sandbox.deep_folders import remove, remove_if_possible
from midwatch.workshop.sandbox.enclosure import Enclosure
from midwatch.workshop.sandbox.process_limits import WALL
from midwatch.workshop.sandbox.walls.entry import place_inside
from midwatch.workshop.sandbox.walls.spec import MIB, SandboxLimits, SandboxSpec

DELIVERY_REF = "refs/heads/delivery"
MOST_BYTES = 128 * MIB
_CALM = {"core.bigFileThreshold": "8m", "pack.threads": "1", "pack.windowMemory": "64m", "index.threads": "1"}
_LIMITS = SandboxLimits(data_bytes=1024 * MIB, file_bytes=512 * MIB)

_OPEN = """
git init --quiet --bare --template= "$desk/borrower.git"
cd "$desk/borrower.git"
mkdir -p objects/info info
printf '%s\\n' "$tree/.git/objects" "$mirror" > objects/info/alternates
"""
_AT_HEAD = """
git cat-file -e "$head^{commit}" || exit 3
git update-ref refs/heads/delivery "$head"
"""


@dataclass(frozen=True, slots=True)
class SandboxedGit:
    """One attempt's clone, read from inside the walls; the agent never sees `folder`."""

    enclosure: Enclosure
    walls: SandboxSpec
    folder: Path
    log: Path

    async def run(self, script: str, facts: dict[str, str], *, wall: timedelta) -> int:
        """Run a shell script with these variables, and return its exit code."""
        tree = place_inside(self.walls, self.enclosure.isolation)
        given = {"desk": str(self.folder / "out"), "tree": str(tree), "mirror": str(self.walls.objects[0]), **facts}
        words = "".join(f"{name}={shlex.quote(value)}\n" for name, value in given.items())
        git = f'git() {{ {shlex.join(["command", *hardened(_CALM)])} "$@"; }}\n'
        argv = ["/bin/sh", "-euc", words + git + _OPEN + script]
        ended = await self.enclosure.run(self.walls, argv, log=self.log, wall=wall)
        if ended.exit_code == WALL:
            raise Unavailable(
                f"Looking at the agent's clone took longer than {wall}.", hint="Open the checkout and look yourself."
            )
        return ended.exit_code

    async def read(self, name: str, *, most: int) -> bytes:
        """Read a file that a script left in the folder; one that is too long raises Broken, and counts as no other."""
        return await asyncio.to_thread(safe_files.whole, self.folder, f"out/{name}", most=most)

    async def put(self, name: str, lines: Sequence[str]) -> None:
        """Write a list into the folder for a script to read."""
        text = "".join(f"{line}\n" for line in lines)
        await asyncio.to_thread((self.folder / "out" / name).write_text, text)


@asynccontextmanager
async def git_sandbox(enclosure: Enclosure, place: Path, objects: Path) -> AsyncIterator[SandboxedGit]:
    """Make the folder beside an attempt's tree, and remove it afterwards."""
    folder = place / "desk"
    await asyncio.to_thread(_set_up, folder)
    surroundings = {key: value for key, value in environment().items() if key not in ("PATH", "HOME")}
    walls = SandboxSpec(
        tree=place / "tree",
        objects=(objects,),
        writable=(folder / "out",),
        home=folder / "home",
        environment=surroundings,
        tree_read_only=True,
        limits=_LIMITS,
    )
    try:
        yield SandboxedGit(enclosure=enclosure, walls=walls, folder=folder, log=place / "desk.log")
    finally:
        await asyncio.to_thread(remove_if_possible, folder)


def _set_up(folder: Path) -> None:
    remove(folder)
    folder.parent.joinpath("desk.log").unlink(missing_ok=True)
    for name in ("out", "home"):
        (folder / name).mkdir(parents=True)


async def pack(git_sandbox: SandboxedGit, bundle: Path, *, base: str, head: str, wall: timedelta) -> None:
    """Bundle the commits from base to head; never write more than the cap."""
    # A pipe cuts off a bundle that grows too large; git's message comes through a file.
    script = f"""{_AT_HEAD}
umask 077
{{ code=0; git bundle create --quiet --version=2 - "^$base" {DELIVERY_REF} || code=$?; echo $code > "$desk/code"; }} \\
  | head -c {MOST_BYTES + 1} > "$desk/bundle"
"""
    code = await git_sandbox.run(script, {"base": commit_id(base), "head": commit_id(head)}, wall=wall)
    made = git_sandbox.folder / "out" / "bundle"
    if code == 0:
        await asyncio.to_thread(safe_files.plain, made, most=MOST_BYTES)
    said = (await git_sandbox.read("code", most=16)).strip()
    if code or said != b"0":
        raise await asyncio.to_thread(_no_bundle, git_sandbox.log, head, unknown=code == 3)
    await asyncio.to_thread(made.rename, bundle)


def _no_bundle(log: Path, head: str, *, unknown: bool) -> Refused:
    lines = safe_files.text(log.parent, log.name, most=8 * MIB).splitlines()
    why = lines[-1][-200:] if lines else "git gave no reason"
    if unknown:
        return Refused(
            f"The agent's clone has no commit {head[:12]} ({why}).",
            hint="The agent named a commit it never made; look at the job's log.",
        )
    return Refused(f"The work could not be packed: {why}.", hint=f"See {log}; the agent's clone may be damaged.")


async def difference(git_sandbox: SandboxedGit, *, base: str, head: str, most: int, wall: timedelta) -> str:
    """Return the patch from base to head, at most that many bytes."""
    form = "--patch --text --no-textconv --no-ext-diff --no-color"
    script = f'{_AT_HEAD}\ngit diff {form} "$base" "$head" -- | head -c {most} > "$desk/patch"\n'
    code = await git_sandbox.run(script, {"base": commit_id(base), "head": commit_id(head)}, wall=wall)
    return "" if code else (await git_sandbox.read("patch", most=most)).decode(errors="replace")


LEFTOVERS_WALL = timedelta(minutes=2)
JUNK = (
    *("__pycache__/", "*.pyc", ".pytest_cache/", ".mypy_cache/", ".ruff_cache/", ".hypothesis/", ".coverage"),
    *("node_modules/", ".venv/", ".tox/", ".nox/", "*.swp", "*~", ".DS_Store"),
    *(f"/{folder}/" for folder in IN_CHECKOUT),
)
"""What programs leave behind without purpose; what the project itself ignores is left out anyway."""
# A lock of a killed git has no holder: every process that could hold it has ended.
_COMMIT = """
cd "$tree"
rm -f .git/index.lock
git -c core.excludesFile="$desk/junk" add --all -- .
git diff --cached --quiet || { git commit --quiet --no-verify --message "$message"; echo yes > "$desk/committed"; }
"""


async def commit_leftovers(git_sandbox: SandboxedGit, message: str) -> bool:
    """Commit what is changed or new, and return whether there was anything; leave it uncommitted where git refuses."""
    at_work = replace(git_sandbox, walls=replace(git_sandbox.walls, tree_read_only=False))
    await at_work.put("junk", JUNK)
    code = await at_work.run(_COMMIT, {"message": message}, wall=LEFTOVERS_WALL)
    return code == 0 and bool(await at_work.read("committed", most=16))
