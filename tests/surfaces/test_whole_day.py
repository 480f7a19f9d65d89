"""A whole day by the command line alone, from the first project to the review."""

import contextlib
import re
import sqlite3
import subprocess
from collections.abc import Iterator

import pytest

from tests.nights.house import CHECK, git, sample_repository
from tests.surfaces.person import ORDERS, Person, Said, a_person
from tests.surfaces.test_no_ids import ids_in

READING = (
    ("project", "show", "repo"),
    ("job", "diff", "1"),
    ("morning",),
    ("why", "30"),
    ("replay", "--night", "1"),
    ("settings",),
)
LISTS = (
    ("job", "show", "1"),
    ("job", "list"),
    ("pr",),
    ("work",),
    ("goal",),
    ("rehearse", "--level", "full"),
    ("asks",),
)
WRITING = (
    ("project", "add", "repo", "--name", "again"),
    ("brief", "--file", "orders.toml"),
    ("start",),
    ("level", "observe"),
    ("settings", "propose", "rounds.interval_seconds=90"),
    ("review", "--usefulness", "4", "--trust", "4", "--brevity", "4"),
)
STATUS_KEYS = {
    "server_running", "now", "pages", "port_taken", "seq", "projects", "night", "jobs", "asks", "pull_requests", "fuel",
    "headline", "troubles",
}  # fmt: skip
NIGHT_KEYS = {
    "id", "number", "state", "paused", "why_paused", "level", "goals", "rounds", "max_rounds", "decisions", "actions",
    "minutes", "max_minutes", "usd_micros", "max_usd", "tokens", "max_tokens", "spent", "ends_at", "next_round_at",
    "reason", "progress", "waits_for",
}  # fmt: skip


class Day:
    """One day as it went: every answer by its name."""

    def __init__(self, person: Person) -> None:
        self.person = person
        self.said: dict[str, Said] = {}
        self.watched: list[str] = []

    def does(self, name: str, *words: str, expect: int = 0, text: str | None = None) -> Said:
        self.said[name] = self.person.types(*words, expect=expect, text=text)
        return self.said[name]

    def afternoon(self) -> None:
        sample_repository(self.person.repo)
        self.does("added", "project", "add", "repo", "--purpose", "To try")
        self.does("checked", "project", "change", "repo", "--check", CHECK, "--priority", "1")
        self.does("flagged", "project", "flag", "repo", "skipped")
        self.does("unflagged", "project", "flag", "repo", "skipped", "--off")
        self.does("again", "project", "add", "repo", "--name", "second")
        self.does("removed", "project", "remove", "second")
        self.does("goal", "goal", "set", "repo", "Fewer warnings", "--horizon", "medium")
        self.does("goal 2", "goal", "set", "repo", "No warnings", "--goal", "Fewer warnings")
        self.does("goals", "goal")
        self.does("closed", "goal", "close", "No warnings")
        self.does("worked", "work", "add", "repo", "Tidy up")
        self.does("moved", "work", "move", "1", "in_progress", "--next-step", "tonight")

    def night(self) -> None:
        (self.person.repo / "notes.txt").write_text("not committed\n")
        self.does("example", "brief", "--example")
        self.does("drafted", "brief", "--file", "-", text=ORDERS.format(level="cautious", title="Something"))
        self.said["briefed"] = self.person.orders()
        self.does("shown", "brief")
        self.does("briefing", "status")
        self.does("started", "start")
        with self.person.watching() as watch:
            watch.until("Ask 1 for you")
            self.does("asked", "status")
            self.does("asked json", "status", "--json")
            self.does("ask", "asks", "1")
            self.does("thought", "think")
            watch.until("Round 2 is over")
            self.does("paused", "pause", "--why", "dinner")
            self.does("paused twice", "pause", expect=3)
            self.does("held", "status")
            self.does("said", "say", "leave the parser alone")
            self.does("resumed", "resume")
            self.does("misanswered", "asks", "1", "not", "now", expect=2)
            self.does("answered", "asks", "1", "approve")
            self.does("answered twice", "asks", "1", "reject", expect=3)
            watch.until("Night 1 is over.")
            self.watched = watch.lines
            assert watch.ends() == 0, "the night is over, and so is watching it"

    def morning(self) -> None:
        person = self.person
        self.does("after", "status")
        self.does("merged", "job", "merge", "1")
        self.said["tree merged"] = Said(0, (person.repo / "sample/greet.py").read_text(), "")
        for undo in re.findall(r"undo: (.*)", self.said["merged"].out):
            subprocess.run(undo, shell=True, check=True, cwd=person.repo, capture_output=True)  # noqa: S602  as a person would
        self.said["tree undone"] = Said(0, (person.repo / "sample/greet.py").read_text(), "")
        self.does(
            "reviewed",
            "review",
            "--usefulness",
            "4",
            "--trust",
            "4",
            "--brevity",
            "5",
            "--accept",
            "1",
            "--reject",
            "2",
        )
        self.does("ended", "status", "--json")


