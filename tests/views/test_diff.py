"""A diff is read as git wrote it, whatever the files hold."""

import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from midwatch.surfaces.web.site.diffs import MOST_LINES, OPEN_UP_TO, diff_html
from midwatch.views.diff.diff import DiffFile, DiffFileKind, LineKind, parse
from midwatch.views.diff.shape import touched, tree

LINES = st.sampled_from(
    [
        "", "a", "b", "c\r", "+", "-", "++ b/x", "-- a/x", "@@ -1,2 +1,2 @@", "diff --git a/x b/x",
        "\\ No newline at end of file", "--- a/x", "+++ b/x", "rename from y",
        "Binary files a/x and b/x differ", "\u2028", "\x0c", " lead", "é",
    ]
)  # fmt: skip
CONTENT = st.tuples(st.lists(LINES, max_size=12), st.booleans()).map(
    lambda made: "\n".join(made[0]) + ("\n" if made[0] and made[1] else "")
)
NAMES = st.sampled_from(
    ["a.txt", "b/c d.txt", "é.txt", 'quo"te', "tab\there", "b/x b/x", "back\\slash", " lead", "new\nline", "b/c/d/e.py"]
)


def git(folder: Path, *arguments: str) -> str:
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "core.autocrlf=false", *arguments]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True).stdout.decode()


