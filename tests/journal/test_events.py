"""Events are forever: what is written today reads back the same, and what was written then still reads."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from midwatch.journal.entry import Link, canonical, digest
from midwatch.journal.upcasts import UPCASTS, read_event, write_event
from tests.journal.golden_files import stored
from tests.journal.samples import KINDS, events

GOLDEN = stored()


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(data=st.data())
def test_every_event_reads_back_as_it_was_written(kind: str, data: st.DataObject) -> None:
    event = data.draw(events(KINDS[kind]))
    text = canonical(write_event(event))
    again = read_event(kind, json.loads(text))
    assert again == event
    assert canonical(write_event(again)) == text


def test_every_kind_has_a_golden_file() -> None:
    assert {kind for name, (kind, _) in GOLDEN.items() if name == f"{kind}.json"} == set(KINDS)


@pytest.mark.parametrize("name", GOLDEN)
def test_what_was_written_then_still_reads(name: str) -> None:
    kind, payload = GOLDEN[name]
    event = read_event(kind, payload)
    assert type(event) in KINDS.values()
    if name == f"{kind}.json":
        assert write_event(event) == payload, "the shape changed: see tests/journal/golden_files.py"


def test_every_upcast_has_an_old_golden_file() -> None:
    assert set(UPCASTS) <= {kind for name, (kind, _) in GOLDEN.items() if name != f"{kind}.json"}


def test_an_unknown_field_is_refused_and_not_dropped() -> None:
    with pytest.raises(ValueError, match="extra"):
        read_event("session.resumed", {"session": "ses_1", "surprise": 1})


@given(st.recursive(st.none() | st.integers() | st.text(), lambda x: st.dictionaries(st.text(), x) | st.lists(x)))
def test_equal_values_are_written_with_equal_bytes(value: Any) -> None:
    def turned(part: Any) -> Any:
        if isinstance(part, dict):
            return {key: turned(part[key]) for key in reversed(list(part))}
        return [turned(one) for one in part] if isinstance(part, list) else part

    assert canonical(value) == canonical(turned(value))
    assert json.loads(canonical(value)) == value


@given(st.lists(st.text(), min_size=4, max_size=4), st.lists(st.text(), min_size=4, max_size=4))
def test_different_links_never_chain_alike(one: list[str], other: list[str]) -> None:
    def chained(words: list[str]) -> str:
        actor, key, because, kind = words
        return Link(1, 2, actor, key, because, kind, digest("")).chained_to("0")

    assert (chained(one) == chained(other)) == (one == other)


def test_a_separator_in_a_name_does_not_blur_the_chain() -> None:
    lent = [Link(1, 2, actor, key, "[]", "k", "h").chained_to("0") for actor, key in (("a\x1fb", "c"), ("a", "b\x1fc"))]
    assert lent[0] != lent[1]
