"""What the tests of the walls share: a lab as root and as an ordinary user."""

import shutil
from collections.abc import Iterator

import pytest

from midwatch.terms.trust import Isolation
from midwatch.workshop.sandbox.walls.probe import probe
from tests.conftest import missing
from tests.workshop.walls.lab import IDENTITIES, Lab, open_lab


@pytest.fixture(scope="session")
def bubblewrap() -> None:
    """Walls that hold, or no test."""
    if shutil.which("bwrap") is None:
        missing("bwrap", "bubblewrap is not installed")
    standing = probe()
    if standing.isolation is not Isolation.BUBBLEWRAP:
        missing("bwrap", standing.why)


@pytest.fixture(scope="session", params=IDENTITIES)
def lab(request: pytest.FixtureRequest) -> Iterator[Lab]:
    """A host to attack, once for each kind of user."""
    request.getfixturevalue("bubblewrap")
    with open_lab(request.param) as opened:
        yield opened