@pytest.fixture(scope="module")
def day() -> Iterator[Day]:
    with a_person() as person:
        lived = Day(person)
        lived.afternoon()
        lived.night()
        lived.morning()
        yield lived


def test_the_books_are_kept(day: Day) -> None:
    assert "Added project repo (branch main)." in day.said["added"].out
    assert "check: none is named and none was found" in day.said["added"].out
    assert day.said["flagged"].out == "Project repo: skipped.\n"
    assert day.said["unflagged"].out == "Project repo: no flags.\n"
    assert "version 2: No warnings" in day.said["goal 2"].out
    assert day.said["closed"].out.endswith("is reached.\n")
    assert day.said["moved"].out == "Work item 1 is in_progress.\n"
    projects = day.person.types("project", "--json").json
    assert [(one["name"], one["checks"], one["priority"]) for one in projects] == [("repo", [CHECK], 1)]


@pytest.mark.parametrize(
    ("typed", "names"),
    [
        ("midwatch job show ", ["1"]),
        ("midwatch project show r", ["repo"]),
        ("midwatch code Tidy --project ", ["repo"]),
        ("midwatch code Tidy --agent h", ["housekeeper"]),
    ],
)
def test_a_shell_completes_names(day: Day, typed: str, names: list[str]) -> None:
    place = str(len(typed.split(" ")) - 1)
    said = day.person.types(_MIDWATCH_COMPLETE="complete_bash", COMP_WORDS=typed, COMP_CWORD=place)
    assert said.out.split() == names


def test_lists_have_their_own_word(day: Day) -> None:
    for verb in ("job", "pr", "person", "token"):
        assert isinstance(day.person.types(verb, "list", "--json").json, list)


def test_no_command_shows_an_id(day: Day) -> None:
    """People read names and numbers."""
    more = [day.person.types(*words).out for words in (*READING, *LISTS)]
    said = [one.out + one.err for one in day.said.values() if not one.out.startswith("{")]
    assert ids_in((*more, *said, *day.watched)) == []


def test_orders_are_shown_before_they_are_signed(day: Day) -> None:
    assert "[[work]]" in day.said["example"].out
    assert "Something" in day.said["drafted"].out
    assert "limits: 600 min, $50 (default)" in day.said["drafted"].out
    assert "a plan without an answer counts as approved after its deadline\n" in day.said["drafted"].out
    briefed = " ".join(day.said["briefed"].out.split())
    assert day.said["shown"].out == day.said["briefed"].out
    assert "Sign and begin: midwatch start" in day.said["briefed"].out
    assert "midwatch start" in day.said["briefing"].out
    assert "may: read the repositories, write to its own branches (default); outside: open pull requests" in briefed
    assert "\n  repo: 1 uncommitted file left out of it." in day.said["started"].out


def test_status_says_what_needs_you_first(day: Day) -> None:
    first = day.said["asked"].out.splitlines()[0]
    assert first.startswith("Ask 1 is for you (silence means approved in ")
    assert "answer: midwatch asks 1 approve | reject" in day.said["asked"].out
    assert "1 decision, 1 done" in day.said["asked"].out


def test_the_names_in_status_json_are_stable(day: Day) -> None:
    status = day.said["asked json"].json
    assert set(status) == STATUS_KEYS
    assert set(status["night"]) == NIGHT_KEYS
    job = {"id", "number", "project_name", "title", "state", "stage", "agent", "isolation", "line"}
    assert set(status["jobs"][0]) == job
    assert set(day.said["ended"].json["pull_requests"][0] if day.said["ended"].json["pull_requests"] else {}) <= {
        "number", "title", "branch",
    }  # fmt: skip


def test_an_ask_shows_what_the_answer_rests_on_and_is_answered_once(day: Day) -> None:
    for word in ("plan: ", "files: sample/greet.py", "risk: ", "undo: ", "recommended: approve"):
        assert word in day.said["ask"].out
    assert "not 'not now'." in day.said["misanswered"].err, "several words are one answer"
    assert day.said["answered"].out == "Ask 1: approve. Thank you.\n"
    assert "Ask 1 is settled already: answered 'approve'" in day.said["answered twice"].err


