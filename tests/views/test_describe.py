import unicodedata

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from midwatch.journal.events import Event
from midwatch.journal.events.jobs import JobApproved, JobCreated, JobEnded, JobPlanned
from midwatch.journal.events.projects import ProjectAdded
from midwatch.journal.events.session import ActJudged, AskExpired, SessionPaused, ToolFinished
from midwatch.terms.acts import ActKind, Proposal
from midwatch.terms.asks import Silence
from midwatch.terms.facts import Facts
from midwatch.terms.jobs import Plan
from midwatch.terms.projects import Project
from midwatch.terms.trust import GateOutcome, Reason, Verdict
from midwatch.views.entries import causes, tags
from midwatch.views.entries.describe import describe, phase_of, sse_type, tags_of
from midwatch.views.text.plain import clean, harmless
from tests.views.learned_names import LearnedNames, introduce
from tests.views.strategies import EVENING, HOSTILE, KINDS, events_of, words

RELAXED = settings(max_examples=8, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
SPEAKING = {kind.model_fields["kind"].default for kind in KINDS}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@RELAXED
@given(data=st.data())
def test_every_kind_of_event_is_told_in_one_safe_line(kind: type[Event], data: st.DataObject) -> None:
    event = data.draw(events_of(kind))
    line = describe(event, introduce(LearnedNames(), event))
    assert line.strip() == line != ""
    assert not [c for c in line if unicodedata.category(c) in {"Cc", "Cf", "Zl", "Zp", "Cs"}]
    assert phase_of(event)
    assert sse_type(event) in {
        "deliberation",
        "phase",
        "action",
        "question",
        "session_paused",
        "session_ended",
        "entry",
    }
    assert tags_of(event) <= {"writes", "errors", "assumptions", "evidence", "decisions"}


def test_every_kind_has_its_phase_and_no_table_names_a_kind_that_is_not() -> None:
    assert set(tags.PHASES) == SPEAKING
    assert set(causes._SPEAKS) | set(causes._LEANS) | set(causes._QUIETLY) | set(tags._SSE) <= SPEAKING
    alone = {"level.changed", "person.invited", "person.refused", "fuel.read"}  # about nothing that has a name yet
    assert set(causes._SPEAKS) | set(causes._LEANS) | set(causes._QUIETLY) | alone == SPEAKING


def test_a_job_is_called_by_the_number_its_record_has() -> None:
    names = introduce(LearnedNames(), ProjectAdded(project=Project(id="p", name="sample", path="/s", branch="main")))
    for job in ("x", "y"):
        created = JobCreated(job=job, session="s", run="r", project="p", work_item="w", title="t", agent="a")
        names = introduce(names, created)
    planned = JobPlanned(
        job="y", epoch=1, version=1, plan=Plan(summary="remove 4 unused imports in 3 files"), plan_hash="h"
    )
    assert describe(planned, names) == "Job 2 is planned: remove 4 unused imports in 3 files"
    assert describe(planned) == "The job is planned: remove 4 unused imports in 3 files"


def test_a_verdict_is_told_with_its_deciding_reason() -> None:
    verdict = Verdict(
        outcome=GateOutcome.EXECUTE_AND_TELL,
        reasons=(Reason(code="c", text="At cautious, starting a job is done and told."),),
    )
    judged = ActJudged(
        act="a", session="s", number=1, proposal=Proposal(kind=ActKind.START), facts=Facts(now=EVENING), verdict=verdict
    )
    assert describe(judged) == "Gate: start: done, and you get a notice (At cautious, starting a job is done and told.)"


def test_an_agent_cannot_paint_on_the_readers_terminal() -> None:
    assert clean("".join(HOSTILE)) == "redtwo lines three\u0067np.exexzerowidth"
    assert clean("\x1b[2J\x1b[1;1Hgone") == "gone"
    assert clean("a" * 500, 20) == "a" * 19 + "…"


@given(words)
def test_cleaning_twice_changes_nothing_more(text: str) -> None:
    assert clean(clean(text)) == clean(text)


def test_the_filters_find_what_went_wrong_and_what_was_assumed() -> None:
    assert "errors" in tags_of(JobEnded(job="j", epoch=1, state="failed", why="w"))
    assert "errors" not in tags_of(JobEnded(job="j", epoch=1, state="done", why="w"))
    assert tags_of(ToolFinished(invocation="i", status="denied", result={})) == {"errors", "writes"}
    assert "assumptions" in tags_of(JobApproved(job="j", by="silence", plan_hash="h"))
    assert "assumptions" not in tags_of(JobApproved(job="j", by="ann", plan_hash="h"))
    assert "assumptions" in tags_of(AskExpired(ask="a", meant=Silence.APPROVED))
    assert sse_type(SessionPaused(session="s", why="w")) == "session_paused"


def test_what_goes_to_a_terminal_cannot_command_it() -> None:
    assert harmless("a\x1b[2Jb\x1b]0;title\x07c\u202ed\x07\r\n\te") == "abcd\n\te"
