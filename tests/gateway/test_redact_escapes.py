"""A value is found with any of its letters escaped, in any mixture, and wherever a stream is cut."""

import json
import random
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from midwatch.gateway.redaction import escapes
from midwatch.gateway.redaction.redactor import Redactor
from tests.gateway.examples import filled

KNOWN = {
    "database": filled("p@ss/w0rd+<an12>!zz"),
    "quoted": filled("a\"b\\-<an10>'&<<an6>"),
    "phrase": "correct horse battery staple",
    "umlauts": "gänse-füßchen-ÄÖÜ-42",
    "plain": filled("<an24>"),
    "rockets": "launch-🚀-code-77-🚀",
}
REDACTOR = Redactor(KNOWN)


def percent(letter: str, *, lower: bool = False) -> str:
    return "".join(f"%{byte:02{'x' if lower else 'X'}}" for byte in letter.encode())


def units(letter: str, *, upper: bool = False) -> str:
    coded = letter.encode("utf-16-be")
    return "".join(f"\\u{coded[at] << 8 | coded[at + 1]:04{'X' if upper else 'x'}}" for at in range(0, len(coded), 2))


def bytewise(letter: str) -> str:
    return "".join(f"\\x{byte:02x}" for byte in letter.encode())


def every(step: int, write: Callable[[str], str]) -> Callable[[str], str]:
    return lambda value: "".join(write(one) if at % step == 0 else _safe(one) for at, one in enumerate(value))


def _safe(letter: str) -> str:
    return letter if letter.isalnum() else percent(letter)


def json_safe(write: Callable[[str], str]) -> Callable[[str], str]:
    return lambda value: "".join(
        write(one) if at % 3 else json.dumps(one, ensure_ascii=False)[1:-1] for at, one in enumerate(value)
    )


WRITINGS: dict[str, Callable[[str], str]] = {
    "percent, every other letter": every(2, percent),
    "percent, lower case": every(3, lambda one: percent(one, lower=True)),
    "percent, mixed case": lambda value: "".join(percent(one, lower=at % 2 == 0) for at, one in enumerate(value)),
    "percent, twice": lambda value: every(2, percent)(value).replace("%", "%25"),
    "percent, some of it twice": lambda value: every(2, percent)(value).replace("%", "%25", 3),
    "form": lambda value: every(4, percent)(value).replace("%20", "+"),
    "units": lambda value: "".join(map(units, value)),
    "units, mixed": json_safe(units),
    "units, upper and lower": lambda value: "".join(units(one, upper=at % 2 == 0) for at, one in enumerate(value)),
    "units in braces": lambda value: "".join(f"\\u{{{ord(one):x}}}" for one in value),
    "bytes, mixed": json_safe(bytewise),
    "units and bytes": lambda value: "".join((units, bytewise)[at % 2](one) for at, one in enumerate(value)),
    "units, JSON in JSON": lambda value: json.dumps(json_safe(units)(value))[1:-1],
    "units in percent": lambda value: "".join(map(percent, json_safe(units)(value))),
    "percent in units": lambda value: "".join(map(units, every(2, percent)(value))),
}


def line(name: str, write: Callable[[str], str], between: str = " ") -> str:
    return f"{name}:{between}<{write(KNOWN[name])}> the end"


@pytest.mark.parametrize("writing", WRITINGS)
@pytest.mark.parametrize("name", KNOWN)
def test_a_value_is_found_however_it_is_escaped(writing: str, name: str) -> None:
    """G1."""
    assert REDACTOR.redact(line(name, WRITINGS[writing])) == f"{name}: <[secret:{name}]> the end"


@pytest.mark.parametrize("name", ["database", "phrase", "umlauts"])
def test_escapes_are_found_wherever_a_stream_is_cut(name: str) -> None:
    """G1: at every byte, with and without a pause there."""
    text = "\n".join(line(name, write) for write in WRITINGS.values()).encode()
    wanted = b"\n".join(f"{name}: <[secret:{name}]> the end".encode() for _ in WRITINGS)
    for size in (1, 2, 3, 5, 7, 64):
        stream = REDACTOR.stream()
        out = b"".join(stream.feed(text[at : at + size]) for at in range(0, len(text), size)) + stream.end()
        assert out == wanted
    for cut in range(1, len(text), 5):
        stream = REDACTOR.stream()
        out = stream.feed(text[:cut]) + stream.pause() + stream.feed(text[cut:]) + stream.end()
        assert out.count(b"[secret:") == len(WRITINGS), text[max(0, cut - 60) : cut]
        _shows_little(out)


def _shows_little(out: bytes) -> None:
    """At most three letters may have been sent at a pause before a value was recognised."""
    shown = re.findall(rb"<(.*?)\[secret", out)
    assert max(map(_letters, shown), default=0) <= 4, shown


def _letters(escaped: bytes) -> int:
    for reading in escapes.readings(escaped, plus=False):
        escaped = min(escaped, reading.text, key=len)
    return len(escaped)


MIXED = st.lists(
    st.sampled_from([str, percent, units, bytewise, lambda one: percent(one).replace("%", "%25")]), min_size=24
)


@given(
    how=MIXED, seed=st.integers(0, 9), before=st.sampled_from(["", "%", "\\", "100% ", "C:\\users ", "%41", "\\u0041"])
)
@example(how=[percent] * 24, seed=1, before="%4")
def test_any_mixture_is_found_after_anything(how: list[Callable[[str], str]], seed: int, before: str) -> None:
    value = KNOWN["plain"]
    written = "".join(how[(at + seed) % len(how)](one) for at, one in enumerate(value))
    clean = REDACTOR.redact(f"{before} {written} after")
    assert clean == f"{before} [secret:plain] after"


def test_honest_escapes_stay_as_they_are() -> None:
    honest = (
        'GET /a%20b%2Fc?q=%C3%A4&x=100%25 "\\u00e4\\x1b[0m" C:\\users\\x86 {"text": "caf\\u00e9\\n"} 50% off\n'
        + "\\u263a" * 40
    )
    assert REDACTOR.redact(honest) == honest


def test_the_work_grows_with_the_data_and_not_faster() -> None:
    """Steps, not time: every byte is in at most one part, and each round makes a part shorter."""
    chance = random.Random(4)  # noqa: S311 - no secret
    for size in (1_000, 100_000):
        data = b"".join(chance.choice([b"%41", b"\\u0041", b"plain ", b"%2541", b"\\\\u0041"]) for _ in range(size))
        read = sum(len(reading.text) for reading in escapes.readings(data, plus=True))
        assert read <= 2 * escapes.ROUNDS * len(data)


def test_a_log_without_escapes_is_not_read_twice() -> None:
    assert list(escapes.readings(b"an honest line, 100% done, C:\\temp\\file\n" * 100, plus=True)) == []


def test_the_log_of_a_job_and_its_lines_hold_no_escaped_value(tmp_path: Path) -> None:
    """G1: as an agent's own program would write it, through the stream that every log passes."""
    stream = REDACTOR.stream()
    said = "".join(f"{line(name, write)}\n" for name in KNOWN for write in WRITINGS.values()).encode()
    (tmp_path / "agent.log").write_bytes(stream.feed(said) + stream.end())
    kept = (tmp_path / "agent.log").read_text()
    assert kept.count("[secret:") == len(KNOWN) * len(WRITINGS)
