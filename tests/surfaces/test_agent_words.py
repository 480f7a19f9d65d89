"""What the command line says of an agent that asks a model: its line, its calls, its prompt, a held call, the fuel."""

import json
import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.patience import PATIENCE
from tests.surfaces.doings import COMMAND, PROMPT
from tests.surfaces.person import Person, a_person, command

pytestmark = pytest.mark.slow  # a real server, and commands in processes of their own
LINE = (
    "job 1 in repo, Tidy up: waits for approval · "
    "3 requests · 50.3 k tokens · $0.42 of $20 · waits for you: ask 1 until "
)
HELD = [f"    | {piece}" for piece in COMMAND.split("\n")]


@pytest.fixture(scope="module")
def ann() -> Iterator[Person]:
    """Somebody whose job's agent spent, was refused, met a limit and is held; nobody serves the house any more."""
    with a_person() as person:
        person.adds_repo()
        person.orders()
        person.types("start")
        with person.watching() as watch:
            watch.until("Ask 1 for you")
        person.types("down")
        worked = [sys.executable, "-m", "tests.browser.crew_at_work", str(person.home)]
        subprocess.run(worked, cwd=Path(__file__).parents[2], env=person.environment, check=True, timeout=PATIENCE)
        yield person


def test_status_says_what_was_spent_where_jobs_stand_and_what_is_left(ann: Person) -> None:
    said = ann.types("status").out.splitlines()
    assert "  0 of 1 done, 1 waits · $0.42 of $50, 50.3 k of 20 M tokens" in said
    assert any(line.startswith(f"  {LINE}") for line in said)
    assert any(line.startswith("  anthropic, 5-hour limit: 62 % left, resets ") for line in said)
    assert any(line.startswith("  openai, requests limit: refused now, resets ") for line in said)
    assert "  Allow job 1 to use Bash?" in said
    assert said[said.index("  Allow job 1 to use Bash?") + 1 :][:3] == HELD
    assert "  answer: midwatch asks 2 yes | no" in said
    assert ann.types("job", "line", "1").out.startswith(LINE)


def test_a_held_call_is_asked_line_by_line(ann: Person) -> None:
    shown = ann.types("asks", "2").out.splitlines()
    assert shown[1:5] == ["Allow job 1 to use Bash?", *(line.removeprefix("  ") for line in HELD)]
    assert shown[-2].startswith("  recommended: no; open until ")
    assert shown[-1] == "  answer: midwatch asks 2 yes | no"
    assert ann.types("asks").out.splitlines()[2:5] == HELD


def test_only_an_ask_that_was_printed_whole_counts_as_shown(ann: Person) -> None:
    """A3: of several asks, a list and `status` print only a part."""
    shown = ann.home / "asks-shown.json"
    shown.unlink(missing_ok=True)
    asks = {row["number"]: row["id"] for row in ann.types("asks", "--json").json}
    assert len(asks) == 2
    for words in (("asks",), ("status",)):
        said = ann.types(*words).out
        assert "All of one, before you answer: midwatch asks NUMBER" in said
        assert "If you do not answer" in said
        assert not shown.exists()
    assert "  undo: Files that it changes are the job's own copy." in ann.types("asks", "2").out
    assert list(json.loads(shown.read_text())["no terminal"]) == [asks[2]]


def test_what_went_into_a_file_was_not_shown_to_the_person_at_the_terminal(ann: Person) -> None:
    """A3: their terminal is there, and it printed nothing."""
    shown = ann.home / "asks-shown.json"
    shown.unlink(missing_ok=True)
    screen, terminal = pty.openpty()
    asked = command(("asks", "1"))
    done = subprocess.run(
        asked, stdin=terminal, capture_output=True, text=True, env=ann.environment, check=True, timeout=PATIENCE
    )
    for one in (screen, terminal):
        os.close(one)
    assert "Ask 1" in done.stdout
    assert not shown.exists()


def test_a_job_shows_each_call_with_its_verdict_and_who_said_so(ann: Person) -> None:
    said = ann.types("job", "show", "1").out
    assert "Plan · claude 2.0.14, claude-sonnet-4-5 · " in said
    assert "  3 requests · 50.3 k tokens · $0.42 · 1 request failed\n" in said
    assert "  It ended well. It has a plan.\n" in said
    assert "  It reached the 5-hour limit of anthropic, which resets " in said
    assert "refused: Bash\n    | $ git push --force" in said
    assert "allowed, says ann: Bash\n    | $ pip download requests\n" in said
    assert "waits for you: Bash\n" in said
    assert "Prompt: template plan (plan 1, context 1). Full text: midwatch job show 1 --prompts" in said
    assert "Keep to the limits." not in said
    whole = ann.types("job", "show", "1", "--prompts").out
    assert "".join(f"  | {piece}\n" for piece in PROMPT.rstrip("\n").split("\n")) in whole
    assert ann.types("job", "show", "1", "--json").json["errands"][0]["calls"][1]["shown"] == COMMAND


def test_a_replay_shows_what_the_agent_was_told_folded_or_whole(ann: Person) -> None:
    folded = ann.types("replay").out
    assert "prompt: template plan (plan 1, context 1):\n" in folded
    assert "40 more lines: midwatch replay --prompts" in folded
    assert folded.count("| Keep to the limits.") == 0
    assert ann.types("replay", "--prompts").out.count("| Keep to the limits.") == 40


def test_watching_says_again_where_jobs_stand_once_that_changed(ann: Person) -> None:
    said = ann.types("watch", "--all", "--after", "0", expect=None).out
    assert said.count(f"now    {LINE}") == 1
