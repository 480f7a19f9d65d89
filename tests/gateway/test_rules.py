"""Every pattern finds its own examples and leaves what only looks like them."""

import pytest

from midwatch.gateway.redaction.patterns import SecretPatterns, SecretRule, shipped
from midwatch.gateway.redaction.redactor import Redactor
from tests.gateway.examples import filled, secret_parts

RULES = shipped().rules
FINDS = [pytest.param(rule, example, id=f"{rule.name}-{example}") for rule in RULES for example in rule.finds]
LEAVES = [pytest.param(rule, example, id=f"{rule.name}-{example}") for rule in RULES for example in rule.leaves]


def alone(rule: SecretRule) -> Redactor:
    return Redactor(patterns=SecretPatterns([rule]))


@pytest.mark.parametrize(("rule", "example"), FINDS)
@pytest.mark.parametrize("around", ["{}", "see {} there", '{{"text": "{}"}}', "a\n{}\nb"])
def test_a_rule_takes_its_secret_out_and_names_it(rule: SecretRule, example: str, around: str) -> None:
    clean = alone(rule).redact(around.format(filled(example)))
    assert f"[secret:{rule.name}]" in clean
    assert not [part for part in secret_parts(example) if part in clean]


@pytest.mark.parametrize(("rule", "example"), LEAVES)
def test_a_rule_leaves_what_only_looks_like_its_secret(rule: SecretRule, example: str) -> None:
    assert alone(rule).redact(example) == example
    assert Redactor().redact(example) == example


@pytest.mark.parametrize(("rule", "example"), FINDS)
def test_the_whole_set_finds_every_example_too(rule: SecretRule, example: str) -> None:
    clean = Redactor().redact(filled(example))
    assert not [part for part in secret_parts(example) if part in clean], rule.name


def test_there_are_more_than_sixty_rules_each_with_examples_of_both_kinds() -> None:
    assert len(RULES) > 60
    assert all(rule.finds and rule.leaves for rule in RULES)


@pytest.mark.parametrize("rule", [pytest.param(rule, id=rule.name) for rule in RULES])
def test_no_rule_goes_over_a_line_end(rule: SecretRule) -> None:
    """Lines leave a stream one by one; a rule that needs two of them would find less there than in a whole text."""
    for example in rule.finds:
        text = filled(example)
        match = rule.expression.search(text.replace(" ", "\n").encode())
        assert match is None or b"\n" not in match[0]
