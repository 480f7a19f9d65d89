"""No secret passes the redactor, however it is written and wherever the bytes are cut."""

import base64
import json
import pickle
import random
import textwrap
import urllib.parse
from collections.abc import Callable, Iterator
from itertools import pairwise

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from midwatch.errors import Misuse
from midwatch.gateway.redaction.encodings import variants
from midwatch.gateway.redaction.patterns import shipped
from midwatch.gateway.redaction.redactor import Redactor
from midwatch.gateway.redaction.stream import HOLD
from tests.gateway.examples import filled, private_key, secret_parts

KNOWN = {
    "database": filled("p@ss/w0rd+<an12>!zz"),
    "telegram": filled("<n10>:AA<an33>"),
    "quoted": filled("a\"b\\n<an10>'&<<an6>"),
    "phrase": "correct horse battery staple",
    "umlauts": "gänse-füßchen-ÄÖÜ-42",
    "deploy-key": private_key(3),
}
REDACTOR = Redactor(KNOWN)
ENCODINGS: dict[str, Callable[[str], str]] = {
    "plain": lambda value: value,
    "base64": lambda value: base64.b64encode(value.encode()).decode(),
    "base64 after one": lambda value: base64.b64encode(b"x" + value.encode() + b"y").decode(),
    "base64 after two": lambda value: base64.b64encode(b"u:" + value.encode() + b"yy").decode(),
    "url-safe base64": lambda value: base64.urlsafe_b64encode(b"u:" + value.encode()).decode(),
    "wrapped base64": lambda value: "\n".join(textwrap.wrap(base64.b64encode(value.encode() * 2).decode(), 76)),
    "percent": lambda value: urllib.parse.quote(value, safe=""),
    "hex": lambda value: value.encode().hex(),
    "HEX": lambda value: value.encode().hex().upper(),
    "JSON": json.dumps,
    "JSON in JSON": lambda value: json.dumps(json.dumps({"a": value})),
    "unicode escapes": lambda value: "".join(f"\\u{ord(letter):04x}" for letter in value),
    "reversed": lambda value: value[::-1],
}
LABELS = ("database", "telegram", "quoted", "umlauts")


def corpus() -> str:
    """Write every known secret in every encoding, and every provider's example, between honest lines."""
    lines = ["start"]
    for name, encode in ENCODINGS.items():
        lines += [f"{name}: {encode(KNOWN[label])} end of {label}" for label in LABELS]
    lines += [filled(rule.finds[0]) + "\nnothing here" for rule in shipped().rules]
    lines += [private_key(5), "between", KNOWN["deploy-key"], "a mention of -----BEGIN " + "PRIVATE KEY----- in prose"]
    lines += [KNOWN["database"][:9] + "\n    " + KNOWN["database"][9:], KNOWN["phrase"].replace(" ", "\n"), "bye"]
    return "\n".join(lines)


CORPUS = corpus().encode()
# What must not be seen again: every variant of every value, every part of an example, every line of a key.
FORBIDDEN = [
    *(needle for label in LABELS for needle in variants(KNOWN[label])),
    *(part.encode() for rule in shipped().rules for part in secret_parts(rule.finds[0])),
    *(line.encode() for seed in (3, 5) for line in private_key(seed).splitlines()[1:-2]),
    KNOWN["database"][9:].encode(),
]


def leaks(clean: bytes) -> list[bytes]:
    return [secret for secret in FORBIDDEN if secret in clean]


def streamed(chunks: list[bytes], redactor: Redactor = REDACTOR) -> bytes:
    stream = redactor.stream()
    return b"".join([*(stream.feed(chunk) for chunk in chunks), stream.end()])


def cut_up(data: bytes, seed: int) -> Iterator[bytes]:
    source = random.Random(seed)  # noqa: S311  repeatable
    sizes = source.choice([[1, 2, 3], [7, 19, 64], [200, 1000], [1, 64, 4096], [1, 2, 3, 7, 19, 64, 200]])
    at = 0
    while at < len(data):
        size = source.choice(sizes)
        yield data[at : at + size]
        at += size


def test_the_corpus_holds_what_it_says() -> None:
    assert len(leaks(CORPUS)) > 150


