"""What forge tests begin with: a person's repository, our data folder, mirrors and checkouts."""

from pathlib import Path

import pytest

from midwatch.workshop.checkouts import Checkouts
from midwatch.workshop.mirrors import Mirrors
from tests.workshop.repository import Repository


@pytest.fixture
def person(tmp_path: Path) -> Repository:
    return Repository.begin(tmp_path / "person" / "repo")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def mirrors(home: Path) -> Mirrors:
    return Mirrors(home)


@pytest.fixture
def checkouts(home: Path, mirrors: Mirrors) -> Checkouts:
    return Checkouts(home, mirrors)
