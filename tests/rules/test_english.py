"""The catalogue: every sentence in one place, in order, whole."""

import re
from itertools import groupby
from pathlib import Path
from string import Formatter

import pytest

from midwatch import rules
from midwatch.errors import Misuse
from midwatch.terms.english import TEXT, reason, say

RULES = sorted(Path(rules.__path__[0]).rglob("*.py"))


def test_the_catalogue_is_sorted_by_part_and_each_part_stands_together() -> None:
    listed = [part for part, _ in groupby(code.split(".")[0] for code in TEXT)]
    assert listed == sorted(set(listed))


def test_every_code_a_rule_uses_has_a_sentence() -> None:
    parts = "|".join({code.split(".")[0] for code in TEXT})
    pattern = re.compile(rf'"((?:{parts})(?:\.[a-z_]+)+)"')
    used = {code for file in RULES for code in pattern.findall(file.read_text("utf-8"))}
    assert used
    assert used <= set(TEXT)


def test_every_sentence_of_the_gate_is_used_by_a_rule() -> None:
    source = "".join(file.read_text("utf-8") for file in RULES)
    assert [
        code
        for code in TEXT
        if code.startswith(("gate.", "council.", "level.", "drift.")) and f'"{code}"' not in source
    ] == []


@pytest.mark.parametrize("code", TEXT)
def test_every_template_names_its_facts(code: str) -> None:
    assert all(name is None or name.isidentifier() for _, name, _, _ in Formatter().parse(TEXT[code]))


def test_a_fact_with_braces_in_it_is_only_a_fact() -> None:
    assert "{level}" in say("gate.blocked", project="{level}")
    assert reason("gate.blocked", project="x").code == "gate.blocked"


def test_a_code_nobody_wrote_a_sentence_for_is_the_callers_mistake() -> None:
    with pytest.raises(Misuse) as caught:
        say("gate.nonsense")
    assert caught.value.hint