@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_known_value_is_found_in_every_encoding(label: str, encoding: str) -> None:
    written = ENCODINGS[encoding](KNOWN[label])
    clean = Redactor({label: KNOWN[label]}).redact(f"before {written} after")
    assert f"[secret:{label}]" in clean
    assert not [needle for needle in variants(KNOWN[label]) if needle in clean.encode()]


def test_utf_16_is_found_too() -> None:
    for order in ("utf-16-le", "utf-16-be"):
        clean = REDACTOR.redact_bytes(("so " + KNOWN["database"]).encode(order))
        assert KNOWN["database"].encode(order) not in clean
        assert b"[secret:database]" in clean


@pytest.mark.parametrize("end", ["\n", "\r\n", "\n        ", "\\n", "\\r\\n  "])
def test_a_value_wrapped_anywhere_leaves_at_most_three_letters(end: str) -> None:
    value = filled("<an30>")
    redactor = Redactor({"wrapped": value})
    for at in range(1, len(value)):
        clean = redactor.redact(f"say {value[:at]}{end}{value[at:]} end")
        assert "[secret:wrapped]" in clean
        assert not any(value[place : place + 4] in clean for place in range(len(value) - 3)), (at, clean)


def test_a_value_after_a_backslash_is_found_though_it_looks_like_a_line_end() -> None:
    value = "n0thing-4gainst-u5"
    assert value not in Redactor({"x": value}).redact(f"C:\\{value} and \\n{value}")