def test_the_night_is_steered(day: Day) -> None:
    assert day.said["thought"].out == "Round 2 begins.\n"
    assert "paused: dinner" in day.said["held"].out
    assert "paused already: dinner" in day.said["paused twice"].err
    assert "Your message is in the prompt of every agent that is started from now on" in day.said["said"].out
    assert "is paused. Then: midwatch resume" in day.said["said"].out
    assert day.said["resumed"].out == "Night 1 is resumed.\n"
    assert any("said: leave the parser alone" in line for line in day.watched)


def test_watch_shows_every_entry_in_order(day: Day) -> None:
    numbers = [int(line.split()[1]) for line in day.watched if re.match(r"\d\d:\d\d:\d\d +\d+ ", line)]
    assert numbers == list(range(1, len(numbers) + 1))


def test_a_job_shows_its_proof_its_log_and_its_diff(day: Day) -> None:
    shown = day.person.types("job", "show", "1").out
    assert "proof: green" in shown
    assert "left: sample/broken.py:2 F821" in shown
    assert "said      Committed 'Remove unused imports'\n" in day.person.types("job", "log", "1").out
    assert day.person.types("job", "log", "1", "--raw").out.startswith('{"type": "message"')
    diff = day.person.types("job", "diff", "1").out
    assert "-import os\n" in diff
    assert diff.endswith("\n")
    assert day.person.types("job", "list", "--json").json[0]["state"] == "done"


def test_a_merge_can_be_undone_as_it_says(day: Day) -> None:
    assert "import os" not in day.said["tree merged"].out
    assert "import os" in day.said["tree undone"].out
    assert "notes.txt" in git(day.person.repo, "status", "--porcelain")


def test_a_second_merge_is_refused(day: Day) -> None:
    said = day.person.types("job", "merge", "1", expect=2)
    assert "no open pull request" in said.err


def test_the_brief_names_what_the_night_did_not_see(day: Day) -> None:
    brief = day.person.types("morning").out
    assert "notes.txt" in brief
    assert "does not depend on 1 uncommitted file in its repository." in brief
    assert str(day.person.repo) not in brief, "the project is named, not its folder"
    assert "Recommendations\n  1. Merge pull request 1" in brief


def test_a_review_is_stored_and_scored(day: Day) -> None:
    assert re.search(r"Run 1: score 0\.\d\d before, 0\.\d\d after your review", day.said["reviewed"].out)
    assert day.said["ended"].json["night"]["state"] == "ended"
    run = day.person.types("run", "--json").json[0]
    assert run["score_post"] is not None
    assert [one["outcome"] for one in day.person.types("morning", "--json").json["recommendations"]] == [
        "accepted",
        "rejected",
    ]


def test_two_verdicts_on_one_recommendation_are_refused(day: Day) -> None:
    before = day.person.head()
    words = ("review", "--usefulness", "4", "--trust", "4", "--brevity", "5", "--accept", "1", "--reject", "1")
    assert "two verdicts" in day.person.types(*words, expect=2).err
    assert "missing: trust, brevity" in day.person.types("review", "--usefulness", "4", expect=2).err
    assert "no recommendation 9" in day.person.types(*words[:7], "--accept", "9", expect=2).err
    assert "needs flags" in day.person.types("review", expect=2).err
    assert day.person.head() == before


def test_replay_can_be_narrowed(day: Day) -> None:
    everything = day.person.types("replay", "--json").json
    decisions = day.person.types("replay", "--tag", "decisions", "--json").json
    assert 0 < len(decisions) < len(everything)
    assert "approved by" in day.person.types("replay", "--night", "1").out
    assert "tag cannot be 'colour'" in day.person.types("replay", "--tag", "colour", expect=2).err


def test_why_is_answered_for_entries_and_recommendations(day: Day) -> None:
    advice = day.person.types("why", "1").out
    for word in ("Merge pull request 1", "evidence ", "goal       Keep it tidy", "gate ", "signed "):
        assert word in advice
    delivered = next(line.split()[1] for line in day.watched if "Pull request 1 is ready" in line)
    entry = day.person.types("why", delivered).out
    assert "because" in entry
    assert "signed the orders" in entry
    assert "no entry 99999" in day.person.types("why", "99999", expect=2).err


def test_rehearsing_lower_would_have_done_less(day: Day) -> None:
    assert day.person.types("rehearse", "--level", "observe", "--json").json["less"] >= 1
    assert "only proposed" in day.person.types("rehearse", "--level", "observe").out


def test_everything_adds_up(day: Day) -> None:
    told = day.person.types("doctor", "--verify", "--invariants").out
    for sentence in ("the hash chain is intact over", "records equal a rebuild", "every invariant holds"):
        assert sentence in told


