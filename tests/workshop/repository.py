"""A person's repository for tests: real git, real files, and a picture of everything in it."""

import hashlib
import os
import subprocess
from pathlib import Path

ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.invalid",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.invalid",
}


class Repository:
    """A git repository, driven as a person (or an agent in its clone) would."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def begin(cls, path: Path, files: dict[str, str] | None = None) -> "Repository":
        """Make one with a first commit on main."""
        path.mkdir(parents=True)
        made = cls(path)
        made.git("init", "--quiet", "--initial-branch=main")
        made.commit("Begin", files or {"README.md": "hello\n", "src/app.py": "x = 1\n"})
        return made

    def git(self, *arguments: str, stdin: bytes | None = None) -> str:
        """Run git here and return its words."""
        command = ["git", "-c", "safe.directory=*", "-C", str(self.path), *arguments]
        done = subprocess.run(command, env=ENVIRONMENT, input=stdin, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode().strip()

    def write(self, files: dict[str, str]) -> None:
        """Put files into the work tree."""
        for name, text in files.items():
            file = self.path / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)

    def commit(self, subject: str, files: dict[str, str] | None = None) -> str:
        """Write, add and commit; tell the new commit."""
        self.write(files or {})
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", subject)
        return self.head

    def commit_tree(self, subject: str, *, mktree: str, parent: str) -> str:
        """Make a commit out of a hand-written tree, as no honest git would."""
        tree = self.git("mktree", "--missing", stdin=mktree.encode())
        return self.git("commit-tree", tree, "-p", parent, "-m", subject)

    def blob(self, text: str) -> str:
        """Store a file's content and tell its name."""
        return self.git("hash-object", "-w", "--stdin", stdin=text.encode())

    @property
    def head(self) -> str:
        """The newest commit."""
        return self.git("rev-parse", "HEAD")

    def refs(self) -> dict[str, str]:
        """Every ref with its commit."""
        lines = self.git("for-each-ref", "--format=%(refname) %(objectname)").splitlines()
        return dict(line.split(" ") for line in lines)

    def picture(self) -> dict[str, str]:
        """All refs but agent/*, HEAD, index, settings and every byte of the work tree."""
        seen = {name: commit for name, commit in self.refs().items() if not name.startswith("refs/heads/agent/")}
        for file in [*self.path.rglob("*")]:
            name = str(file.relative_to(self.path))
            ours = not name.startswith(".git/") or name in {".git/HEAD", ".git/index", ".git/config", ".git/FETCH_HEAD"}
            if file.is_file() and ours:
                seen[name] = hashlib.sha256(file.read_bytes()).hexdigest()
        return seen


def set_traps(repository: Repository, proof: Path) -> None:
    """Make every hook and program setting of a repository leave a trace when it runs."""
    hooks = repository.path / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    names = "pre-receive update post-receive post-update reference-transaction post-checkout post-merge pre-push"
    for name in [
        *names.split(),
        "post-index-change",
        "pre-merge-commit",
        "commit-msg",
        "post-commit",
        "push-to-checkout",
    ]:
        hook = hooks / name
        hook.write_text(f"#!/bin/sh\necho {name} >> {proof}\n")
        hook.chmod(0o755)
    trap = repository.path.parent / "trap.sh"
    trap.write_text(f"#!/bin/sh\necho trap >> {proof}\n")
    trap.chmod(0o755)
    for key in ("core.fsmonitor", "core.sshCommand", "core.pager", "gpg.program", "uploadpack.packObjectsHook"):
        repository.git("config", key, str(trap))
    repository.git("config", "receive.denyCurrentBranch", "updateInstead")
