import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midwatch.journal.entry import Entry
from midwatch.journal.events import Event
from midwatch.journal.events.jobs import JobClaimed, JobCreated, PullRequestMerged, PullRequestOpened
from midwatch.journal.events.session import ActEnded, ActJudged, AskAnswered, AskOpened, CouncilSpoke, Opinion
from midwatch.views.entries.describe import describe
from midwatch.views.entries.sse import PING, connected, session_of, streamed
from midwatch.views.entries.tags import sse_type
from tests.journal.samples import KINDS, sample
from tests.views.learned_names import LearnedNames, introduce
from tests.views.strategies import as_entries, journals

ALWAYS = {"type", "seq", "at", "kind", "phase", "actor", "because", "text", "session"}
SEED_003 = {"deliberation", "phase", "action", "question", "session_paused", "session_ended", "entry"}


def told(*events: Event) -> list[dict[str, object]]:
    """What a stream from the beginning says."""
    return all_told(as_entries(list(events)))


def all_told(entries: Sequence[Entry]) -> list[dict[str, object]]:
    names = LearnedNames()
    messages: list[dict[str, object]] = []
    for entry in entries:
        names = introduce(names, entry.event)
        messages.append({**streamed(entry, names)})
    return messages


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_entry_has_a_message_with_a_type_of_seed_003(kind: str) -> None:
    (message,) = told(sample(KINDS[kind]))
    assert message.keys() >= ALWAYS
    assert message["type"] in SEED_003
    assert message["kind"] == kind
    assert json.loads(json.dumps(message)) == message


def test_each_name_of_seed_003_is_given_to_some_kind() -> None:
    assert {sse_type(sample(kind)) for kind in KINDS.values()} == SEED_003
    assert {str(PING["type"]), str(connected(7)["type"])} == {"ping", "connected"}
    assert connected(7)["seq"] == 7


@given(journals)
def test_a_message_says_what_the_log_says_and_no_text_can_break_the_line(entries: tuple[Entry, ...]) -> None:
    names = LearnedNames()
    for entry, message in zip(entries, all_told(entries), strict=True):
        names = introduce(names, entry.event)
        assert message["text"] == describe(entry.event, names)
        assert (message["seq"], message["because"]) == (entry.seq, list(entry.because))
        for value in texts(message):
            assert not set(value) & set("\r\n\x1b\u202e\u2028\x00")


def texts(value: object) -> list[str]:
    """Every text in a message, however deep."""
    if isinstance(value, str):
        return [value]
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for one in inside for text in texts(one)]


@pytest.mark.parametrize(
    ("end", "success"), [("done", True), ("said", True), ("refused", False), ("dropped", False), ("failed", False)]
)
def test_an_action_is_told_with_its_result(end: str, success: bool) -> None:
    judged = sample(ActJudged, act="act_1", session="ses_1")
    ended = ActEnded.model_validate({"act": "act_1", "end": end, "text": "as it\nwent"})
    first, last = told(judged, ended)
    assert first["type"] == last["type"] == "action"
    assert first["actionResults"] == []
    assert last["actionResults"] == [
        {"action": first["action"], "success": success, "end": end, "message": "as it went"}
    ]
    assert last["session"] == "ses_1"


def test_a_deliberation_carries_every_voice_and_a_question_its_words() -> None:
    voices = (
        Opinion(voice="sol", stance="support", words="go\x1b[31m"),
        Opinion(voice="vega", stance="object", words=""),
    )
    spoke = CouncilSpoke(session="ses_1", number=1, act="act_1", opinions=voices, decision="ask first")
    (message,) = told(spoke)
    assert (message["type"], message["decision"]) == ("deliberation", "ask first")
    assert message["opinions"] == [
        {"voice": "sol", "stance": "support", "words": "go"},
        {"voice": "vega", "stance": "object", "words": ""},
    ]
    opened = sample(AskOpened, ask="ask_1")
    assert isinstance(opened, AskOpened)
    (question,) = told(opened)
    assert (question["type"], question["ask"], question["question"]) == ("question", "ask_1", opened.draft.question)


def test_what_belongs_to_a_thing_belongs_to_the_session_of_that_thing() -> None:
    created = sample(JobCreated, job="job_1", session="ses_1", run="run_1", act="")
    asked = sample(AskOpened, ask="ask_1", session="ses_2")
    opened = sample(PullRequestOpened, pull_request="pr_1", job="job_1", run="")
    later = [
        (sample(JobClaimed, job="job_1"), "ses_1"),
        (sample(AskAnswered, ask="ask_1"), "ses_2"),
        (sample(PullRequestMerged, pull_request="pr_1"), "ses_1"),
        (sample(JobClaimed, job="job_9"), ""),
    ]
    messages = told(created, asked, opened, *(event for event, _ in later))
    assert [one["session"] for one in messages[3:]] == [session for _, session in later]


@given(st.sampled_from(sorted(KINDS)))
def test_an_event_that_names_its_session_needs_nothing_else(kind: str) -> None:
    event = sample(KINDS[kind])
    assert session_of(event, {}) == getattr(event, "session", "")
