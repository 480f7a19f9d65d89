"""Shell lines: what we read in them is what a real bash runs, or we say that we cannot tell."""

import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midwatch.rules.tools.shell_parser import Simple, Unclear, split_commands
from tests.conftest import missing

pieces = st.sampled_from(
    [
        *("a", "b", "c1", "x=", "=", " ", " ", " ", "'", '"', "\\", "\n", "\t", "#", "*", "!", ",", "~", "?", "-"),
        *(
            ";",
            "&&",
            "||",
            "|",
            "&",
            "(",
            ")",
            "<",
            ">",
            ">>",
            "2>",
            "&>",
            ">&",
            "{",
            "}",
            "{a,b}",
            "{a{b},c}",
            "..",
            "[",
            "]",
        ),
        *(
            "$",
            "$(",
            "${",
            "`",
            "$x",
            "$'",
            "'a b'",
            '"a  b"',
            "\\\n",
            "if",
            "<<a",
            "<<<",
            "2>&1",
            "a;b",
            "^",
            "%",
            "\x01",
        ),
    ]
)
lines = st.lists(pieces, min_size=1, max_size=9).map("".join)

# Bash hands every program it does not find to this function, with its words as the parser left them; PATH has none.
HARNESS = r"""
exec 9>>"$1"; shift
command_not_found_handle() { printf '%s\0' "$#" "$@" >&9; }
PATH=/nonexistent
for line in "$@"; do ( eval "$line"; wait ); printf 'next\0' >&9; done
"""


def ran_by_bash(bash: str, several: list[str], folder: Path) -> list[list[tuple[str, ...]]]:
    """Run each line in an empty folder; give the words of every program it would have started."""
    place, log = folder / "place", folder / "log"
    place.mkdir()
    subprocess.run(
        [bash, "--norc", "--noprofile", "-c", HARNESS, "bash", log, *several],
        check=False,
        cwd=place,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env={},
    )
    said = log.read_bytes().decode("utf-8", "surrogateescape").split("\0")[:-1]
    ran: list[list[tuple[str, ...]]] = [[]]
    while said:
        head = said.pop(0)
        if head == "next":
            ran.append([])
        else:
            ran[-1].append(tuple(said[: int(head)]))
            del said[: int(head)]
    return ran[:-1]


@given(st.lists(lines, min_size=1, max_size=25))
def test_bash_runs_nothing_that_we_did_not_read_in_the_line(several: list[str]) -> None:
    bash = shutil.which("bash") or missing("bash", "to compare with")
    read: dict[str, tuple[Simple, ...]] = {}
    for line in several:
        try:
            read[line] = split_commands(line)
        except Unclear:
            continue
    with tempfile.TemporaryDirectory() as folder:
        ran = ran_by_bash(bash, list(read), Path(folder))
        made = {path.name for path in (Path(folder) / "place").iterdir()}
    assert len(ran) == len(read)
    for (line, commands), started in zip(read.items(), ran, strict=True):
        # What a wildcard becomes depends on the files around; that there is one must be told.
        if not any(command.expands for command in commands):
            assert set(started) <= {command.words for command in commands}, line
    if any("*" in line or "?" in line or "[" in line or "~" in line for line in read):
        return
    targets = {one.target for commands in read.values() for command in commands for one in command.redirections}
    assert made <= targets


def test_the_comparison_sees_what_bash_runs(tmp_path: Path) -> None:
    bash = shutil.which("bash") or missing("bash", "to compare with")
    assert ran_by_bash(bash, ["a 'b c' && d; e >f", "", "$(a)"], tmp_path) == [
        [("a", "b c"), ("d",), ("e",)],
        [],
        [("a",)],
    ]
    assert (tmp_path / "place" / "f").exists()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("a b", [("a", "b")]),
        ("a;b&&c||d|e&f", [("a",), ("b",), ("c",), ("d",), ("e",), ("f",)]),
        ("a 'b c' \"d 'e'\" f\\ g", [("a", "b c", "d 'e'", "f g")]),
        ("a # b\nc", [("a",), ("c",)]),
        ("a \\\n b", [("a", "b")]),
        ("x=1 a y=2", [("a", "y=2")]),
        ("a 2>&1 >b <c", [("a",)]),
        ('echo "$?" $?', [("echo", "$?", "$?")]),
        ("", []),
    ],
)
def test_a_line_is_split_into_its_commands(line: str, words: list[tuple[str, ...]]) -> None:
    assert [command.words for command in split_commands(line)] == words
