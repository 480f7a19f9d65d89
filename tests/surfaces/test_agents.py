"""`midwatch agent` and what doctor says about agents, as a person sees them; secrets show nowhere (A3, N27, X15)."""

import json
import os
import pty
import re
import select
import stat
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from midwatch.terms.trust import Isolation
from midwatch.workshop.sandbox.isolation import found
from tests.agents.conftest import need
from tests.agents.model import FOREVER, Fault, HangUp, Model, Say, Step, fuel, model_in_a_thread, usage_limit
from tests.conftest import missing
from tests.patience import PATIENCE
from tests.surfaces import person as at_home
from tests.surfaces.person import Person, Said, a_person, command
from tools.agents import program

SOON = int(time.time()) + 3600
SETTINGS = at_home.SETTINGS.replace("[server]", "[server]\nport = 0")  # several houses at once, and no pages
VERSION = "#!/bin/sh\necho '{} (Claude Code)'\n"
TABLES = """\
[agents.claude]
program = "{program}"
base_url = "{url}"
"""


@pytest.fixture(scope="module")
def model() -> Iterator[Model]:
    with model_in_a_thread() as serving:
        yield serving


@pytest.fixture(scope="module")
def up(model: Model) -> Iterator[Person]:
    """Somebody whose server runs, with a claude that is a script saying a version, and a model on loopback."""
    with a_person(up=False) as person:
        person.settles(SETTINGS + TABLES.format(program=script(person, "2.1.300"), url=model.url))
        person.ups()
        yield person


@pytest.fixture
def person(up: Person) -> Iterator[Person]:
    yield up
    up.types("agent", "logout", "claude")
    assert secret_files(up) == []


def script(person: Person, version: str) -> Path:
    path = person.folder / "bin" / "claude"
    path.parent.mkdir(exist_ok=True)
    path.write_text(VERSION.format(version))
    path.chmod(0o755)
    return path


def secret_files(person: Person) -> list[str]:
    folder = person.home / "secrets"
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def logs_in(person: Person, model: Model, step: Step, *words: str, expect: int | None = 0) -> tuple[str, Said]:
    """Log claude in with a key by which the model plays this step."""
    key = model.play("hello", step, every=True)
    said = person.types("agent", "login", "claude", *words, text=f"{key}\n", expect=expect)
    nowhere(person, key, said)
    return key, said


def nowhere(person: Person, key: str, *said: Said) -> None:
    """Insist that a key is in no output, and in no file of the data folder but the one that keeps it."""
    for one in said:
        assert key not in one.out + one.err
    for path in person.home.rglob("*"):
        if path.is_file() and path.parent.name != "secrets":
            assert key.encode() not in path.read_bytes(), path


def version_count(person: Person) -> int:
    return sum(row["state"] == "applied" for row in person.types("settings", "proposals", "--json").json)


def claude_in(said: Said) -> dict[str, object]:
    found: dict[str, object] = next(row for row in said.json if row["name"] == "claude")
    return found


def test_a_login_that_is_answered_is_kept_and_said_everywhere_but_by_its_value(person: Person, model: Model) -> None:
    key, said = logs_in(person, model, Say("Hello.", headers=fuel(0.4, SOON), times=3), "--model", "claude-haiku-4-5")
    assert "claude-haiku-4-5 answers in" in said.out
    assert "60 % of 5h left" in said.out
    assert "claude has its credential. See it answer in its sandbox: midwatch agent test claude" in said.out
    folder, file = person.home / "secrets", person.home / "secrets" / "claude"
    assert (stat.S_IMODE(folder.stat().st_mode), stat.S_IMODE(file.stat().st_mode)) == (0o700, 0o600)
    assert file.read_text() == key
    listed = person.types("agent", "list", "--json")
    row = claude_in(listed)
    assert (row["missing"], row["secret"], row["kept"], row["credential"], row["model"]) == (
        "",
        "claude",
        f"file:{file}",
        "api_key",
        "claude-haiku-4-5",
    )
    shown = person.types("agent", "list")
    assert "API key 'claude', kept in file:" in shown.out
    assert ", not with 2.1.300)" in shown.out
    assert "tested: Midwatch's own tests ran with this version of the program" in shown.out
    tested = person.types("agent", "test", "claude", "--no-program")
    assert tested.out.startswith("Saying hello to 1 model; each costs about a token.")
    doctor = person.types("doctor", "--agents")
    assert "claude-haiku-4-5 answers in" in doctor.out
    nowhere(person, key, listed, shown, tested, doctor)
    assert len(model.requests("hello")) == 3


