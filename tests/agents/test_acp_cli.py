"""A real ACP agent against the scripted model, in a network nothing leaves."""

from pathlib import Path

import pytest

from tests.agents.cases import Case, cases_of
from tests.agents.sealed import Sealed


@pytest.mark.usefixtures("opencode")
@pytest.mark.parametrize("case", cases_of("opencode"))
async def test_opencode(case: Case, tmp_path: Path, sealed: Sealed) -> None:
    await case.run(tmp_path, sealed)
