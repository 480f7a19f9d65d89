"""Where `agent login` puts a credential: a file replaced whole or not at all, or one line of midwatch.toml."""

import stat
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midwatch.errors import Misuse
from midwatch.surfaces.cli.house.settings_file import SecretLine, with_value, without_table
from midwatch.surfaces.cli.house.stored_secret import StoredSecret


def with_secret(text: str, name: str, reference: str) -> str:
    return with_value(text, "secrets", name, reference)


def names(home: Path) -> list[str]:
    return sorted(path.name for path in (home / "secrets").iterdir())


def test_a_secret_is_for_its_owner_only_even_in_a_folder_that_was_open(tmp_path: Path) -> None:
    (tmp_path / "secrets").mkdir(mode=0o755)
    stored = StoredSecret(tmp_path, "claude")
    stored.write("first")
    stored.settle()
    stored.done()
    assert stat.S_IMODE((tmp_path / "secrets").stat().st_mode) == 0o700
    assert stat.S_IMODE(stored.path.stat().st_mode) == 0o600
    assert (names(tmp_path), stored.path.read_text()) == (["claude"], "first")


@pytest.mark.parametrize("settled", [False, True])
@pytest.mark.parametrize("before", ["", "first"])
def test_an_undone_secret_leaves_what_was_there(tmp_path: Path, before: str, settled: bool) -> None:
    stored = StoredSecret(tmp_path, "claude")
    if before:
        stored.write(before)
        stored.settle()
        stored.done()
    stored.write("second")
    if settled:
        stored.settle()
        assert stored.path.read_text() == "second"
    stored.undo()
    assert [(path.name, path.read_text()) for path in (tmp_path / "secrets").iterdir()] == (
        [("claude", before)] if before else []
    )


def test_leftovers_of_a_login_that_was_cut_off_are_in_nobodys_way(tmp_path: Path) -> None:
    StoredSecret(tmp_path, "claude").write("cut off")
    again = StoredSecret(tmp_path, "claude")
    again.write("second")
    again.settle()
    again.done()
    assert (names(tmp_path), again.path.read_text()) == (["claude"], "second")
    assert (again.remove(), again.remove(), names(tmp_path)) == (True, False, [])


def test_a_link_in_the_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "secrets").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Misuse):
        StoredSecret(tmp_path, "claude").write("x")
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# mine\n[server]\nport = 0\n",
        '[secrets] # kept elsewhere\nother = "env:X"\n[server]\nport = 0\n',
        '[secrets]\nclaude-command = "cmd:old"\nother = "env:X"\n',
        '[server]\nport = 0\n[secrets]\nclaude-command="cmd:old"',
        '# mine\nsecrets = {other = "env:X"}\n',
        'secrets.other = "env:X"\n# mine\n[server]\nport = 0\n',
        "[[later]]\nx = 1\n# between\n[[later]]\nx = 2\n",
    ],
)
def test_one_line_goes_into_the_settings_file_and_nothing_else_changes(text: str) -> None:
    changed = with_secret(text, "claude-command", 'cmd:pass show "ä" | cat')
    expected = tomllib.loads(text)
    expected.setdefault("secrets", {})["claude-command"] = 'cmd:pass show "ä" | cat'
    assert tomllib.loads(changed) == expected
    assert [line for line in text.splitlines() if line.startswith("#")] == [
        line for line in changed.splitlines() if line.startswith("#")
    ]
    assert [line for line in text.splitlines() if not line.startswith(("claude-command", "secrets = "))] == [
        line for line in changed.splitlines() if line in text.splitlines() and not line.startswith("secrets = ")
    ]
    assert with_secret(changed, "claude-command", 'cmd:pass show "ä" | cat') == changed


@pytest.mark.parametrize("text", ["secrets = 3\n", "[[secrets]]\nx = 1\n"], ids=["a value", "a list of tables"])
def test_a_file_written_in_another_way_is_left_alone_and_the_line_is_told(text: str) -> None:
    with pytest.raises(Misuse) as told:
        with_secret(text, "claude-command", "cmd:x")
    assert 'claude-command = "cmd:x"' in told.value.hint


def test_a_table_is_removed_and_nothing_else_changes() -> None:
    text = '# mine\n[channels.phone]\nurl = "env:A"\n\n[channels.mail] # at home\nurl = "env:B"\n# last\n'
    changed = without_table(text, "channels.phone")
    assert tomllib.loads(changed) == {"channels": {"mail": {"url": "env:B"}}}
    assert changed == '# mine\n[channels.mail] # at home\nurl = "env:B"\n# last\n'
    assert without_table(text, "channels.pager") == text


@given(st.text(alphabet=st.characters(exclude_categories=("Cs", "Cc")), max_size=60))
def test_any_command_survives_being_written(words: str) -> None:
    assert tomllib.loads(with_secret("", "x", f"cmd:{words}")) == {"secrets": {"x": f"cmd:{words}"}}


def test_what_was_written_for_a_trial_can_be_taken_back(tmp_path: Path) -> None:
    file = tmp_path / "midwatch.toml"
    file.write_text("[server]\nport = 0\n")
    file.chmod(0o640)
    line = SecretLine(tmp_path, "x-command")
    line.write("cmd:y")
    assert "cmd:y" in file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600, "whatever it was before"
    line.undo()
    assert file.read_text() == "[server]\nport = 0\n"
