"""Any program as an agent, in a network nothing leaves."""

from pathlib import Path

import pytest

from tests.agents.cases import Case, cases_of
from tests.agents.sealed import Sealed


@pytest.mark.parametrize("case", cases_of("command"))
async def test_command(case: Case, tmp_path: Path, sealed: Sealed) -> None:
    await case.run(tmp_path, sealed)
