"""What forge tests begin with: a person's repository, our data folder, mirrors and checkouts."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from midwatch.workshop.git.checkouts import Checkouts
from midwatch.workshop.git.mirrors import GitMirrors
from tests.conftest import missing
from tests.forges.github_door import Watched, watched_github
from tests.workshop.repository import Repository
from tools import prism


@pytest.fixture
def person(tmp_path: Path) -> Repository:
    return Repository.begin(tmp_path / "person" / "repo")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def mirrors(home: Path) -> GitMirrors:
    return GitMirrors(home)


@pytest.fixture
def checkouts(home: Path, mirrors: GitMirrors) -> Checkouts:
    return Checkouts(home, mirrors)


@pytest.fixture(scope="session")
def prism_github(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    """One GitHub behind one Prism for all tests of a worker: Prism takes seconds to start."""
    if not prism.program().exists():
        missing("prism", f"Prism is not at {prism.program()}; `python3 tools/prism.py` brings it")
    with watched_github(tmp_path_factory.mktemp("github")) as watched:
        yield watched


@pytest.fixture
def watched(prism_github: Watched) -> Iterator[Watched]:
    """The GitHub, with nothing on it; at the end, every word of the test must have been one that GitHub knows."""
    fake = prism_github.fake
    fake.hosted.clear()
    fake.tokens.clear()
    for kept in (fake.troubles, fake.asked, fake.shown):
        kept.clear()
    prism_github.violations()
    yield prism_github
    assert prism_github.violations() == ""
