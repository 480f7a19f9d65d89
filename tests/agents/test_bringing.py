"""tools/agents.py: brings each agent once, whole or not at all, and says so where it cannot."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tools.agents import AGENTS

ROOT = Path(__file__).parents[2]
CODEX = next(agent for agent in AGENTS if agent.name == "codex")
NPM = """#!/bin/sh
echo "$@" >> "{folder}/npm-calls"
{before}
place="$3/node_modules/@openai/codex-some-machine/vendor/here/bin"
mkdir -p "$place"
printf '#!/bin/sh\\necho codex-cli {version}\\n' > "$place/codex"
chmod +x "$place/codex"
"""


class Machine:
    """A machine with an npm of our own, or none."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.cache = folder / "cache"
        (folder / "bin").mkdir()

    def npm(self, *, before: str = "", version: str = CODEX.version) -> None:
        program = self.folder / "bin" / "npm"
        program.write_text(NPM.format(folder=self.folder, before=before, version=version))
        program.chmod(0o755)

    def bring(self, *names: str) -> subprocess.CompletedProcess[str]:
        path = (
            f"{self.folder / 'bin'}:/usr/bin:/bin" if (self.folder / "bin/npm").exists() else str(self.folder / "bin")
        )
        environment = {**os.environ, "PATH": path, "MIDWATCH_AGENTS": str(self.cache)}
        command = [sys.executable, str(ROOT / "tools/agents.py"), *names]
        return subprocess.run(command, check=False, capture_output=True, text=True, env=environment)

    def calls(self) -> list[str]:
        told = self.folder / "npm-calls"
        return told.read_text().splitlines() if told.exists() else []


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_an_agent_is_brought_once_and_its_native_program_is_what_bin_names(machine: Machine) -> None:
    machine.npm()
    assert "bringing codex" in machine.bring("codex").stdout
    again = machine.bring("codex")
    assert (again.stdout, again.returncode) == ("", 0)
    assert len(machine.calls()) == 1
    assert f"@openai/codex@{CODEX.version}" in machine.calls()[0]
    assert "--ignore-scripts" in machine.calls()[0]
    found = (machine.cache / "bin" / "codex").resolve()
    assert found.is_relative_to(machine.cache / f"codex-{CODEX.version}" / "node_modules")


def test_two_at_once_bring_it_once(machine: Machine) -> None:
    machine.npm(before="sleep 0.3")
    with ThreadPoolExecutor() as pool:
        done = list(pool.map(lambda _: machine.bring("codex").returncode, range(3)))
    assert done == [0, 0, 0]
    assert len(machine.calls()) == 1


@pytest.mark.parametrize("how", ["exit 1", "kill -9 $$"])
def test_what_npm_could_not_finish_is_not_there_and_is_tried_again(machine: Machine, how: str) -> None:
    machine.npm(before=f"mkdir -p $3/node_modules/half; echo it is down; {how}")
    failed = machine.bring("codex")
    assert failed.returncode == 1
    assert "NO CODEX HERE" in failed.stderr
    assert not (machine.cache / "bin" / "codex").exists()
    machine.npm()
    assert machine.bring("codex").returncode == 0
    assert (machine.cache / "bin" / "codex").exists()


def test_another_version_than_the_pinned_one_is_not_taken(machine: Machine) -> None:
    machine.npm(version="9.9.9")
    failed = machine.bring("codex")
    assert failed.returncode == 1
    assert f"does not start as version {CODEX.version}" in failed.stderr


def test_without_npm_it_says_what_to_install_and_make_goes_on(machine: Machine) -> None:
    everything = machine.bring()
    assert everything.returncode == 0
    assert everything.stderr.count("HERE, so its tests will be skipped. There is no npm") == len(AGENTS)


def test_a_name_nobody_has_is_refused(machine: Machine) -> None:
    assert machine.bring("hal").returncode == 2
