"""The real Claude Code against the scripted model, in a network nothing leaves."""

from pathlib import Path

import pytest

from tests.agents.cases import Case, cases_of
from tests.agents.sealed import Sealed


@pytest.mark.usefixtures("claude")
@pytest.mark.parametrize("case", cases_of("claude"))
async def test_claude(case: Case, tmp_path: Path, sealed: Sealed) -> None:
    await case.run(tmp_path, sealed)
