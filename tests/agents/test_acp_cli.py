"""A real ACP agent against the scripted model, in a network nothing leaves."""

from pathlib import Path

import pytest

from tests.agents.cases import Case, cases_of
from tests.agents.sealed import Sealed

FEW = ("deny ends", "ask, held", "edit and commit", "resume by", "plan that wants", "402", "settings of its own")
"""It takes seconds to wake up, so the other cases are left to `make agents` and `make sweep`."""


def marked(one: Case) -> pytest.MarkDecorator:
    return pytest.mark.slow if any(word in one.name for word in FEW) else pytest.mark.sweep


@pytest.mark.usefixtures("opencode")
@pytest.mark.parametrize("case", [pytest.param(one, marks=marked(one), id=str(one)) for one in cases_of("opencode")])
async def test_opencode(case: Case, tmp_path: Path, sealed: Sealed) -> None:
    await case.run(tmp_path, sealed)
