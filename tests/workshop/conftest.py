"""What workshop tests begin with: a person's repository, our data folder, mirrors and checkouts."""

import os
from pathlib import Path

import pytest

from midwatch.terms.trust import Isolation
from midwatch.workshop.git.checkouts import Checkouts
from midwatch.workshop.git.mirrors import GitMirrors
from midwatch.workshop.sandbox.enclosure import Enclosure
from midwatch.workshop.sandbox.walls.probe import probe
from tests.conftest import missing
from tests.workshop.repository import Repository


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


@pytest.fixture(params=[Isolation.BUBBLEWRAP, Isolation.NONE])
def enclosure(request: pytest.FixtureRequest) -> Enclosure:
    """Walls of both kinds; a test that asks for them runs once in each."""
    if request.param is Isolation.BUBBLEWRAP and (standing := probe()).isolation is not Isolation.BUBBLEWRAP:
        missing("bwrap", standing.why)
    return Enclosure(isolation=request.param, path=os.environ["PATH"])


@pytest.fixture
def enclosed(home: Path, mirrors: GitMirrors, enclosure: Enclosure) -> Checkouts:
    return Checkouts(home, mirrors, enclosure=enclosure)
