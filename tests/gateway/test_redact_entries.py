"""What goes into the journal holds no secret, and loses nothing of our own to what only looks like one."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from midwatch.gateway.redaction.journal_entries import EntryRedactor, _foreign
from midwatch.gateway.redaction.patterns import SecretRule, shipped
from midwatch.gateway.redaction.redactor import Redactor
from midwatch.journal.upcasts import read_event, write_event
from tests.gateway.examples import filled, secret_parts
from tests.journal.golden_files import stored
from tests.journal.samples import KINDS, events, sample

VALUE = "the-owl-flies-at-0400"
BLIND = EntryRedactor(Redactor())
TOLD = EntryRedactor(Redactor({"owl": VALUE}))
GOLDEN = stored()
CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
OURS = st.one_of(
    st.builds(
        "{}_{}".format,
        st.sampled_from(["job", "tok", "ask", "ses", "token", "key", "secret"]),
        st.text(alphabet=CROCKFORD, min_size=26, max_size=26),
    ),
    st.text(alphabet="0123456789abcdef", min_size=40, max_size=40),
    st.text(alphabet="0123456789abcdef", min_size=64, max_size=64),
    st.datetimes().map(lambda at: at.isoformat()),
    st.integers().map(str),
    st.sampled_from(["running", "confirm_act", "job.created", "token.issued", "password", "link"]),
)


def with_texts(value: Any, draw: Any) -> Any:
    """The same event, with other texts where any text may stand."""
    if isinstance(value, str):
        return draw()
    if isinstance(value, dict):
        return {name: with_texts(inner, draw) for name, inner in value.items()}
    return [with_texts(inner, draw) for inner in value] if isinstance(value, list) else value


@pytest.mark.parametrize("name", GOLDEN)
def test_no_event_as_it_is_written_today_is_changed(name: str) -> None:
    kind, payload = GOLDEN[name]
    assert TOLD(kind, payload) is payload


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(data=st.data())
def test_our_ids_hashes_and_times_survive_in_every_field_of_every_kind(kind: str, data: st.DataObject) -> None:
    own = {name: value for name, value in write_event(sample(KINDS[kind])).items() if name not in _foreign(kind)}
    payload = with_texts(own, lambda: data.draw(OURS))
    assert BLIND(kind, payload) is payload


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(data=st.data())
def test_an_event_without_secrets_stays_as_it_is(kind: str, data: st.DataObject) -> None:
    payload = write_event(data.draw(events(KINDS[kind])))
    assert BLIND(kind, payload) is payload


@pytest.mark.parametrize("kind", KINDS)
def test_a_known_value_is_taken_out_of_every_text_of_every_kind(kind: str) -> None:
    payload = with_texts(write_event(sample(KINDS[kind])), lambda: f"say {VALUE}, and {VALUE[::-1]}")
    clean = str(TOLD(kind, payload))
    assert VALUE not in clean
    assert VALUE[::-1] not in clean


@pytest.mark.parametrize("name", sorted({rule.name for rule in shipped().rules}))
def test_what_looks_like_a_secret_is_taken_out_of_free_text(name: str) -> None:
    for find in (find for rule in shipped().rules if rule.name == name for find in rule.finds):
        payload = write_event(sample(KINDS["message.said"], text=f"so {filled(find)} it is"))
        clean: Any = BLIND("message.said", payload)
        assert f"[secret:{name}]" in clean["text"]
        assert not [part for part in secret_parts(find) if part in clean["text"]]
        assert write_event(read_event("message.said", clean)) == clean


def test_a_known_value_that_has_the_shape_of_an_id_is_taken_out_all_the_same() -> None:
    value = filled("<hex40>")
    scrub = EntryRedactor(Redactor({"hook": value}))
    payload = write_event(sample(KINDS["message.said"], text=value))
    clean: Any = scrub("message.said", payload)
    assert clean["text"] == "[secret:hook]"


def test_what_a_tool_was_given_is_redacted_by_the_names_of_its_fields() -> None:
    secret = filled("<hex40>")
    request: Any = {"env": {"API_TOKEN": secret, f"x {VALUE}": 1}, "argv": ["--token", "FILE"]}
    clean: Any = TOLD("tool.called", write_event(sample(KINDS["tool.called"], request=request)))
    assert clean["request"] == {"env": {"API_TOKEN": "[secret:generic]", "x [secret:owl]": 1}, "argv": request["argv"]}


def test_a_secret_that_became_a_number_is_taken_out_of_what_others_made_and_not_out_of_our_own_counts() -> None:
    scrub = EntryRedactor(Redactor({"pin": "48151623"}))
    asked: Any = scrub("tool.called", write_event(sample(KINDS["tool.called"], request={"a": [48151623, 5], "b": 2.5})))
    assert asked["request"] == {"a": ["[secret:pin]", 5], "b": 2.5}
    counted = write_event(sample(KINDS["round.called"], number=48151623))
    assert scrub("round.called", counted) is counted


@pytest.mark.parametrize("rule", shipped().rules, ids=lambda rule: f"{rule.name}-{rule.keywords[0]}")
def test_a_text_is_redacted_in_an_entry_as_it_is_by_itself(rule: SecretRule) -> None:
    for text in (
        f"{before}{filled(find)}{after}" for find in rule.finds for before in ("", "x\n") for after in ("", ".")
    ):
        clean: Any = BLIND("message.said", write_event(sample(KINDS["message.said"], text=text)))
        assert clean["text"] == Redactor().redact(text) != text


def test_actors_and_keys_lose_what_is_surely_a_secret_and_no_id() -> None:
    key = filled("revoke-token:tok_<an26>")
    assert TOLD("", key) is key
    assert TOLD("", f"import:{VALUE}:3") == "import:[secret:owl]:3"
    assert TOLD("", filled("push:ghp_<an36>")) == "push:[secret:github]"
