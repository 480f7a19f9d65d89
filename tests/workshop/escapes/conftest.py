"""What the escapes share: a lab in each kind of walls."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from midwatch.terms.trust import Isolation
from midwatch.workshop.sandbox.walls.probe import probe
from tests.conftest import missing
from tests.workshop.escapes.lab import Lab


@pytest.fixture(params=[Isolation.BUBBLEWRAP, Isolation.NONE])
def lab(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Lab]:
    if request.param is Isolation.BUBBLEWRAP and (standing := probe()).isolation is not Isolation.BUBBLEWRAP:
        missing("bwrap", standing.why)
    opened = Lab(tmp_path / "lab", request.param)
    yield opened
    opened.close()


@pytest.fixture
def open_lab(tmp_path: Path) -> Iterator[Lab]:
    """A lab without walls, to see that traps are live and that the quarantine needs none."""
    opened = Lab(tmp_path / "lab", Isolation.NONE)
    yield opened
    opened.close()
