"""What waits for a person: the question, the answers one can give with one press, and what silence means."""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final

from midwatch.journal.entry import digest
from midwatch.terms.acts import ActKind
from midwatch.terms.asks import EDIT, REJECT, AskKind, Silence, always_tools, held_parts
from midwatch.terms.english import say
from midwatch.terms.jobs import Plan
from midwatch.terms.records import AskRow, JobRow, PastAct, ProjectRow
from midwatch.terms.term import Term
from midwatch.terms.trust import Isolation
from midwatch.views.text.plain import clean

ASKED: Final[dict[AskKind, str]] = {
    AskKind.CONFIRM_ACT: "May it do this?",
    AskKind.GUIDANCE_ERROR: "Something broke. What now?",
    AskKind.GUIDANCE_UNCERTAIN: "How should it continue?",
    AskKind.SPEND: "May it spend more?",
}
LONGEST: Final = 20_000
"""A longer command is not shown in full at once, and the page says so."""
_WITHIN: Final = "If you do not answer"
NOT_ALLOWED: Final = "no"
NO_ACTS: Final[Mapping[str, PastAct]] = {}


class Choice(Term):
    """One answer a person can give with one press."""

    value: str
    label: str
    primary: bool = False


class AskShown(Term):
    """Something that waits for a person, with what silence means."""

    id: str
    number: int
    heading: str
    text: str
    line: str = ""
    """What it asks, in the one line that is shown of a folded ask."""
    exactly: str = ""
    """What would run, line by line, where a tool call is held."""
    left_out: int = 0
    """How many of its characters are not shown."""
    outside: str = ""
    """What of a plan goes outside the orders."""
    undo: str = ""
    """How a yes can be taken back without losing anything, from the facts of the ask; empty where nothing can."""
    undo_by_agent: str = ""
    """What the agent wrote about that, in its own words."""
    rationale: str = ""
    recommendation: str = ""
    choices: tuple[Choice, ...] = ()
    silence_said: str
    """What silence means, in one sentence; the two parts have a place for the time that is left."""
    silence_before: str
    silence_after: str = ""
    due_at: datetime | None = None
    shown_hash: str = ""
    plan: Plan | None = None
    job: int = 0
    project: str = ""
    edits: bool = False
    """Whether it may be returned with a comment on what should change."""


def asks_shown(
    asks: Iterable[AskRow],
    jobs: Mapping[str, JobRow],
    projects: Mapping[str, ProjectRow],
    acts: Mapping[str, PastAct] = NO_ACTS,
) -> tuple[AskShown, ...]:
    """Show what waits for a person, the most urgent first; each is about a job or an act, by its subject."""
    ordered = sorted(asks, key=lambda ask: (-ask.priority, ask.number))
    return tuple(_ask(ask, jobs.get(ask.subject), acts.get(ask.subject), projects) for ask in ordered)


def _ask(ask: AskRow, job: JobRow | None, act: PastAct | None, projects: Mapping[str, ProjectRow]) -> AskShown:
    approving = job and ask.kind is AskKind.APPROVE_PLAN and job.plan_hash == ask.shown_hash
    plan = harmless_plan(job.plan) if job and job.plan and approving else None
    before, after = silence_parts(ask.silence, due=ask.due_at is not None)
    project = projects.get(ask.project or (job.project if job else ""))
    question, exactly = parts_of(ask)
    heading = f"May job {job.number} go ahead? {clean(job.title, 120)}" if plan and job else _heading(ask)
    return AskShown(
        id=ask.id,
        number=ask.number,
        heading=heading,
        line=heading if plan else f"{heading} {clean(exactly, 120)}" if exactly else _in_short(question, job),
        text="" if exactly else clean(plan.summary if plan else _without_silence(question, after), 800),
        exactly=exactly[:LONGEST],
        left_out=max(0, len(exactly) - LONGEST),
        outside=outside_of(ask),
        undo=undo_of(ask.kind, job, act),
        undo_by_agent=plan.undo if plan else "",
        rationale=clean(ask.rationale, 400),
        recommendation=clean(ask.recommendation, 200),
        choices=_choices(ask, unseen=len(exactly) > LONGEST),
        silence_said=silence_said(ask),
        silence_before=before,
        silence_after=after,
        due_at=None if ask.silence is Silence.WAITS else ask.due_at,
        shown_hash=hash_shown(ask.shown_hash, ask.question, ask.options),
        plan=plan,
        job=job.number if job else 0,
        edits=EDIT in ask.options,
        project=clean(project.name, 63) if project else "",
    )


def outside_of(ask: AskRow) -> str:
    """Say what of a plan goes outside the orders: Midwatch then advises against it, and gives that as its reason."""
    leaves = ask.kind is AskKind.APPROVE_PLAN and ask.recommendation == REJECT
    return clean(ask.rationale, 800) if leaves else ""


def silence_said(ask: AskRow) -> str:
    """What silence means, in one sentence."""
    return say(f"silence.{ask.silence.value}")


def parts_of(ask: AskRow) -> tuple[str, str]:
    """Split the question from exactly what would run; the second is empty where no tool call is held."""
    if ask.kind is not AskKind.CONFIRM_ACT or not ask.subject.startswith("job_"):
        return ask.question, ""  # the other acts to confirm are not about a job
    question, exactly = held_parts(ask.question)
    return clean(question, 300), exactly


