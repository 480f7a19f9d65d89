"""Looking before signing, at a terminal: every line with its fix, a kill, one project by itself (X10)."""

import os
import signal
import subprocess
from collections.abc import Iterator

import pytest

from tests.nights.house import CHECK, git
from tests.surfaces.forked import OnTerminal
from tests.surfaces.person import Person, a_person, command


@pytest.fixture
def person() -> Iterator[Person]:
    with a_person() as somebody:
        somebody.adds_repo()
        somebody.orders()
        yield somebody


def test_a_red_line_stops_the_signature_until_it_is_mended_or_signed_over(person: Person) -> None:
    person.types("project", "change", "repo", "--check", "nosuchtool --all")
    said = person.types("start", expect=3)
    assert "bad  repo, checks: `nosuchtool --all` cannot run: nosuchtool is not there." in said.out
    assert "apt install nosuchtool" in said.out
    assert said.err.splitlines() == [
        "midwatch: 1 thing is not ready.",
        "  Fix it, or sign anyway: midwatch start --anyway",
    ]
    alone = person.types("preflight", "--json", expect=3).json
    assert (alone["state"], alone["bad"], alone["fresh"]) == ("ended", 1, False)
    found = person.types("doctor", "--project", "repo", "--json", expect=5).json
    assert [one["text"] for one in found["findings"] if one["state"] == "bad"] == [
        "repo, checks: `nosuchtool --all` cannot run: nosuchtool is not there."
    ]
    night = person.types("start", "--anyway", "--json").json
    assert night["preflight"] == alone["id"], "what is as new is not tried again"
    assert person.types("doctor", "--verify", "--json").json["ok"]


def test_a_look_that_is_killed_goes_on_where_it_was(person: Person) -> None:
    person.types("project", "change", "repo", "--check", "sleep 1", "--check", CHECK)
    with (
        person.watching() as watch,
        subprocess.Popen(
            command(("preflight",)), env=person.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as looking,
    ):
        watch.until("repo: Cloned.")
        os.kill(int((person.home / "server.lock").read_text()), signal.SIGKILL)
        assert looking.wait() != 0
    person.ups()
    night = person.types("start", "--json").json
    entries = [one for one in person.types("replay", "--json").json if one.get("kind", "").startswith("preflight.")]
    assert [one["kind"] for one in entries].count("preflight.begun") == 1
    assert [one["kind"] for one in entries].count("preflight.ended") == 1
    assert sum("repo: Cloned." in one["text"] for one in entries) == 1
    assert night["preflight"]
    assert person.types("doctor", "--verify", "--invariants", "--json").json["ok"]


def test_what_is_added_to_a_list_stays_when_more_is_added(person: Person) -> None:
    for host in ("one.example", "two.example", "one.example"):
        person.types("settings", "propose", f"sandbox.domains+={host}", "--apply", "--yes")
    (row,) = [one for one in person.types("settings", "--json").json if one["key"] == "sandbox.domains"]
    assert row["value"] == ["one.example", "two.example"]
    refused = person.types("settings", "propose", "rounds.interval_seconds+=5", expect=2)
    assert "rounds.interval_seconds is no list" in refused.err
    person.types("settings", "propose", "sandbox.domains=", "--apply", "--yes")


def test_the_settings_that_a_preflight_names_are_written_after_asking(person: Person) -> None:
    (person.repo / "package-lock.json").write_text("{}")
    git(person.repo, "add", "-A")
    git(person.repo, "commit", "-qm", "Lock")
    said = person.types("preflight")
    assert "names settings that would help (sandbox.setup_domains): midwatch settings propose --apply" in said.out
    before = person.head()
    said = person.types("settings", "propose")
    assert "sandbox.setup_domains: nothing -> npm" in said.out
    assert "for repo, setup" in said.out
    unasked = person.types("settings", "propose", "--apply", expect=5)
    assert "midwatch settings propose --apply --yes" in unasked.err
    assert person.head() == before, "nothing is written without a yes"
    asked = OnTerminal(
        ("settings", "propose", "--apply"), folder=person.folder, environment={**person.environment, "TERM": "xterm"}
    )
    os.write(asked.screen, b"n\n")
    seen = asked.rest()
    assert "Nothing was changed." in seen
    assert asked.ends() == 0
    assert "Apply it?" in seen
    assert person.types("settings", "--changed", "--json").out.count("setup_domains") == 0
    said = person.types("settings", "propose", "--apply", "--yes")
    assert "Version 1 is in force." in said.out
    assert "sandbox.setup_domains = npm" in person.types("settings", "sandbox.setup_domains").out
    assert "names no setting" in person.types("settings", "propose").out
    said = person.types("settings", "propose", "preflight.max_minutes=20", "--apply", "--yes")
    assert "Version 2 is in force." in said.out


def test_a_look_can_be_left_out(person: Person) -> None:
    person.types("project", "change", "repo", "--check", "nosuchtool --all")
    said = person.types("start", "--no-preflight")
    assert "nosuchtool" not in said.out
    assert "Night 1 has begun" in said.out


def test_a_line_worth_a_look_is_asked_about_on_a_terminal_before_the_signature(person: Person) -> None:
    person.types("project", "change", "repo", "--check", "false")

    def starts(key: bytes) -> str:
        starting = OnTerminal(("start",), folder=person.folder, environment={**person.environment, "TERM": "xterm"})
        seen = ""
        while "begin the night? [Y/n]" not in seen:
            seen += os.read(starting.screen, 65536).decode()
        os.write(starting.screen, key)
        seen += starting.rest()
        assert starting.ends() == 0
        return seen

    seen = starts(b"n\n")
    assert "Nothing is in the way; 1 line is worth a look." in seen
    assert "Nothing was signed; the orders wait: midwatch start" in seen
    assert person.types("status", "--json").json["night"]["state"] == "briefing"
    assert "Night 1 has begun" in starts(b"\n")