OFFERS = {
    "claude-opus-9": 1_900_000_000,
    "claude-sonnet-4-5-20250929": 1_759_000_000,
    "claude-sonnet-6-20261001": 1_790_000_000,
    "claude-sonnet-5-20260301": 1_772_000_000,
    "gpt-5-codex": 1_757_000_000,
    "gpt-6.1-codex": 1_780_000_000,
    "gpt-6.1-codex-mini": 1_781_000_000,
    "gpt-7": 1_785_000_000,
}


@pytest.mark.parametrize(
    ("offers", "words", "model_used"),
    [
        (OFFERS, (), "claude-sonnet-6-20261001"),
        (OFFERS, ("--model", "claude-opus-9"), "claude-opus-9"),
        ({}, (), "claude-sonnet-4-5"),
    ],
    ids=["the newest that fits", "the one that is named", "a provider without a list"],
)
def test_a_login_takes_the_newest_model_of_the_provider_s_list(
    person: Person, model: Model, offers: dict[str, int], words: tuple[str, ...], model_used: str
) -> None:
    model.offers = offers
    try:
        logs_in(person, model, Say("Hello."), *words)
        assert claude_in(person.types("agent", "list", "--json"))["model"] == model_used
        assert [asked.body["model"] for asked in model.requests("hello") if asked.body] == [model_used]
    finally:
        model.offers = {}


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (Fault(401, "bad key"), "anthropic refuses the API key (401)"),
        (HangUp(), "gives no answer"),
    ],
)
def test_a_login_that_fails_keeps_nothing(person: Person, model: Model, step: Step, words: str) -> None:
    before = version_count(person)
    _, said = logs_in(person, model, step, expect=3)
    assert words in said.out
    assert "Nothing was stored." in said.err
    assert (secret_files(person), version_count(person)) == ([], before)
    assert claude_in(person.types("agent", "list", "--json"))["secret"] == ""


def test_a_failing_login_leaves_the_credential_that_was_there(person: Person, model: Model) -> None:
    key, _ = logs_in(person, model, Say("Hello."))
    model.play("other", Fault(401), every=True)
    other = model.key("other")
    said = person.types("agent", "login", "claude", text=other, expect=3)
    nowhere(person, other, said)
    assert (secret_files(person), (person.home / "secrets" / "claude").read_text()) == (["claude"], key)
    model.play("hello", Say("Hello."), every=True)
    person.types("agent", "test", "claude", "--no-program")


def test_a_new_credential_in_the_same_place_is_used_from_then_on(person: Person, model: Model) -> None:
    logs_in(person, model, Say("Hello.", times=5))
    model.play("other", Say("Hello.", times=5), every=True)
    before = version_count(person)
    person.types("agent", "login", "claude", text=model.key("other"))
    assert version_count(person) == before  # the settings say the same as before
    asked = len(model.requests("hello"))
    person.types("agent", "test", "claude", "--no-program")
    assert (len(model.requests("hello")), len(model.requests("other"))) == (asked, 2)


def test_a_limit_that_is_reached_is_no_fault_of_the_credential(person: Person, model: Model) -> None:
    _, said = logs_in(person, model, usage_limit(SOON))
    assert "usage limit is reached until" in said.out
    assert secret_files(person) == ["claude"]
    assert "usage limit" in person.types("agent", "test", "claude", "--no-program", expect=5).out


def test_whoever_insists_keeps_what_failed_and_the_test_says_so(person: Person, model: Model) -> None:
    logs_in(person, model, Fault(401), "--keep")
    assert secret_files(person) == ["claude"]
    told = person.types("agent", "test", "claude", "--no-program", "--json", expect=5).json
    assert (told["ok"], told["agents"][0]["hello"]["heard"]) == (False, "refused")
    said = person.types("doctor", "--agents", expect=5)
    assert "bad  agent claude: anthropic refuses the API key (401)." in said.out


def test_a_subscription_token_is_known_by_its_look_and_asked_for_as_one(person: Person, model: Model) -> None:
    model.play("sub", Say("Hello."), every=True)
    token = model.key("sub", "sk-ant-oat01-")
    refused = person.types("agent", "login", "claude", "--key", text=token, expect=2)
    assert "That is a subscription's token" in refused.err
    said = person.types("agent", "login", "claude", text=token)
    nowhere(person, token, refused, said)
    assert claude_in(person.types("agent", "list", "--json"))["credential"] == "oauth"
    [asked] = [one for one in model.requests("sub") if one.body]
    assert asked.headers["anthropic-beta"] == "oauth-2025-04-20"


