"""The housekeeper on real source distributions: checks no worse, every reported line exists."""

import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from midwatch.rules.checks.check_runs import judge_proof
from midwatch.terms.jobs import Done
from tests.conftest import missing
from tests.nights.house import git
from tests.patience import PATIENCE
from tools.bootstrap import pip

PACKAGES = ("toolz==0.9.0", "sqlparse==0.2.4", "humanize==0.5.1")
"""Real, old enough to have something to tidy, and small."""


@pytest.fixture
def distribution(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A real source distribution as a repository of its own."""
    name: str = request.param
    kept = request.config.cache
    assert kept is not None
    cache = kept.mkdir("sdists")
    archive = next(cache.glob(f"{name.replace('==', '-')}*.tar.gz"), None) or download(name, cache)
    with tarfile.open(archive) as packed:
        packed.extractall(tmp_path / "unpacked", filter="data")
    (folder,) = (tmp_path / "unpacked").iterdir()
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "-A", "-f")
    git(folder, "commit", "-q", "-m", name)
    return folder


def download(name: str, cache: Path) -> Path:
    """Ask the machine's own package index, by its ordinary client."""
    command = [*pip(), "download", "--no-deps", "--no-binary", ":all:", "-d", cache, name]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    found = next(cache.glob(f"{name.replace('==', '-')}*.tar.gz"), None)
    if found is None:
        missing("pypi", (done.stderr.strip().splitlines() or ["no answer"])[-1])
    return found


@pytest.mark.parametrize(
    "distribution",
    [PACKAGES[0], *(pytest.param(one, marks=pytest.mark.sweep) for one in PACKAGES[1:])],
    indirect=True,
)
def test_a_real_distribution_is_tidied_without_harm(distribution: Path, tmp_path: Path) -> None:
    """A7, and the issue's own words: checks no worse, every reported line exists."""
    package = distribution.name.rsplit("-", 1)[0]
    checks = (
        f"{sys.executable} -m compileall -q -f {package}",
        f"PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 {sys.executable} -m pytest -q -x --maxfail=50 -p no:cacheprovider",
    )
    base = git(distribution, "rev-parse", "HEAD")
    plan, done = tmp_path / "plan.json", tmp_path / "done.json"
    common = ["--checkout", str(distribution), *(f"--check={check}" for check in checks)]
    housekeeper = [sys.executable, "-m", "midwatch.crew.housekeeper"]
    subprocess.run([*housekeeper, "plan", *common, "--out", str(plan)], check=True, capture_output=True)
    assert git(distribution, "status", "--porcelain") == ""
    subprocess.run(
        [*housekeeper, "execute", *common, "--plan", str(plan), "--out", str(done)], check=True, capture_output=True
    )
    result = Done.model_validate_json(done.read_text())
    assert result.commits
    assert result.base == base
    assert git(distribution, "rev-parse", "HEAD") == result.head
    proof = judge_proof(result.checks_before, result.checks_after, result.checks_after)
    assert proof.verdict in {"green", "still_red"}
    for finding, commit in [*((one, result.head) for one in result.left), *((one, base) for one in result.fixed)]:
        lines = git(distribution, "show", f"{commit}:{finding.path}").count("\n") + 1
        assert 1 <= finding.line <= lines, finding