def test_work_that_failed_is_shown_with_the_entry_that_asked_for_it(day: Day) -> None:
    assert "asked for failed" not in day.person.types("doctor").out
    row = (5, "close", "{}", "single", "ValueError: no such thing")
    with contextlib.closing(sqlite3.connect(day.person.home / "midwatch.db")) as database:
        database.execute("INSERT INTO queued_work VALUES (?, ?, ?, ?, ?)", row)
        database.commit()
        told = day.person.types("doctor").out
        database.execute("DELETE FROM queued_work")
        database.commit()
    assert "look the work that entry 5 asked for failed: ValueError: no such thing" in told


def test_a_raise_without_proof_is_refused_unless_forced_with_a_reason(day: Day) -> None:
    day.person.types("level", "observe")
    refused = day.person.types("level", "moderate", expect=3)
    assert "--force --reason" in refused.err
    assert day.person.types("level", "moderate", "--force", "--reason", "I watch it").out == "Level moderate.\n"
    assert day.person.types("level", "--json").json["level"] == "moderate"


def test_settings_go_by_proposal_diff_and_apply(day: Day) -> None:
    person = day.person
    proposed = person.types("settings", "propose", "rounds.interval_seconds=120", "--note", "calmer")
    number = re.search(r"Proposal (\d+)", proposed.out)
    assert number
    assert "300 -> 120" in person.types("settings", "diff", number[1]).out
    person.types("settings", "apply", number[1])
    rows = {row["key"]: row for row in person.types("settings", "--json").json}
    assert rows["rounds.interval_seconds"]["value"] == 120
    version = rows["rounds.interval_seconds"]["source"]
    assert re.fullmatch(r"stored v\d+", version)
    assert rows["server.queue_poll_seconds"]["source"] == "file"
    assert person.types("settings", "rounds.interval_seconds").out.startswith(
        f"rounds.interval_seconds = 120  ({version})"
    )
    assert "is applied already" in person.types("settings", "apply", number[1], expect=3).err
    other = re.search(r"Proposal (\d+)", person.types("settings", "propose", "rounds.interval_seconds=90").out)
    assert other
    assert person.types("settings", "discard", other[1]).out == f"Proposal {other[1]} is discarded.\n"
    assert "rounds.interval_seconds = 90" not in person.types("settings", "--changed").out


def test_an_agent_is_set_up_by_its_key(day: Day) -> None:
    person = day.person
    assert person.types("settings", "agents.claude.model").out.startswith("agents.claude.model =   (default)")
    asked = person.types("settings", "propose", "agents.claude.model=some-model", "prices.anthropic/some-model=3,15")
    number = re.search(r"Proposal (\d+)", asked.out)
    assert number
    person.types("settings", "apply", number[1])
    assert person.types("settings", "show", "agents.claude.model", "--json").json["value"] == "some-model"
    assert "= 3.0,15.0" in person.types("settings", "prices.anthropic/some-model").out
    refused = person.types("settings", "propose", "agents.claude.program=/bin/sh", expect=2)
    assert "only the data folder or the environment may" in refused.err
    assert "Did you mean agents.claude.model?" in person.types("settings", "agents.claude.modle", expect=2).err


def test_no_line_is_wider_than_the_screen(day: Day) -> None:
    for words in (
        ("status",),
        ("asks", "1"),
        ("morning",),
        ("job", "show", "1"),
        ("why", "1"),
        ("settings",),
        ("replay",),
    ):
        said = day.person.types(*words, COLUMNS="80").out
        long = [line for line in said.splitlines() if len(line) > 80 and " " in line[30:].strip()]
        assert long == [], words


def test_the_same_is_read_without_a_server_and_nothing_can_be_written(day: Day) -> None:
    person = day.person
    with_server = {words: person.types(*words).out for words in READING}
    person.types("down")
    try:
        without = {words: person.types(*words).out for words in READING}
        for words in WRITING:
            said = person.types(*words, expect=5)
            assert said.err == "midwatch: Midwatch is not running.\n  Start it: midwatch up --detach\n", words
        assert person.types("status").out.startswith("Midwatch is not running. Start it: midwatch up --detach\n")
        followed = person.types("watch", "--all", "--after", "0", expect=5)
        assert "nothing more will come" in followed.err
        milestones = person.types("watch", "--after", "0", expect=5).out
        assert "The brief is ready" in milestones
        assert "A notice was sent by log" in followed.out
        assert "A notice was sent by log" not in milestones
    finally:
        person.types("up", "--detach")
    assert without == with_server


def test_lists_name_the_project(day: Day) -> None:
    """B11 of title 7: with forty jobs a number alone says nothing."""
    for verb in (("job", "list"), ("pr",)):
        rows = day.person.types(*verb, "--json").json
        assert rows, verb
        assert {row["project_name"] for row in rows} <= set(day.person.types(*verb).out.split()), verb
        assert not any(row["project_name"].startswith("prj_") for row in rows), verb
