"""Which model an agent uses where the person named none: the newest that fits, by the provider's own list."""

import pytest

from midwatch.crew.roster import KINDS
from midwatch.rules.model_choice import OfferedModel, current_model

OPENAI = {"gpt-5-codex": 1, "gpt-6.1-codex": 3, "gpt-6.1-codex-mini": 4, "gpt-7": 5, "gpt-4o": 6, "o9": 7}


@pytest.mark.parametrize(
    ("agent", "offered", "chosen"),
    [
        ("codex", OPENAI, "gpt-6.1-codex"),
        ("codex", {"gpt-7": 5, "gpt-4o": 6}, "gpt-7"),
        ("opencode", OPENAI, "gpt-7"),
        ("claude", {"claude-sonnet-4-5": 1, "claude-sonnet-5": 2, "claude-opus-6": 3}, "claude-sonnet-5"),
        ("claude", {"gpt-7": 5}, ""),
        ("claude", {"claude-sonnet-4-5": 0, "claude-sonnet-10": 0, "claude-sonnet-9": 0}, "claude-sonnet-10"),
    ],
)
def test_the_newest_of_the_first_kind_that_is_offered(agent: str, offered: dict[str, int], chosen: str) -> None:
    models = [OfferedModel(name, at) for name, at in offered.items()]
    assert current_model(models, KINDS[agent].kinds) == chosen
    assert current_model(reversed(models), KINDS[agent].kinds) == chosen


def test_every_default_is_of_a_kind_that_fits() -> None:
    for kind in KINDS.values():
        if kind.kinds:
            assert current_model([OfferedModel(kind.model, 0)], kind.kinds) == kind.model