@pytest.mark.parametrize("name", ["opencode", "codex"])
def test_subscriptions_that_cannot_work_are_refused_before_anything_leaves(person: Person, name: str) -> None:
    said = person.types("agent", "login", name, "--subscription", text="a-token-of-somebody", expect=3)
    assert f"midwatch agent login {name} --key" in said.err
    assert "a-token-of-somebody" not in said.out + said.err
    assert secret_files(person) == []


def test_a_credential_may_stay_where_the_person_keeps_it(person: Person, model: Model) -> None:
    key = model.play("hello", Say("Hello.", times=9), every=True)
    file = person.folder / "my-key"
    file.touch(0o600)
    file.write_text(key)
    person.types("agent", "login", "claude", "--from", f"file:{file}")
    assert claude_in(person.types("agent", "list", "--json"))["kept"] == f"file:{file}"
    before = (person.home / "midwatch.toml").read_text()
    person.types("agent", "login", "claude", "--from", f"cmd:cat {file}")
    row = claude_in(person.types("agent", "list", "--json"))
    assert (row["secret"], row["kept"], row["missing"]) == ("claude-command", f"cmd:cat {file}", "")
    person.types("agent", "test", "claude", "--no-program")
    person.types("agent", "logout", "claude")
    (person.home / "midwatch.toml").write_text(before)
    failed = person.types("agent", "login", "claude", "--from", "cmd:false", expect=3)
    assert "The command for the secret claude-command failed with 1." in failed.out
    assert (person.home / "midwatch.toml").read_text() == before
    assert file.exists()
    refused = person.types("agent", "login", "claude", "--from", key, expect=2)
    nowhere(person, key, failed, refused)


def test_at_a_terminal_the_credential_is_asked_for_and_not_shown(person: Person, model: Model) -> None:
    key = model.play("hello", Say("Hello."), every=True)
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        command(("agent", "login", "claude")),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=person.environment,
        start_new_session=True,
        close_fds=True,
    ) as process:
        os.close(theirs)
        shown = read_until(ours, b"it is not shown")
        os.write(ours, f"{key}\n".encode())
        shown += read_until(ours, b"claude has its credential.")
        assert process.wait(PATIENCE) == 0
    os.close(ours)
    assert key.encode() not in shown


def read_until(terminal: int, words: bytes) -> bytes:
    shown = b""
    while words not in shown:
        assert select.select([terminal], [], [], PATIENCE)[0], shown
        shown += os.read(terminal, 4096)
    return shown


def test_a_logout_takes_file_and_settings_away_and_says_what_was_not_there(person: Person, model: Model) -> None:
    logs_in(person, model, Say("Hello."))
    said = person.types("agent", "logout", "claude")
    assert "Removed the credential of claude." in said.out
    assert secret_files(person) == []
    row = claude_in(person.types("agent", "list", "--json"))
    assert (row["secret"], row["ready"]) == ("", False)
    assert "claude had no credential here." in person.types("agent", "logout", "claude").out


@pytest.mark.sweep
def test_without_a_server_the_models_are_asked_from_here_and_logins_wait(model: Model) -> None:
    with a_person(up=False) as person:
        fresh = person.types("agent", "list")
        assert "midwatch agent login claude" in fresh.out
        said = person.types("agent", "login", "claude", text="never-asked-for", expect=5)
        assert "Midwatch is not running." in said.err
        key = model.play("hello", Say("Hello."), every=True)
        place = 'secret = "mine"\n[secrets]\nmine = "env:MY_KEY"\n'
        person.settles(SETTINGS + TABLES.format(program=script(person, "2.1.325"), url=model.url) + place)
        assert "There is nothing in" in person.types("agent", "test", MY_KEY=key, expect=5).err
        person.ups()
        person.types("down")
        tested = person.types("agent", "test", MY_KEY=key)
        assert "claude-sonnet-4-5 answers in" in tested.out
        missing = person.types("agent", "test", expect=5)
        assert "The secret mine should be in $MY_KEY" in missing.out
        doctor = person.types("doctor", MY_KEY=key)
        assert "2.1.325 (Midwatch's own tests ran with this version), claude-sonnet-4-5 by" in doctor.out
        assert "by API key 'mine', which can be read" in doctor.out
        assert "its credential cannot be read" in person.types("doctor").out
        nowhere(person, key, tested, missing, doctor)


