"""No agent can leave what cannot be cleaned up, and none keeps others from being cleaned up (W6, X3)."""

from pathlib import Path

import pytest

from midwatch.terms.trust import Isolation
from midwatch.workshop.sandbox.isolation import found
from tests.conftest import missing
from tests.walks import walk
from tests.workshop.escapes.litter import LITTER, left_by


@pytest.mark.parametrize("name", walk(LITTER, ("litter folders below the longest path", "litter read-only folders")))
def test_litter_goes_and_keeps_nothing_else(tmp_path: Path, name: str) -> None:
    if found().isolation is not Isolation.BUBBLEWRAP:
        missing("bwrap", found().why)
    assert left_by(name, tmp_path) == ""
