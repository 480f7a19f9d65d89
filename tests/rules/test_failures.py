"""Real failure texts, each in the folder of its true cause: what is said about them, as a table."""

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midwatch.rules.recovery.recovery import Cause, classify

FOLDER = Path(__file__).parent / "failures"
ORIGINS = json.loads((FOLDER / "origins.json").read_text())
BARS = dict.fromkeys(Cause, 0.9)
"""How many of a cause's texts must be told right, at least."""
QUIET = (
    "tests/test_door.py::test_403_forbidden PASSED",
    "test http_401_is_asked_again ... ok",
    "    --- PASS: TestConnectionRefused (0.00s)",
    "INFO retried after a timeout and went on",
    "# no space left on device is told to the person",
    "12 passed, 0 failed",
    '{"method":"account/rateLimits/updated","params":{"rateLimits":{"limitId":"codex","primary":null}}}',
    '{"type":"rate_limit_event","rate_limit_info":{"status":"allowed","resetsAt":1790000000}}',
)
Counted = Counter[tuple[Cause, Cause]]


def told() -> Counted:
    """Count true and told causes over all texts."""
    return Counter((Cause(name.split("/")[0]), said(name)) for name in ORIGINS)


def said(name: str) -> Cause:
    return classify((FOLDER / name).read_text(), ORIGINS[name]["exit"])


def matrix(counted: Counted) -> str:
    """Draw the confusion matrix: a row for each true cause, a column for each told one."""
    wide = max(map(len, Cause)) + 2
    lines = [" " * wide + "".join(f"{cause.value[:6]:>7}" for cause in Cause)]
    for true in Cause:
        row = [counted[true, one] for one in Cause]
        lines.append(f"{true.value:<{wide}}" + "".join(f"{many or '.':>7}" for many in row) + f"   of {sum(row)}")
    return "\n".join(lines)


def test_real_failures_are_told_apart(capsys: pytest.CaptureFixture[str]) -> None:
    """O8: the confusion matrix is printed; no cause may fall below its bar."""
    counted = told()
    with capsys.disabled():
        print(f"\n{len(ORIGINS)} failure texts, rows true, columns told\n{matrix(counted)}")
        for name in sorted(ORIGINS):
            if said(name) != name.split("/")[0]:
                print(f"  told {said(name).value}: {name}")
    for cause in Cause:
        of = sum(many for (true, _), many in counted.items() if true is cause)
        assert of >= 4, f"too few texts of {cause.value}"
        assert counted[cause, cause] / of >= BARS[cause], cause


def test_there_are_enough_texts_and_each_says_where_it_is_from() -> None:
    noise = [name for name in ORIGINS if "/noise-" in name]
    assert len(ORIGINS) - len(noise) >= 120
    assert {path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*.txt")} == set(ORIGINS)
    assert all(set(origin) == {"exit", "how", "held_out"} and origin["how"] for origin in ORIGINS.values())


@pytest.mark.parametrize(
    ("earlier", "last", "cause"),
    [
        ("connection reset by peer, retrying", "AssertionError: 1 != 2", Cause.LOGIC),
        ("AssertionError: 1 != 2", "OSError: [Errno 28] No space left on device", Cause.DISK),
        ("Could not resolve host: files.example", "ERROR: No matching distribution found for x", Cause.NETWORK),
        ("test_401_unauthorized PASSED", "3 failed, 12 passed", Cause.LOGIC),
        ("HTTP 401 Unauthorized", "INFO signed in again\n12 passed, 0 failed", Cause.AUTH),
        ("the usage limit has been reached", "unexpected status 429 Too Many Requests", Cause.LIMIT),
    ],
)
def test_the_last_line_that_says_why_decides(earlier: str, last: str, cause: Cause) -> None:
    assert classify(f"{earlier}\n{last}\n", 1) is cause


@given(st.sampled_from(sorted(ORIGINS)), st.lists(st.sampled_from(QUIET), max_size=6))
def test_lines_that_only_mention_trouble_change_nothing(name: str, quiet: list[str]) -> None:
    text = (FOLDER / name).read_text()
    assert classify("\n".join([*quiet, text, *quiet]), ORIGINS[name]["exit"]) is said(name)
