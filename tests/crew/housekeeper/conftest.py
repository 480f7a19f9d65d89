"""A real repository for the housekeeper to work in, and its own command line, called in this process.

As the process it is elsewhere it runs in test_watching and test_executing (killed, followed) and in each night with it.
"""

import contextlib
import hashlib
import io
import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from midwatch.crew.housekeeper.__main__ import main
from midwatch.terms.jobs import Done, Finding, Plan


@dataclass
class Repo:
    """A git repository under a temporary folder."""

    root: Path
    said: list[dict[str, str]] = field(default_factory=list)
    stderr: str = ""

    def git(self, *arguments: str) -> str:
        environment = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
        who = ["-c", "user.name=A Person", "-c", "user.email=person@example.invalid"]
        command = ["git", "-C", str(self.root), *who, *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout.strip()

    def commit(self, files: dict[str, str | bytes]) -> str:
        for path, content in files.items():
            place = self.root / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content if isinstance(content, bytes) else content.encode())
        self.git("add", "-A", "-f")
        self.git("commit", "-qm", "a person's work")
        return self.git("rev-parse", "HEAD")

    def read(self, path: str) -> bytes:
        return (self.root / path).read_bytes()

    def subjects(self, base: str) -> list[str]:
        return self.git("log", "--reverse", "--format=%s", f"{base}..HEAD").splitlines()

    def command(self, verb: str, *options: str) -> list[str]:
        return [sys.executable, "-m", "midwatch.crew.housekeeper", *self._words(verb, *options)]

    def _words(self, verb: str, *options: str) -> list[str]:
        return [verb, "--checkout", str(self.root), "--out", str(self.root.parent / f"{verb}.json"), *options]

    def run(self, verb: str, *options: str) -> int:
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                code = main(self._words(verb, *options))
            except SystemExit as refused:
                code = int(refused.code or 0)
        self.stderr = err.getvalue()
        self.said = [json.loads(line) for line in out.getvalue().splitlines()]
        return code

    def result(self, verb: str) -> Any:
        return json.loads((self.root.parent / f"{verb}.json").read_text())

    def plan(self, *options: str) -> Plan:
        assert self.run("plan", *options) == 0, self.stderr
        return Plan.model_validate(self.result("plan"))

    def execute(self, *options: str) -> Done:
        self.plan(*options)
        assert self.run("execute", "--plan", str(self.root.parent / "plan.json"), *options) == 0, self.stderr
        return Done.model_validate(self.result("execute"))

    def repair(self, *options: str) -> Done:
        assert self.run("repair", *options) == 0, self.stderr
        return Done.model_validate(self.result("repair"))

    def fingerprint(self) -> str:
        """Every byte, name, mode and time below the root, the git directory included."""
        digest = hashlib.sha256()
        for path in sorted(self.root.rglob("*")):
            facts = path.lstat()
            digest.update(f"{path} {facts.st_mode} {facts.st_mtime_ns}".encode())
            digest.update(path.read_bytes() if path.is_file() else b"")
        return digest.hexdigest()

    def line(self, finding: Finding, commit: str) -> str:
        command = ["git", "-C", str(self.root), "show", f"{commit}:{finding.path}"]
        shown = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        return shown.split("\n")[finding.line - 1].strip()


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """An empty repository."""
    root = tmp_path / "checkout"
    root.mkdir()
    made = Repo(root)
    made.git("init", "-q", "-b", "main")
    return made