def test_what_is_missing_is_one_sentence_with_what_to_do() -> None:
    with a_person(up=False) as person:
        person.settles('[agents.claude]\nprogram = "nobody-has-this"\n[agents.mine]\nmodel = "m"\n')
        listed = person.types("agent", "list", COLUMNS="60")
        assert max(map(len, listed.out.splitlines())) <= 60
        text = " ".join(listed.out.split())
        assert "nobody-has-this is not installed. npm install --global @anthropic-ai/claude-code@" in text
        assert "Set agents.mine.speaks to acp or command." in text
        doctor = person.types("doctor").out
        assert "look agent claude cannot work yet: nobody-has-this is not installed." in doctor
        assert person.types("agent", "test", "nobody", expect=2).err.startswith("midwatch: No agent is called nobody.")


@pytest.mark.parametrize("name", ["claude", "codex", "opencode"])
def test_the_real_programs_are_found_and_their_tested_versions_known(name: str) -> None:
    need(name)
    with a_person(up=False) as person:
        rows = json.loads(person.types("agent", "list", "--json", PATH=f"{program(name).parent}:/usr/bin:/bin").out)
    row = next(row for row in rows if row["name"] == name)
    assert (row["judged"], [row["version"]]) == ("Midwatch's own tests ran with this version", row["tested"])


DYING = """\
#!/bin/sh
[ "$1" = --version ] && {{ echo 2.1.325; exit; }}
{words}
exit 1
"""
THROWN = """cat >&2 <<'E'
/opt/launcher.js:12
    throw new Error(`Missing optional dependency`);
    ^

Error: Missing optional dependency @vendor/linux-x64. Reinstall it.
    at Object.<anonymous> (/opt/launcher.js:12:11)

Node.js v22.1.0
E"""


@pytest.mark.parametrize(
    "words",
    [
        THROWN,
        "echo 'Error: Missing optional dependency @vendor/linux-x64. Reinstall it.'",
        "echo 'Error: Missing optional dependency @vendor/linux-x64. Reinstall it.'; echo 'It was slow today.' >&2",
    ],
    ids=["stderr", "stdout", "stdout beside a remark"],
)
def test_an_agent_that_dies_is_quoted_from_whichever_stream_has_its_last_words(model: Model, words: str) -> None:
    if found().isolation is not Isolation.BUBBLEWRAP:
        missing("bwrap", found().why)
    model.play("dying", Say("Hello.", times=FOREVER), every=True)
    with a_person(up=False) as person:
        path = script(person, "2.1.325")
        path.write_text(DYING.format(words=words))
        place = TABLES.format(program=path, url=model.url) + 'secret = "mine"\n[secrets]\nmine = "env:MY_KEY"\n'
        person.settles(SETTINGS + place)
        person.ups(MY_KEY=model.key("dying"))
        said = person.types("agent", "test", "claude", expect=5)
        assert "Missing optional dependency @vendor/linux-x64. Reinstall it." in " ".join(said.out.split())
        row = claude_in(person.types("agent", "list", "--json"))
        assert (row["ready"], row["missing"]) == (False, "")
        assert "Missing optional dependency" in str(row["proof"])
        assert re.search(r"^claude +does not answer ", person.types("agent", "list").out, re.MULTILINE)
        person.adds_repo()
        tried = person.types("doctor", "--project", "repo", expect=None)
        assert "Missing optional dependency" in tried.out
        person.types("code", "Tidy up", "--project", "repo", "--agent", "claude", "--yes", "--follow", expect=None)
        shown = person.types("job", "show", "1")
        assert "Missing optional dependency @vendor/linux-x64. Reinstall it." in " ".join(shown.out.split())


def test_a_program_that_is_still_working_when_its_time_is_up_stops_no_night(model: Model) -> None:
    if found().isolation is not Isolation.BUBBLEWRAP:
        missing("bwrap", found().why)
    model.play("slow", Say("Hello.", times=FOREVER), every=True)
    with a_person(up=False) as person:
        path = script(person, "2.1.325")
        path.write_text(DYING.format(words="while :; do :; done"))
        place = TABLES.format(program=path, url=model.url) + 'secret = "mine"\n[secrets]\nmine = "env:MY_KEY"\n'
        person.settles(SETTINGS + "[preflight]\nmax_minutes = 0.05\n" + place)
        person.ups(MY_KEY=model.key("slow"))
        said = " ".join(person.types("agent", "test", "claude", expect=5).out.split())
        assert "the program was still working after 0.05 min (0 requests, 0 tokens, $0)," in said
        assert "so it is unknown whether it answers. This machine has a load of" in said
        assert re.search(r"^claude +not tried ", person.types("agent", "list").out, re.MULTILINE)
        person.adds_repo()
        person.orders(more='agent = "claude"\n')
        seen = person.types("preflight", "--json").json
        (line,) = [one for one in seen["lines"] if one["what"] == "hello"]
        assert (line["state"], seen["bad"]) == ("look", 0)
        assert "unknown whether it answers" in line["text"]
        assert line["fix"] == "Try again when it has less to do: midwatch agent test claude"