def _in_short(question: str, job: JobRow | None) -> str:
    """Write a question in one line; after a failure, all that was tried is in the whole of it."""
    if job is not None and question.startswith(f"Job {job.number} ({job.title}) failed"):
        return f"Job {job.number} failed. What now? {clean(job.title, 120)}"
    return clean(question, 200)


def _heading(ask: AskRow) -> str:
    question, exactly = parts_of(ask)
    if exactly:
        return question
    return ASKED.get(ask.kind, f"Ask {ask.number} is for you")


def _choices(ask: AskRow, *, unseen: bool) -> tuple[Choice, ...]:
    """The recommended answer gets the bright button; without a recommendation the first one does.

    A yes is for what a person has seen: where a part is not shown, only a no has a button.
    """
    best = ask.recommendation if ask.recommendation in ask.options else next(iter(ask.options), "")
    words = {"yes": "Approve", "no": "Reject"} if ask.kind is AskKind.APPROVE_PLAN else {}
    return tuple(
        Choice(
            value=clean(one),
            label=_label(words.get(one, one)),
            primary=one == best,
        )
        for one in ask.options
        if not unseen or one == NOT_ALLOWED
    )


def _label(option: str) -> str:
    """Write an option as a button; what would always be allowed is written as it is, all of it."""
    text = option[:1].upper() + option[1:]
    return clean(text, 300) if always_tools(option) else clean(text.replace("_", " "), 60)


def harmless_plan(plan: Plan) -> Plan:
    """Make every line of a plan harmless before it is shown: it is an agent's text."""
    return plan.model_copy(
        update={
            "summary": clean(plan.summary, 800),
            "approach": tuple(clean(one, 400) for one in plan.approach),
            "files": tuple(clean(one, 300) for one in plan.files),
            "risks": tuple(clean(one, 400) for one in plan.risks),
            "checks": tuple(clean(one, 300) for one in plan.checks),
            "blast_radius": clean(plan.blast_radius, 400),
            "undo": safe_undo(clean(plan.undo, 400)),
        }
    )


_LOSES: Final = re.compile(
    r"\breset\s+--(hard|merge)|\bclean\s+-\w*[fdx]|\b(checkout|switch|push)\s+(-\w*f\w*|--force|--discard-changes)"
    r"|\bcheckout\s+(--\s|\.)|\brestore\s|\bstash\s+(drop|clear)|\bbranch\s+-D|\brm\s+-\w*[rf]"
)
UNMERGED: Final = "Do not merge its branch, or git revert its commits after a merge."
_MERGED_BY_YOU: Final = "Nothing of it reaches your branch until you merge."
_BY_ACT: Final[Mapping[str, str]] = {
    ActKind.START: f"midwatch job stop ends the job and keeps its work. {_MERGED_BY_YOU}",
    ActKind.RESTART: f"midwatch job stop ends the job and keeps its work. {_MERGED_BY_YOU}",
    ActKind.STOP: "midwatch job resume continues the job: its work is kept.",
}


def undo_of(kind: AskKind, job: JobRow | None, act: PastAct | None = None) -> str:
    """Say how a yes is taken back: decided by what is asked, never by what an agent wrote; it loses nothing.

    Nothing is said where nothing can be taken back.
    """
    if act is not None:
        return _BY_ACT.get(act.kind, "")
    if job is None:
        return ""
    if kind is AskKind.APPROVE_PLAN:
        return UNMERGED
    if kind is AskKind.CONFIRM_ACT:
        walled = job.isolation is not Isolation.NONE
        return f"Files that it changes are the job's own copy. {_MERGED_BY_YOU}" if walled else ""
    again = f"midwatch job resume {job.number}"
    return f"Its work is kept, whatever you answer. midwatch job stop {job.number} stops it, {again} continues it."


def safe_undo(undo: str) -> str:
    """Leave out an agent's way back that loses something: a person may have uncommitted work beside it."""
    return "" if _LOSES.search(undo) else undo


def plan_shown(job: JobRow) -> Plan | None:
    return harmless_plan(job.plan) if job.plan else None


def message_of(shown: AskShown, text: str) -> str:
    """Complete a notice about an ask with the facts that every other surface shows beside its question."""
    lines = [text]
    if shown.outside and shown.outside not in text:
        lines.append(f"This plan goes outside your orders. {shown.outside}")
    if (shown.silence_after or shown.silence_before).lstrip(", ") not in text:
        lines.append(shown.silence_said)
    if shown.undo:
        lines.append(f"Undo: {shown.undo}")
    lines.append(f"Answer: midwatch asks {shown.number}, or on the Live page")
    return "\n".join(lines)


def silence_parts(silence: Silence, *, due: bool) -> tuple[str, str]:
    """Say what silence means, with a place between the two parts for the time that is left."""
    words = say(f"silence.{silence.value}")
    if not due or silence is Silence.WAITS or not words.startswith(_WITHIN):
        return words, ""
    return f"{_WITHIN} within", words.removeprefix(_WITHIN)


def _without_silence(question: str, after: str) -> str:
    """Leave out what silence means, which is shown below the question with the time that is left."""
    asked, within, _ = question.rpartition(f" {_WITHIN}")
    return asked if within and after and question.endswith(after) else question


def hash_shown(shown_hash: str, question: str, options: Sequence[str]) -> str:
    """Identify what a person is asked: by the hash that came with it, as a plan's, else by question and options."""
    return shown_hash or digest(question, *options)
