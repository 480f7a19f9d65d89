"""An agent's stream: what its log and the journal say together, in the same few words for every program."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from midwatch.journal.entry import Entry
from midwatch.journal.events import Event
from midwatch.journal.events.crew import AgentBegan, AgentEnded, ModelCalled, ToolCallDecided
from midwatch.journal.events.signals import SignalAnswered, SignalSeen
from midwatch.terms.agents import (
    Errand,
    Outcome,
    PlanSpoken,
    Printed,
    RunBegan,
    Said,
    SignalKind,
    Tokens,
    ToolEnded,
    ToolRequested,
)
from midwatch.views.pages.agent_calls import call_shown, one_line
from midwatch.views.pages.agent_stream import MOST_OPEN, AgentStream, LogEvent, StreamLine, as_text

NIGHT = datetime(2026, 3, 1, 22, tzinfo=UTC)
BEGAN = AgentBegan(
    job="j",
    epoch=1,
    agent="claude",
    version="2.1",
    model="sonnet",
    errand=Errand.EXECUTE,
    conversation="c",
    template="t",
    template_version="1",
    prompt_blob="b",
)
ENDED = AgentEnded(job="j", epoch=1, outcome=Outcome.OK, why="", turns=2)


def shown(tool: str, given: Mapping[str, Any]) -> str:
    return f"{tool} {sorted(given.items())}"


def entries(*events: Event) -> list[Entry]:
    """Each a minute after the one before."""
    return [
        Entry(seq=number, at=NIGHT + timedelta(minutes=number), actor="midwatch", key="", because=(), event=event)
        for number, event in enumerate(events, 1)
    ]


def paid(cents: int) -> ModelCalled:
    return ModelCalled(
        reservation="r",
        job="j",
        epoch=1,
        provider="p",
        model="m",
        api="a",
        status=200,
        tokens=Tokens(input=10, output=5),
        usd_micros=cents * 10_000,
    )


def runs(call: str, command: str) -> ToolRequested:
    return ToolRequested(call=call, tool="Bash", input={"command": command})


def decided(request: ToolRequested, verdict: str, why: str = "why", by: str = "") -> ToolCallDecided:
    return ToolCallDecided.model_validate(
        {
            "job": "j",
            "epoch": 1,
            "call": "1.1",
            "tool": request.tool,
            "shown": shown(request.tool, request.input),
            "verdict": verdict,
            "code": "c",
            "why": why,
            "by": by,
        }
    )


def told(events: Iterable[LogEvent], *journal: Event) -> list[str]:
    lines, used = AgentStream(shown, "/ws").woven(list(events), entries(*journal), to_the_end=True)
    assert used == len(journal)
    return [in_words(line) for line in lines]


def in_words(line: StreamLine) -> str:
    when = f"{line.at:%H:%M} " if line.at else ""
    more = "".join(f" ({part})" for part in (line.note, line.spent) if part)
    return f"{when}{line.word}: {line.text}{more}{' !' if line.bad else ''}"


def test_a_run_reads_as_what_was_said_done_asked_and_paid() -> None:
    test, push = runs("a", "pytest -q"), runs("b", "curl x")
    edit = ToolRequested(
        call="c", tool="Edit", input={"file_path": "/ws/a.py", "old_string": "x\ny\n", "new_string": "x\nz\nz\n"}
    )
    log: list[LogEvent] = [
        *(RunBegan(conversation="c"), Said(text="First the tests."), test),
        ToolEnded(call="a", ok=False, summary="..F\n\n1 failed", exit_code=1),
        *(push, ToolEnded(call="b", ok=False, summary="hook error: no")),
        *(edit, ToolEnded(call="c", ok=True, summary="updated")),
        Said(text="Done.\n- a.py"),
    ]
    journal: list[Event] = [
        BEGAN,
        paid(3),
        decided(test, "allow"),
        paid(4),
        decided(push, "ask"),
        decided(push, "deny", by="ann"),
    ]
    assert told(log, *journal, decided(edit, "allow"), paid(1), ENDED) == [
        "22:01 began: claude 2.1 to execute with sonnet",
        "said: First the tests.",
        "22:03 ran: pytest -q ($0.03)",
        "exit 1: ..F\n1 failed !",
        "22:05 ran: curl x ($0.07)",
        "22:05 asked: May it run curl x? (why)",
        "22:06 answered: ann says no",
        "refused: why !",
        "22:07 edited: a.py (+2 -1)",
        "said: Done.\n- a.py",
        "22:09 ended: It ended well. (2 turns, 45 tokens) ($0.08)",
    ]


def test_silence_is_an_answer_and_a_question_of_the_agents_own_too() -> None:
    push = runs("b", "curl x")
    asks = SignalSeen(
        signal="j.1", job="j", epoch=1, room=1, number=1, says=SignalKind.NEEDS_INPUT, text="Which colour?"
    )
    answer = SignalAnswered(signal="j.1", job="j", answer="Blue.", by="ann")
    lines = told([push], decided(push, "ask"), decided(push, "deny", "No answer in time."), asks, answer)
    assert lines[2:] == [
        "22:02 answered: No answer in time.",
        "22:03 asked: Which colour?",
        "22:04 answered: ann: Blue.",
    ]


def test_what_the_journal_knows_later_still_reaches_the_call_it_is_about() -> None:
    """A reader is often quicker than the decision."""
    stream, call = AgentStream(shown), ToolRequested(call="a", tool="Read", input={"file_path": "/etc/shadow"})
    assert stream.woven([Said(text="Look."), call], [], to_the_end=True)[0][0].text == "Look."
    assert stream.woven([], entries(decided(call, "deny", "Not yours.")), to_the_end=True) == ([], 1)
    (line,) = stream.woven([ToolEnded(call="a", ok=False)], [], to_the_end=True)[0]
    assert in_words(line) == "22:01 refused: to read /etc/shadow (Not yours.) !"


def test_entries_wait_for_their_place_unless_the_log_ends_here() -> None:
    first, second = runs("a", "one"), runs("b", "two")
    journal = entries(BEGAN, decided(first, "allow"), decided(second, "allow"), ENDED)
    stream = AgentStream(shown)
    lines, used = stream.woven([RunBegan(conversation="c"), first], journal, to_the_end=False)
    assert ([line.word for line in lines], used) == (["began", "ran"], 2)
    lines, used = stream.woven([second], journal[used:], to_the_end=True)
    assert ([line.word for line in lines], used) == (["ran", "ended"], 2)


def test_two_runs_of_a_program_without_a_protocol_are_kept_apart() -> None:
    log: list[LogEvent] = [
        Printed(text="thinking"),
        PlanSpoken(structured={"summary": "Do it.", "files": ["a", "b"]}),
        Printed(text="x"),
    ]
    again = BEGAN.model_copy(update={"epoch": 2, "model": ""})
    assert [line.split(": ")[0] for line in told(log, BEGAN, ENDED, again, ENDED)] == [
        *("22:01 began", "", "planned", "22:02 ended", "22:03 began", "", "22:04 ended"),
    ]


def test_an_end_that_comes_late_names_its_command() -> None:
    log: list[LogEvent] = [
        runs("a", "sleep 9"),
        runs("b", "ls"),
        ToolEnded(call="b", ok=True, summary="x"),
        ToolEnded(call="a", ok=True),
    ]
    assert told(log) == ["ran: sleep 9", "ran: ls", "exit 0: x", "exit 0: sleep 9"]


def test_calls_are_shown_whatever_the_tool_is_called() -> None:
    def words(tool: str, **given: Any) -> tuple[str, str, str]:
        call = call_shown(tool, given, "/ws")
        return call.does, call.text, call.note

    assert words("Bash", command=["ls", "-l"], cwd="/ws/sub") == ("ran", "ls -l", "in sub")
    assert words("Bash", command="cat <<E\na\nE", cwd="/ws") == ("ran", "cat <<E (+2 lines)", "")
    assert words("Write", file_path="/ws/n", content="a\nb\n") == ("edited", "n", "+2 -0")
    assert words("Edit", file_path="/ws/n", diff="--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n+z") == ("edited", "n", "+2 -1")
    assert words("Edit", changes=[{"path": "/ws/a"}, {"path": "/ws/b"}]) == ("edited", "a, b", "")
    assert words("Grep", pattern="x", path="/ws/src") == ("searched", "x in src", "")
    assert words("Glob", pattern="*", path="/ws") == ("searched", ".", "")
    assert (
        words("Read", calls=[{"tool": "Read", "file_path": f"/ws/{n}"} for n in "abcdef"])[1] == "a, b, c, d and 2 more"
    )
    assert words("WebFetch", url="https://x/\u202ey") == ("fetched", "https://x/⟨U+202E⟩y", "")
    assert words("acp:Odd\x1b[2J") == ("used", "Odd", "")
    assert one_line("rm\u200b -rf") == "rm⟨U+200B⟩ -rf"


def test_nothing_an_agent_writes_can_move_the_terminal_or_grow_without_end() -> None:
    long, odd = "x" * 10_000_000, "\x1b[2J\x1b]0;t\x07a\u202eb\rc\x00"
    log: list[LogEvent] = [
        *(Said(text=odd), Said(text=long), Printed(text=long), runs("a", odd + long), runs("b", long + "\n" * 99)),
        *(
            ToolEnded(call="a", ok=True, summary=odd + long),
            PlanSpoken(structured={"summary": odd, "files": [long] * 999}),
        ),
    ]
    lines, _ = AgentStream(shown).woven(log, [], to_the_end=True)
    text = "".join(as_text(line) for line in lines)
    assert len(text) < 20_000
    assert not set(text) & set("\x1b\u202e\r\x00\x07")
    assert "9,996,000 more characters in the raw log" in text


def test_calls_that_never_end_are_forgotten_at_last() -> None:
    stream = AgentStream(shown)
    for number in range(3 * MOST_OPEN):
        stream.woven([runs(str(number), str(number))], [], to_the_end=True)
    kept = [value for value in vars(stream).values() if isinstance(value, dict)]
    assert max(map(len, kept)) <= MOST_OPEN
