"""The git commands of the housekeeper, without hooks, user settings or signatures."""

import os
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from midwatch.crew.housekeeper.answers import HousekeeperCommit
from midwatch.errors import Broken

NAME = "Midwatch housekeeper"
EMAIL = "housekeeper@midwatch.invalid"
QUIET = (
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "commit.gpgsign=false",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "safe.directory=*",
)
SYMLINK, SUBMODULE = "120000", "160000"


@dataclass(frozen=True)
class TrackedPath:
    """One path git knows, with its mode."""

    path: str
    mode: str


@dataclass(frozen=True)
class Checkout:
    """A private checkout."""

    root: Path

    def git(self, *arguments: str, stdin: str = "", code: int = 0) -> str:
        """Run git here and return its output; raise on an unexpected exit code."""
        done = self.ask(*arguments, stdin=stdin)
        if done.returncode != code:
            raise Broken(
                f"git {arguments[0]} failed in {self.root}: {done.stderr.strip() or done.returncode}.",
                hint="Give the housekeeper a fresh checkout.",
            )
        return done.stdout

    def ask(self, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["git", "-C", str(self.root), *QUIET, *arguments],
            input=stdin,
            capture_output=True,
            encoding="utf-8",
            errors="surrogateescape",
            env=_environment(),
            cwd=self.root,
            check=False,
        )

    def head(self) -> str:
        done = self.ask("rev-parse", "--verify", "-q", "HEAD^{commit}")
        if done.returncode:
            raise Broken(f"There is no commit in {self.root}.", hint="The housekeeper needs at least one commit.")
        return done.stdout.strip()

    def resolve(self, name: str) -> str:
        return self.git("rev-parse", "--verify", "-q", f"{name}^{{commit}}").strip()

    def entries(self) -> tuple[TrackedPath, ...]:
        """Every tracked path, except names that are not text."""
        listed = self.git("ls-files", "-s", "-z").split("\0")
        found = (TrackedPath(path=line.split("\t", 1)[1], mode=line[:6]) for line in listed if line)
        return tuple(sorted((e for e in found if e.path.isprintable()), key=lambda e: e.path))

    def attributes(self, paths: list[str], *names: str) -> dict[str, dict[str, str]]:
        result = self.git("check-attr", "-z", "--stdin", *names, stdin="".join(f"{p}\0" for p in paths)).split("\0")
        said: dict[str, dict[str, str]] = {}
        for path, name, value in zip(result[0::3], result[1::3], result[2::3], strict=False):
            said.setdefault(path, {})[name] = value
        return said

    def changed(self) -> tuple[str, ...]:
        """Tracked files that differ from the commit that is checked out."""
        return tuple(p for p in self.git("diff", "--name-only", "-z", "HEAD").split("\0") if p)

    def commit(self, message: str, paths: tuple[str, ...]) -> str:
        """Commit these paths and nothing else."""
        self.git("add", "--pathspec-from-file=-", "--pathspec-file-nul", stdin="\0".join(_literal(paths)))
        self.git("commit", "-q", "--no-verify", "--cleanup=verbatim", "-F", "-", stdin=message)
        return self.head()

    def back_to(self, commit: str) -> None:
        """Reset every tracked file to that commit."""
        self.git("reset", "-q", "--hard", commit)

    def commits(self, base: str, head: str) -> tuple[HousekeeperCommit, ...]:
        """The commits between two points, oldest first."""
        shas = self.git("rev-list", "--reverse", f"{base}..{head}").split()
        return tuple(self._counted(sha) for sha in shas)

    def author(self, sha: str) -> str:
        """The e-mail address of a commit's author."""
        return self.git("show", "-s", "--format=%ae", sha).strip()

    def touched(self, sha: str) -> tuple[str, ...]:
        """The paths one commit changed."""
        shown = self.git("diff-tree", "-r", "--no-commit-id", "--name-only", "-z", sha)
        return tuple(p for p in shown.split("\0") if p)

    def _counted(self, sha: str) -> HousekeeperCommit:
        subject = self.git("show", "-s", "--format=%s", sha).strip()
        counted = self.lines(f"{sha}^", sha)
        added, removed = (sum(pair[i] for pair in counted.values()) for i in (0, 1))
        return HousekeeperCommit(sha=sha, subject=subject, files=len(counted), insertions=added, deletions=removed)

    def lines(self, old: str, new: str) -> dict[str, tuple[int, int]]:
        """Lines added and removed between two commits, by path."""
        rows = self.git("diff", "--numstat", "-z", "--no-renames", "--no-ext-diff", old, new).split("\0")
        counted = {path: (a, r) for a, r, path in (row.split("\t", 2) for row in rows if row)}
        # Where an attribute such as `-diff` hides the lines, git prints a dash.
        hidden = [path for path, (added, _) in counted.items() if added == "-"]
        seen = lines_between([(self._blob(old, path), self._blob(new, path)) for path in hidden])
        shown = {path: (int(a), int(r)) for path, (a, r) in counted.items() if a != "-"}
        return shown | dict(zip(hidden, seen, strict=True))

    def _blob(self, commit: str, path: str) -> bytes:
        command = ["git", "-C", str(self.root), *QUIET, "cat-file", "blob", f"{commit}:{path}"]
        return subprocess.run(command, cwd=self.root, capture_output=True, env=_environment(), check=True).stdout


def lines_between(pairs: list[tuple[bytes, bytes]]) -> list[tuple[int, int]]:
    """Lines added and removed between the two texts of each pair, counted by git but outside any repository."""
    counted = [(0, 0)] * len(pairs)
    if all(old == new for old, new in pairs):
        return counted
    with tempfile.TemporaryDirectory(prefix="midwatch-count-") as place:
        for at, name in enumerate(("old", "new")):
            (Path(place) / name).mkdir()
            for number, pair in enumerate(pairs):
                (Path(place) / name / str(number)).write_bytes(pair[at])
        command = ["git", *QUIET, "diff", "--no-index", "--numstat", "--no-renames", "old", "new"]
        environment = _environment() | {"GIT_CEILING_DIRECTORIES": str(Path(place).parent)}
        done = subprocess.run(command, cwd=place, capture_output=True, text=True, env=environment, check=False)
    if done.returncode not in {0, 1}:
        raise Broken(f"git could not count lines: {done.stderr.strip()}.", hint="Check the disk and the git program.")
    for row in done.stdout.splitlines():
        added, removed, path = row.split("\t")
        counted[int(path.rsplit("/", 1)[1])] = (int(added), int(removed))
    return counted


def _literal(paths: tuple[str, ...]) -> list[str]:
    return [f":(literal){p}" for p in paths]


def _environment() -> dict[str, str]:
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": os.devnull,
        "LC_ALL": "C.UTF-8",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_AUTHOR_NAME": NAME,
        "GIT_AUTHOR_EMAIL": EMAIL,
        "GIT_COMMITTER_NAME": NAME,
        "GIT_COMMITTER_EMAIL": EMAIL,
    }
