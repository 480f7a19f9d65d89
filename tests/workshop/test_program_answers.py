"""A program is asked its version in an empty folder, and behind walls it changes nothing outside (A1 of title 7)."""

from pathlib import Path

import pytest

from midwatch.terms.trust import Isolation
from midwatch.workshop.sandbox import program_answers
from midwatch.workshop.sandbox.isolation import STRENGTH, found
from midwatch.workshop.sandbox.program_answers import answer_within, ask_program
from tests.patience import PATIENCE

BEHIND = (Isolation.LANDLOCK, Isolation.BUBBLEWRAP)


def a_script(folder: Path, body: str) -> Path:
    path = folder / "bin" / "agent"
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize("isolation", [Isolation.NONE, *BEHIND])
def test_it_stands_in_an_empty_folder_that_is_not_ours(
    isolation: Isolation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if STRENGTH.index(isolation) > STRENGTH.index(found().isolation):
        pytest.skip(f"no {isolation.value} here")
    monkeypatch.chdir(tmp_path)
    path = a_script(tmp_path, 'echo "$PWD"; ls -A; ls -A "$HOME"')
    said = answer_within(isolation, path, "--version", path.parent)
    assert len(said.splitlines()) == 1
    assert str(tmp_path) not in said


@pytest.mark.parametrize("isolation", BEHIND)
def test_behind_walls_it_writes_nothing_outside(isolation: Isolation, tmp_path: Path) -> None:
    if STRENGTH.index(isolation) > STRENGTH.index(found().isolation):
        pytest.skip(f"no {isolation.value} here")
    path = a_script(tmp_path, f"echo x 2>/dev/null > {tmp_path}/left; echo 1.2.3")
    assert answer_within(isolation, path, "--version", path.parent) == "1.2.3\n"
    assert not (tmp_path / "left").exists()


def test_it_is_asked_again_only_when_the_file_changes(tmp_path: Path) -> None:
    path = a_script(tmp_path, "echo 1.0; cat /proc/sys/kernel/random/uuid")
    first = ask_program(path, "--version", lent=path.parent, named=True)
    assert first.startswith("1.0")
    assert ask_program(path, "--version", lent=path.parent, named=True) == first
    a_script(tmp_path, "echo 2.0.1")
    assert ask_program(path, "--version", lent=path.parent, named=True) == "2.0.1\n"
    path.unlink()
    assert ask_program(path, "--version", lent=path.parent, named=True) == ""


def test_one_that_fails_or_ignores_the_question_says_nothing(tmp_path: Path) -> None:
    path = a_script(tmp_path, "echo 9.9; exit 3")
    assert ask_program(path, "--version", lent=path.parent, named=True) == ""


def test_one_that_had_no_time_to_answer_is_asked_again_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = a_script(tmp_path, 'while [ -e "$0.busy" ]; do sleep 0.05; done; echo 1.2.3')
    busy = path.with_name("agent.busy")
    busy.touch()
    monkeypatch.setattr(program_answers, "ASK_SECONDS", 0.2)
    assert ask_program(path, "--version", lent=path.parent, named=True) == ""
    busy.unlink()
    monkeypatch.setattr(program_answers, "ASK_SECONDS", PATIENCE)
    assert ask_program(path, "--version", lent=path.parent, named=True) == "", "lists would wait for it each time"
    monkeypatch.setattr(program_answers, "LATE_SECONDS", 0.0)
    assert ask_program(path, "--version", lent=path.parent, named=True) == "1.2.3\n"
