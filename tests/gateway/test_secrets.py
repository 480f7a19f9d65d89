"""Secrets are fetched by reference, held in memory, and shown to nobody by accident."""

import asyncio
import json
import os
import pickle
import sys
from datetime import timedelta
from pathlib import Path

import psutil
import pytest

from midwatch.errors import MidwatchError, Misuse, Refused, Unavailable
from midwatch.gateway.redaction.redactor import Redactor
from midwatch.gateway.vault import Vault
from midwatch.terms.secrets import SecretReference
from tests.patience import PATIENCE

VALUE = "the-owl-flies-at-0400"


def vault(**references: str) -> Vault:
    return Vault({name: SecretReference.read(text) for name, text in references.items()})


def kept(folder: Path, mode: int = 0o600) -> Path:
    path = folder / "token"
    path.write_text(f"  {VALUE}\n")
    path.chmod(mode)
    return path


async def failure(text: str, patience: float = 20) -> MidwatchError:
    """The error that fetching ends with; the value is in none of its words."""
    one = Vault({"it": SecretReference.read(text)}, patience=timedelta(seconds=patience))
    with pytest.raises(MidwatchError) as caught:
        await one.secret("it")
    assert VALUE not in caught.value.message
    return caught.value


@pytest.mark.parametrize("text", ["env:NAME", "cmd:pass show x", "file:/path/to it"])
def test_a_reference_reads_as_it_is_written(text: str) -> None:
    assert str(SecretReference.read(text)) == text


@pytest.mark.parametrize("text", ["", "env:", VALUE, f"http://{VALUE}", f"vault:{VALUE}", "file: "])
def test_what_is_no_reference_is_refused_without_repeating_it(text: str) -> None:
    with pytest.raises(Misuse) as caught:
        SecretReference.read(text)
    assert VALUE not in caught.value.message + caught.value.hint


async def test_a_secret_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIDWATCH_TEST_SECRET", VALUE)
    assert (await vault(it="env:MIDWATCH_TEST_SECRET").secret("it")).reveal() == VALUE


async def test_a_variable_that_is_not_set_is_named() -> None:
    error = await failure("env:MIDWATCH_NOT_SET")
    assert isinstance(error, Misuse)
    assert "export MIDWATCH_NOT_SET" in error.hint


async def test_a_secret_comes_from_a_file_only_we_can_read(tmp_path: Path) -> None:
    assert (await vault(it=f"file:{kept(tmp_path)}").secret("it")).reveal() == VALUE


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o620, 0o700])
async def test_a_file_that_others_may_use_is_refused_with_the_command_that_mends_it(tmp_path: Path, mode: int) -> None:
    path = kept(tmp_path, mode)
    error = await failure(f"file:{path}")
    assert isinstance(error, Refused)
    assert error.hint == f"chmod 600 {path}"


async def test_a_file_of_somebody_else_is_refused(tmp_path: Path) -> None:
    if os.geteuid():
        pytest.skip("only root can give a file away")
    path = kept(tmp_path)
    os.chown(path, 65534, 65534)
    error = await failure(f"file:{path}")
    assert isinstance(error, Refused)
    assert error.hint.startswith("chown 0 ")


async def test_what_is_no_file_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe", 0o600)
    assert isinstance(await failure(f"file:{tmp_path / 'pipe'}"), Refused)
    assert isinstance(await failure(f"file:{tmp_path / 'absent'}"), Misuse)


async def test_a_secret_comes_from_a_command_and_is_stripped() -> None:
    assert (await vault(it=f"cmd:echo '  {VALUE}  '").secret("it")).reveal() == VALUE


async def test_a_command_is_not_read_by_a_shell() -> None:
    assert (await vault(it="cmd:echo $HOME;ls|cat").secret("it")).reveal() == "$HOME;ls|cat"


async def test_a_command_that_fails_tells_its_code_and_nothing_it_printed() -> None:
    program = f"import sys; print('{VALUE}'); print('{VALUE}', file=sys.stderr); sys.exit(3)"
    error = await failure(f'cmd:{sys.executable} -c "{program}"')
    assert isinstance(error, Unavailable)
    assert "failed with 3" in error.message
    assert isinstance(await failure("cmd:/no/such/program"), Misuse)
    assert isinstance(await failure("cmd:echo 'unbalanced"), Misuse)


