"""Who is in the crew by the settings alone, and the one sentence of what is missing (X15, N27)."""

from pathlib import Path

import pytest

from midwatch.crew.programs import judged
from midwatch.crew.roster import KNOWN, recruit
from midwatch.settings.named_tables import AgentSetup
from midwatch.workshop.sandbox.program_answers import ask_program


def a_program(folder: Path, says: str = "2.1.325 (Claude Code)") -> Path:
    path = folder / "bin" / "claude"
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\necho '{says}'\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(
    ("name", "fields", "words"),
    [
        ("claude", {}, "It has no credential: midwatch agent login claude"),
        ("claude", {"secret": "other"}, "[secrets] does not say where other is kept"),
        ("claude", {"secret": "mine", "program": "nobody-has-this"}, "nobody-has-this is not installed. npm install"),
        ("mine", {"secret": "mine"}, "Set agents.mine.speaks"),
        ("mine", {"speaks": "acp"}, "Name its model's provider: agents.mine.provider."),
        ("mine", {"speaks": "acp", "provider": "openai", "secret": "mine"}, "Name its model: agents.mine.model."),
        (
            "mine",
            {"speaks": "acp", "provider": "openai", "secret": "mine", "model": "m", "credential": "oauth"},
            "Vendors allow subscriptions only in their own programs.",
        ),
        ("claude", {"secret": "mine", "credential": "oauth"}, ""),
        ("mine", {"speaks": "command"}, ""),
    ],
)
def test_what_is_missing_is_said_in_one_sentence(tmp_path: Path, name: str, fields: dict[str, str], words: str) -> None:
    given = {"program": str(a_program(tmp_path)), **fields}
    one = recruit(name, AgentSetup.model_validate(given), frozenset({"mine"}), ask_program)
    assert one.missing.startswith(words)
    assert one.ready is (words == "")


@pytest.mark.parametrize(
    ("name", "fields"),
    [("mine", {"speaks": "command"}), ("mine", {"speaks": "acp"}), ("mine", {"speaks": "claude"}), ("acp", {})],
)
def test_only_a_known_agent_s_name_is_looked_for_on_the_path(
    name: str, fields: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = a_program(tmp_path).parent
    (folder / name).write_bytes((folder / "claude").read_bytes())
    (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    assert recruit("claude", AgentSetup(), frozenset(), ask_program).program is not None
    one = recruit(name, AgentSetup.model_validate(fields), frozenset(), ask_program)
    assert (one.program, one.ready, one.missing) == (None, False, f"Name its program: agents.{name}.program.")


def test_an_agent_without_a_program_still_says_which_model_it_would_ask() -> None:
    for name in KNOWN:
        one = recruit(name, AgentSetup(program="nobody-has-this"), frozenset(), ask_program)
        assert one.access is not None
        assert one.access.model
        assert not one.ready


@pytest.mark.parametrize(
    ("version", "tested", "said"),
    [
        ("2.1.325", ("2.1.325",), "Midwatch's own tests ran with this version"),
        ("2.1.300", ("2.1.325",), "Midwatch's own tests ran with 2.1.325, not with 2.1.300"),
        ("", ("2.1.325",), "Midwatch's own tests ran with 2.1.325; it does not say its version"),
        ("1.0", (), "Midwatch's own tests ran with no version of it"),
    ],
)
def test_a_version_is_judged_by_those_that_were_tested(version: str, tested: tuple[str, ...], said: str) -> None:
    assert judged(version, tested) == said


def test_a_program_in_a_home_folder_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = a_program(tmp_path)
    monkeypatch.setenv("HOME", str(path.parent / "ann"))
    one = recruit("claude", AgentSetup(program=str(path)), frozenset(), ask_program)
    assert "is in a folder that no job may read" in one.missing


NATIVE = "@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex"


@pytest.mark.parametrize(
    "native",
    [f"@openai/codex/node_modules/{NATIVE}", NATIVE, f"other/node_modules/{NATIVE}"],
    ids=["as npm 7 and later nest it", "beside it", "in another package"],
)
def test_behind_npm_s_launcher_the_native_program_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, native: str
) -> None:
    """Laid down as by `npm install -g @openai/codex@0.166.0`: a link to a launcher that needs Node and its packages."""
    modules = tmp_path / "lib" / "node_modules"
    launcher, program = modules / "@openai/codex/bin/codex.js", modules / native
    for path, says in ((launcher, "exit 1"), (program, "echo codex-cli 0.166.0")):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{says}\n")
        path.chmod(0o755)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "codex").symlink_to("../lib/node_modules/@openai/codex/bin/codex.js")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    one = recruit("codex", AgentSetup(), frozenset(), ask_program)
    assert one.program is not None
    assert (one.program.path, one.version()) == (program, "0.166.0")