def between(before: dict[str, str], after: dict[str, str], *flags: str) -> str:
    """Let git tell two trees apart."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        git(folder, "init", "-q")
        for files in (before, after):
            git(folder, "rm", "-rqf", "--ignore-unmatch", ".")
            for path, content in files.items():
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / path).write_bytes(content.encode())
            git(folder, "add", "-A")
            git(folder, "commit", "-q", "--allow-empty", "-m", "x")
        return git(folder, "diff", *flags, "HEAD~1", "HEAD")


def side(file: DiffFile, without: LineKind) -> str:
    lines = [line for hunk in file.hunks for line in hunk.lines if line.kind is not without]
    return "".join(line.text + ("\n" if line.ends else "") for line in lines)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(before=CONTENT, after=CONTENT, name=NAMES)
def test_old_and_new_come_back_from_what_git_printed(before: str, after: str, name: str) -> None:
    text = between({name: before}, {name: after}, "--unified=1000", "--no-renames", "--text")
    diff = parse(text)
    assert diff.unread == 0
    if before == after:
        assert diff.files == ()
        return
    (file,) = diff.files
    assert file.path == file.old_path == name
    assert side(file, LineKind.ADDED) == before
    assert side(file, LineKind.REMOVED) == after


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(
    before=st.dictionaries(NAMES, CONTENT, max_size=4),
    after=st.dictionaries(NAMES, CONTENT, max_size=4),
)
def test_files_kinds_and_counts_agree_with_git(before: dict[str, str], after: dict[str, str]) -> None:
    diff = parse(between(before, after, "--no-renames", "--text"))
    kinds = {file.path: file.kind for file in diff.files}
    assert {name for name, kind in kinds.items() if kind is DiffFileKind.NEW} == after.keys() - before.keys()
    assert {name for name, kind in kinds.items() if kind is DiffFileKind.DELETED} == before.keys() - after.keys()
    both = {name for name in before.keys() & after.keys() if before[name] != after[name]}
    assert {name for name, kind in kinds.items() if kind is DiffFileKind.CHANGED} == both
    stat = between(before, after, "--no-renames", "--text", "--numstat", "-z").split("\0")
    counted = {one.split("\t", 2)[2]: one.split("\t", 2)[:2] for one in stat if one}
    assert {file.path: [str(file.added), str(file.removed)] for file in diff.files} == counted
    for file in diff.files:
        for hunk in file.hunks:
            numbers = [line.new for line in hunk.lines if line.new is not None]
            assert numbers == list(range(hunk.new, hunk.new + len(numbers)))


@given(st.text(max_size=300))
def test_nonsense_is_counted_and_never_breaks(text: str) -> None:
    assert parse(text).unread <= text.count("\n") + 1
    diff_html(text)
    diff_html(f"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,9 +1,9 @@\n{text}")


def test_a_rename_with_spaces_keeps_both_names() -> None:
    body = "".join(f"line {number}\n" for number in range(20))
    (file,) = parse(between({"old name.txt": body}, {"new dir/näme.txt": f"{body}more\n"}, "-M")).files
    assert (file.kind, file.old_path, file.path) == (DiffFileKind.RENAMED, "old name.txt", "new dir/näme.txt")
    assert (file.added, file.removed) == (1, 0)


def test_a_pure_rename_and_an_empty_new_file_have_no_lines() -> None:
    files = parse(between({"a b": "x\n" * 9}, {"c d": "x\n" * 9, "empty one": ""}, "-M")).files
    assert {(file.path, file.kind, file.lines) for file in files} == {
        ("c d", DiffFileKind.RENAMED, 0),
        ("empty one", DiffFileKind.NEW, 0),
    }


def test_a_binary_file_is_named_binary() -> None:
    (file,) = parse(between({"x.bin": "\0a"}, {"x.bin": "\0b"})).files
    assert file.binary
    (file,) = parse(between({"x.bin": "\0a"}, {"x.bin": "\0b"}, "--binary")).files
    assert file.binary
    assert "binary" in diff_html(between({"x.bin": "\0a"}, {"x.bin": "\0b"}))


def test_a_changed_mode_is_told() -> None:
    (file,) = parse("diff --git a/run it b/run it\nold mode 100644\nnew mode 100755\n").files
    assert (file.path, file.kind, file.old_mode, file.new_mode) == ("run it", DiffFileKind.MODE, "100644", "100755")


def test_a_header_inside_a_hunk_is_content() -> None:
    text = (
        "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,3 @@\n same\n-diff --git a/evil b/evil\n"
        "+diff --git a/evil b/evil2\n++++ b/other\ndiff --git a/y b/y\nnew file mode 100644\n"
    )
    assert [file.path for file in parse(text).files] == ["x", "y"]
    assert parse(text).files[0].added == 2


def test_a_hunk_ends_where_its_header_says() -> None:
    hunk = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"
    diff = parse(f"{hunk}-- \n+2.47.0\n@@ -9 +9 @@\n-c\n+d\n")
    assert diff.unread == 2
    assert (diff.files[0].added, diff.files[0].removed) == (2, 2)
    assert "2 lines could not be read as a diff" in diff_html(f"{hunk}-- \n2.47.0\n")


def test_the_changed_part_of_a_line_is_found() -> None:
    old, new = touched("return total(a)", "return sum(a)")
    assert ("return total(a)"[slice(*old)], "return sum(a)"[slice(*new)]) == ("total", "sum")
    assert touched("abc", "xyz 123") == ((0, 0), (0, 0))


@given(st.text(max_size=30), st.text(max_size=30))
def test_outside_the_changed_part_lines_are_equal(old: str, new: str) -> None:
    here, there = touched(old, new)
    if here != (0, 0) or there != (0, 0):
        assert old[: here.start] == new[: there.start]
        assert old[here.end :] == new[there.end :]


def test_folders_with_one_folder_are_folded() -> None:
    root = tree([DiffFile(path=path, old_path=path) for path in ("src/a/b/x.py", "src/a/b/y.py", "top.txt")])
    assert root.files == (2,)
    assert [(one.name, one.files) for one in root.folders] == [("src/a/b", (0, 1))]
    assert tree([DiffFile(path="/" * 5000, old_path="x")]).folders


def _added(name: str, count: int) -> str:
    lines = "".join(f"+{number}\n" for number in range(count))
    head = f"diff --git a/{name} b/{name}\nnew file mode 100644\n--- /dev/null\n+++ b/{name}"
    return f"{head}\n@@ -0,0 +1,{count} @@\n{lines}"


@pytest.mark.parametrize(
    ("name", "count", "opened"), [("a.py", 3, True), ("a.py", OPEN_UP_TO + 1, False), ("uv.lock", 3, False)]
)
def test_long_and_generated_files_are_closed(name: str, count: int, opened: bool) -> None:
    html = diff_html(_added(name, count))
    assert html.split('<details class="diff-file"', 1)[1].split(">")[0].endswith(" open") is opened


def test_what_does_not_fit_is_named_with_the_command() -> None:
    html = diff_html(_added("big.txt", MOST_LINES) + _added("late.txt", 3), command="midwatch job diff 4")
    assert "late.txt" in html
    assert "midwatch job diff 4" in html
    assert html.count('class="added"') == MOST_LINES


def test_hidden_characters_and_line_ends_are_shown() -> None:
    html = diff_html("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\u202e\n")
    assert '<span class="glyph">⟨U+202E⟩</span>' in html
    assert "⟨no line break⟩" in html


def test_a_crlf_file_says_it_once() -> None:
    html = diff_html("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\r\n+b\r\n")
    assert "CRLF lines" in html
    assert "U+000D" not in html


def test_code_has_colours_and_the_changed_word_a_mark() -> None:
    html = diff_html('diff --git a/x.py b/x.py\n--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-return "a"\n+return "b"\n')
    assert '<span class="k">return</span>' in html
    assert '<mark><span class="s">b</span></mark>' in html
    assert "style=" not in html


def test_the_layout_is_a_box_that_belongs_to_no_form() -> None:
    assert 'form="no-form" autocomplete="off">' in diff_html("")
    assert "changes no file" in diff_html("")