async def test_a_command_that_does_not_end_is_ended_with_all_its_children(tmp_path: Path) -> None:
    program = tmp_path / "slow.py"
    program.write_text(
        "import subprocess, pathlib, time, sys\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        f"pathlib.Path({str(tmp_path / 'pid')!r}).write_text(str(child.pid))\n"
        "time.sleep(600)\n"
    )
    error = await failure(f"cmd:{sys.executable} {program}", patience=3)
    assert isinstance(error, Unavailable)
    assert "3 seconds" in error.message
    child = int((tmp_path / "pid").read_text())
    gone = await asyncio.to_thread(_gone, child)
    assert gone


def _gone(pid: int) -> bool:
    try:
        process = psutil.Process(pid)
        if process.status() != psutil.STATUS_ZOMBIE:
            process.wait(PATIENCE)
    except psutil.NoSuchProcess:
        return True
    return True


async def test_a_command_that_prints_for_ever_is_ended() -> None:
    assert "longer than" in (await failure("cmd:yes")).message


async def test_a_secret_is_fetched_once_and_anew_when_forgotten(tmp_path: Path) -> None:
    path = kept(tmp_path)
    one = vault(it=f"file:{path}")
    await one.secret("it")
    path.write_text("another-one-entirely")
    assert (await one.secret("it")).reveal() == VALUE
    one.forget("it")
    assert (await one.secret("it")).reveal() == "another-one-entirely"


async def test_the_redactor_knows_a_secret_before_anyone_else_has_it(tmp_path: Path) -> None:
    redactor = Redactor()
    references = {"owl": SecretReference.read(f"file:{kept(tmp_path)}"), "none": SecretReference.read("env:NOT_SET_5")}
    one = Vault(references, on_read=redactor.know)
    failed = await one.unlock()
    assert list(failed) == ["none"]
    assert redactor.redact(f"it said {VALUE}") == "it said [secret:owl]"
    assert one.known() == {"owl": VALUE}


async def test_nothing_shows_a_secret_by_accident(tmp_path: Path) -> None:
    one = vault(owl=f"file:{kept(tmp_path)}")
    secret = await one.secret("owl")
    shown = [repr(one), str(one), repr(secret), str(secret), f"{secret}", json.dumps({"a": secret}, default=str)]
    assert not [words for words in shown if VALUE in words]
    for holder in (one, secret):
        with pytest.raises(TypeError):
            pickle.dumps(holder)


async def test_a_value_too_short_to_hide_and_a_name_nobody_gave_are_refused() -> None:
    assert "too short" in (await failure("cmd:echo 1234")).message
    assert "too short" in (await failure("cmd:true")).message
    with pytest.raises(Misuse, match="No secret is called nothing"):
        await vault().secret("nothing")


async def test_other_references_are_taken_and_what_moved_is_fetched_anew(tmp_path: Path) -> None:
    one = vault(owl=f"file:{kept(tmp_path)}")
    assert (await one.secret("owl")).reveal() == VALUE
    same = {"owl": SecretReference.read(f"file:{tmp_path / 'token'}")}
    assert not one.refer(same)
    assert one.known() == {"owl": VALUE}
    assert one.refer({"owl": SecretReference.read("cmd:echo another-value-7"), "hawk": same["owl"]})
    assert one.known() == {}
    assert await one.unlock() == {}
    assert one.known() == {"owl": "another-value-7", "hawk": VALUE}
    assert one.refer({})
    with pytest.raises(Misuse):
        await one.secret("owl")


async def test_a_secret_that_was_changed_stays_out_of_sight_as_it_was_before() -> None:
    redactor = Redactor()
    for value in ("first-value-1", "second-value-2", "third-value-3", "third-value-3"):
        redactor.know({"owl": value})
    clean = redactor.redact("first-value-1 second-value-2 third-value-3")
    assert clean == "[secret:owl.old.old] [secret:owl.old] [secret:owl]"


async def test_a_value_that_is_refused_spoils_nothing() -> None:
    redactor = Redactor({"owl": VALUE})
    with pytest.raises(Misuse):
        redactor.know({"pin": "1234"})
    redactor.know({"hawk": "another-value-7"})
    assert redactor.redact(f"{VALUE} another-value-7 1234") == "[secret:owl] [secret:hawk] 1234"