def test_an_alias_that_the_provider_does_not_know_is_named_in_the_evening(model: Model) -> None:
    model.play("alias", every=True, final=Fault(404, "model: sonnet", times=FOREVER))
    with a_person(up=False) as person:
        path = script(person, "2.1.325")
        place = TABLES.format(program=path, url=model.url) + 'model = "sonnet"\nsecret = "mine"\n'
        person.settles(SETTINGS + place + '[secrets]\nmine = "env:MY_KEY"\n')
        person.ups(MY_KEY=model.key("alias"))
        person.adds_repo()
        person.orders(more='agent = "claude"\n')
        seen = person.types("preflight", "--json", expect=3).json
        (line,) = [one for one in seen["lines"] if one["what"] == "hello"]
        assert (line["state"], seen["bad"]) == ("bad", 1)
        assert line["text"].startswith("anthropic has no model sonnet for this credential")
        assert line["fix"] == "midwatch settings propose agents.claude.model=... names another"


@contextmanager
def with_the_real(name: str, model: Model) -> Iterator[tuple[Person, str, dict[str, Any]]]:
    """Somebody whose agent is the real program, asking the scripted model by a key from the environment."""
    need(name)
    if found().isolation is not Isolation.BUBBLEWRAP:
        missing("bwrap", found().why)
    key = model.key(name)
    place = f'[agents.{name}]\nbase_url = "{model.url}"\nsecret = "mine"\n[secrets]\nmine = "env:MY_KEY"\n'
    with a_person(up=False) as person:
        person.settles(SETTINGS + place)
        around: dict[str, Any] = {"MY_KEY": key, "PATH": f"{program(name).parent}:{os.environ['PATH']}"}
        person.ups(**around)
        yield person, key, around


@pytest.mark.slow
@pytest.mark.parametrize("name", ["claude", "codex", pytest.param("opencode", marks=pytest.mark.sweep)])
def test_the_real_program_answers_behind_the_walls_of_a_room_that_is_gone_afterwards(name: str, model: Model) -> None:
    with with_the_real(name, model) as (person, key, around):
        model.play(name, every=True, final=Say("ready", times=FOREVER))
        assert f"{name} is ready" not in person.types("agent", "list", **around).out
        assert re.search(rf"^{name} +not tried ", person.types("agent", "list", **around).out, re.MULTILINE)
        said = person.types("agent", "test", name, "--json", **around)
        led = said.json["agents"][0]["program_hello"]
        assert (led["outcome"], led["answers"]) == ("ok", True), led
        row = next(one for one in person.types("agent", "list", "--json", **around).json if one["name"] == name)
        assert (row["ready"], row["proof"]) == (True, led["sentence"])
        assert row["proven_at"]
        shown = person.types("agent", "list", **around).out
        assert re.search(rf"^{name} +ready ", shown, re.MULTILINE)
        assert 'the program answers "ready"' in " ".join(shown.split())
        assert 'the program answers "ready"' in led["sentence"]
        plain = next(asked for asked in model.requests(name) if "Hello" in json.dumps(asked.body)[:200])
        assert led["tokens"] == model.told(name).total - plain.told.total
        assert [file.name for file in person.home.glob("hello-*")] == []
        nowhere(person, key, said)


@pytest.mark.sweep
def test_a_token_that_only_the_program_may_use_is_shown_to_work_by_the_program(model: Model) -> None:
    reserved = Fault(400, "This credential is only authorized for use with Claude Code", times=1)
    with with_the_real("claude", model) as (person, key, around):
        around |= {"MIDWATCH_AGENTS__CLAUDE__CREDENTIAL": "oauth"}
        person.types("down")
        person.ups(**around)
        model.play("claude", reserved, every=True)
        plain = person.types("agent", "test", "claude", "--no-program", expect=5, **around)
        assert "Ask by the program itself: midwatch agent test claude" in plain.out
        model.play("claude", Say("ready"), every=True, final=reserved)
        said = person.types("agent", "test", "claude", **around)
        assert 'the program answers "ready"' in said.out
        model.play("claude", Fault(401), every=True)
        refused = person.types("agent", "test", "claude", expect=5, **around)
        assert "In its sandbox the program does not answer" in refused.out
        nowhere(person, key, plain, said, refused)