def test_a_private_key_goes_as_a_whole_and_a_broken_off_one_too() -> None:
    key = private_key(9)
    assert Redactor().redact(f"a\n{key}\nb") == "a\n[secret:private-key]\nb"
    assert Redactor().redact(json.dumps({"k": key})) == '{"k": "[secret:private-key]"}'
    broken = key[: len(key) // 2]
    assert Redactor().redact(f"a\n{broken}\n\nand so it ended.") == "a\n[secret:private-key]\n\nand so it ended."


def test_a_mention_of_a_key_does_not_hold_the_log_back() -> None:
    stream = Redactor().stream()
    mark = b"put -----BEGIN " + b"PRIVATE KEY----- first\n"
    out = stream.feed(mark) + stream.feed(b"That is what the page says, in so many words.\n")
    assert out.startswith(mark)


def test_a_whole_line_leaves_at_once() -> None:
    assert REDACTOR.stream().feed(b"done.\nnext") == b"done.\n"


def test_a_line_that_may_be_the_beginning_of_a_value_waits() -> None:
    stream = REDACTOR.stream()
    assert stream.feed(b"one\nsay " + KNOWN["database"][:9].encode() + b"\n") == b"one\n"
    assert stream.feed(KNOWN["database"][9:].encode() + b" two\n") == b"say [secret:database] two\n"
    assert stream.found == {"database": 1}


def test_a_value_learned_later_is_kept_out_of_streams_that_have_begun() -> None:
    redactor = Redactor()
    stream = redactor.stream()
    redactor.know({"late": "arrived-after-dinner"})
    assert stream.feed(b"arrived-after-dinner\n") == b"[secret:late]\n"


@pytest.mark.parametrize("filler", [b"x", b"ab ", b'{"a": 1}, '])
@pytest.mark.parametrize("size", [1, 777, 65_536])
def test_a_line_without_end_is_held_in_bounded_memory_and_still_hides_known_values(filler: bytes, size: int) -> None:
    value = KNOWN["database"].encode()
    data = (filler * (40_000 // len(filler)) + value) * 6
    stream, most, out = REDACTOR.stream(), 0, []
    for at in range(0, len(data), size):
        out.append(stream.feed(data[at : at + size]))
        most = max(most, len(stream._held))
    clean = b"".join([*out, stream.end()])
    assert value not in clean
    assert clean.count(b"[secret:database]") == 6
    assert most < HOLD
    assert len(clean) == len(data) - 6 * (len(value) - len(b"[secret:database]"))


def test_a_key_without_end_is_held_in_bounded_memory() -> None:
    stream = REDACTOR.stream()
    stream.feed(b"-----BEGIN " + b"PRIVATE KEY-----\n")
    for _ in range(4000):
        stream.feed(b"A" * 64 + b"\n")
        assert len(stream._held) < HOLD + 128


@pytest.mark.parametrize("seed", random.Random(11).sample(range(3000), 60))  # noqa: S311  repeatable
def test_no_chunking_leaks_a_sample(seed: int) -> None:
    clean = streamed(list(cut_up(CORPUS, seed)))
    assert leaks(clean) == []
    assert clean == REDACTOR.redact_bytes(CORPUS)


@pytest.mark.sweep
@pytest.mark.parametrize("hundred", range(30))
def test_no_chunking_of_three_thousand_leaks(hundred: int) -> None:
    whole = REDACTOR.redact_bytes(CORPUS)
    assert leaks(whole) == []
    seeds = range(hundred * 100, hundred * 100 + 100)
    leaking = [seed for seed in seeds if streamed(list(cut_up(CORPUS, seed))) != whole]
    print(f"100 random chunkings of {len(CORPUS)} bytes with {len(FORBIDDEN)} secrets: {len(leaking)} leaks")
    assert leaking == []


# Laws.

TEXTS = st.text(alphabet=st.sampled_from("ab \n\r\t=:\"'[]{}\\/-_%k9Z\0ä"), max_size=80)
VALUES = st.text(alphabet=st.characters(codec="utf-8"), min_size=8, max_size=120)


@given(before=TEXTS, value=VALUES, after=TEXTS, cuts=st.lists(st.integers(0, 300), max_size=6))
@example(before="\\", value="nnnnnnnn", after="", cuts=[])
@example(before="", value="0000000\\", after="n", cuts=[8])
@example(before="", value="000000000000\n000000001000", after="", cuts=[22])
def test_a_known_value_never_passes(before: str, value: str, after: str, cuts: list[int]) -> None:
    try:
        redactor = Redactor({"any": value})
    except Misuse:
        assume(False)
    data = (before + value.strip() + after).encode()
    assume(value.strip() not in "[secret:any]")
    assert value.strip().encode() not in redactor.redact_bytes(data)
    places = sorted({0, len(data), *(min(cut, len(data)) for cut in cuts)})
    chunks = [data[start:end] for start, end in pairwise(places)]
    assert streamed(chunks, redactor) == redactor.redact_bytes(data)


@given(text=st.lists(st.one_of(TEXTS, st.sampled_from([*KNOWN.values(), *map(filled, shipped().rules[5].finds)]))))
def test_redacting_twice_is_redacting_once(text: list[str]) -> None:
    once = REDACTOR.redact("".join(text))
    assert REDACTOR.redact(once) == once


def test_redacting_the_corpus_twice_is_redacting_it_once() -> None:
    once = REDACTOR.redact_bytes(CORPUS)
    assert REDACTOR.redact_bytes(once) == once


@given(text=st.text(alphabet=st.characters(), max_size=200))
def test_text_without_secrets_stays_as_it_is(text: str) -> None:
    assert Redactor().redact(text) == text


def test_nested_values_are_redacted_to_the_last_name() -> None:
    token = filled("ghp_<an36>")
    value = {"a": [token, 1, None, {"b": f"x {token}"}], token: True, "password": filled("<an16>"), 3: (2.5, token)}
    assert REDACTOR.redact_json(value) == {
        "a": ["[secret:github]", 1, None, {"b": "x [secret:github]"}],
        "[secret:github]": True,
        "password": "[secret:generic]",
        3: [2.5, "[secret:github]"],
    }


def test_two_names_that_are_secrets_stay_two_fields() -> None:
    one, two = filled("ghp_<an36>", 1), filled("ghp_<an36>", 2)
    assert list(REDACTOR.redact_json({one: 1, two: 2}).values()) == [1, 2]  # type: ignore[attr-defined]


def test_a_made_up_label_hides_nothing() -> None:
    value = KNOWN["database"]
    assert value not in REDACTOR.redact(f"[secret:{value}]")


def test_a_redactor_shows_and_gives_away_nothing() -> None:
    assert not any(value in repr(REDACTOR) + repr(REDACTOR.known) for value in KNOWN.values())
    with pytest.raises(TypeError):
        pickle.dumps(REDACTOR)


def test_a_value_too_short_to_be_looked_for_is_refused() -> None:
    with pytest.raises(Misuse, match="too short"):
        Redactor({"pin": "1234"})
