"""A line without an end is shown while nothing comes, but never the beginning of a secret in it."""

from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from midwatch.errors import Misuse
from midwatch.gateway.redaction.patterns import shipped
from midwatch.gateway.redaction.redactor import Redactor
from tests.gateway.examples import filled, private_key, secret_parts

VALUE = filled("<an30>").encode()
REDACTOR = Redactor({"it": VALUE.decode()})


@pytest.mark.parametrize(
    "prompt", [b"$ ", b"> ", b"Go on? [y/N] ", b"[sudo] password for ann: ", b"Password: ", b"name?", b"ann@host:~/x$ "]
)
def test_a_prompt_is_shown_at_a_pause_and_once(prompt: bytes) -> None:
    stream = REDACTOR.stream()
    assert stream.feed(b"done\n" + prompt) == b"done\n"
    assert stream.pause() == prompt
    assert stream.pause() == b""
    assert stream.feed(b"y\nmore") == b"y\n"
    assert stream.end() == b"more"


@pytest.mark.parametrize("shown", range(4, 30))
def test_the_beginning_of_a_known_value_waits(shown: int) -> None:
    stream = REDACTOR.stream()
    stream.feed(b"say " + VALUE[:shown])
    assert stream.pause() == b"say "
    assert stream.feed(VALUE[shown:] + b" end\n") == b"[secret:it] end\n"


@pytest.mark.parametrize("shown", range(1, 4))
def test_of_a_known_value_at_most_three_letters_are_shown(shown: int) -> None:
    stream = Redactor({"it": "hjklpq7z"}).stream()
    stream.feed(b"say " + b"hjklpq7z"[:shown])
    assert stream.pause() == b"say " + b"hjklpq7z"[:shown]
    assert stream.feed(b"hjklpq7z"[shown:] + b"\n") == b"[secret:it]\n"


@pytest.mark.parametrize("after", range(1, 60))
def test_a_provider_s_secret_waits_from_its_mark_on(after: int) -> None:
    token = filled("ghp_<an36>").encode()
    stream = REDACTOR.stream()
    stream.feed((b"use " + token + b" now and then, it is a good one")[: after + 4])
    given = stream.pause()
    assert given in {b"use ", b"use " + token[:1], b"use gh", b"use ghp", given if after > len(token) else b""}
    assert token[4:12] not in given


@pytest.mark.parametrize("rule", shipped().rules, ids=lambda rule: f"{rule.name}-{rule.keywords[0]}")
def test_no_pause_shows_what_a_pattern_hides(rule: object) -> None:
    for find in getattr(rule, "finds", ()):
        line = f"so {filled(find)} it is\n".encode()
        for step in (1, 2, 5):
            stream, out = REDACTOR.stream(), b""
            for at in range(0, len(line), step):
                out += stream.feed(line[at : at + step]) + stream.pause()
            out += stream.end()
            assert b"[secret:" in out
            assert not [part for part in secret_parts(find) if part.encode() in out], (find, step)


def test_a_password_typed_after_its_prompt_was_shown_is_taken_out() -> None:
    stream, password = REDACTOR.stream(), filled("<an14>").encode()
    stream.feed(b"Password: ")
    assert stream.pause() == b"Password: "
    stream.feed(password)
    assert stream.pause() == b""
    assert stream.feed(b"\r\n") == b"[secret:generic]\r\n"


def test_a_key_that_has_begun_waits() -> None:
    stream, key = REDACTOR.stream(), private_key(4).encode()
    out = stream.feed(b"here:\n" + key[:200]) + stream.pause()
    assert out == b"here:\n"
    assert out + stream.feed(key[200:] + b"\nbye\n") == b"here:\n[secret:private-key]\nbye\n"


VALUES = st.text(alphabet=st.characters(codec="utf-8"), min_size=8, max_size=60)
TEXTS = st.text(alphabet=st.sampled_from("ab \n\r\t=:\"'\\/-_%k9Zä"), max_size=40)


@given(before=TEXTS, value=VALUES, after=TEXTS, cuts=st.lists(st.integers(0, 150), max_size=6))
def test_a_known_value_never_passes_however_often_there_is_a_pause(
    before: str, value: str, after: str, cuts: list[int]
) -> None:
    try:
        redactor = Redactor({"any": value})
    except Misuse:
        assume(False)
    secret, data = value.strip().encode(), (before + value.strip() + after).encode()
    assume(secret.decode() not in "[secret:any]")
    stream, out = redactor.stream(), b""
    for start, end in pairwise(sorted({0, len(data), *(min(cut, len(data)) for cut in cuts)})):
        out += stream.feed(data[start:end]) + stream.pause()
    out += stream.end()
    assert secret not in out
    assert b"[secret:any]" in out


@given(data=st.binary(max_size=200), cuts=st.lists(st.integers(0, 200), max_size=6))
def test_what_holds_no_secret_comes_out_whole_and_in_order(data: bytes, cuts: list[int]) -> None:
    stream, out = Redactor().stream(), b""
    for start, end in pairwise(sorted({0, len(data), *(min(cut, len(data)) for cut in cuts)})):
        out += stream.feed(data[start:end]) + stream.pause()
    assert out + stream.end() == data
