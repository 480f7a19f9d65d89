"""A real ACP agent against the scripted model, in a network nothing leaves."""

from pathlib import Path

import pytest

from tests.agents.cases import Case, cases_of
from tests.agents.sealed import Sealed

FEW = ("deny ends", "ask, held", "resume by conversation", "settings of its own")
"""It takes seconds to wake up, so more of the cases than elsewhere are left to `make agents` and `make sweep`."""


@pytest.mark.sampled(1)
@pytest.mark.usefixtures("opencode")
@pytest.mark.parametrize("case", cases_of("opencode", always=FEW, sample=0))
async def test_opencode(case: Case, tmp_path: Path, sealed: Sealed) -> None:
    await case.run(tmp_path, sealed)
