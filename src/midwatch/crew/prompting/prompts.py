"""A prompt: one template filled with facts, bounded, with its version, so that a replay shows exactly the same text."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cache
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from midwatch.errors import Corrupt
from midwatch.ports.agent import TaskFacts
from midwatch.terms.agents import FormerTry
from midwatch.terms.jobs import Plan
from midwatch.views.text.plain import clean, harmless


def fenced(text: str, what: str) -> str:
    """Put a text between two marks that do not occur in it; the same text always gets the same marks."""
    mark = mark_for(text)
    return f"----- begin {mark}: {clean(what, 80)} -----\n{text}\n----- end {mark} -----"


def mark_for(text: str, length: int = 12) -> str:
    """Find a mark that the text does not contain, ignoring case."""
    folded = text.casefold()
    marks = (sha256(f"{number}:{text}".encode("utf-8", "replace")).hexdigest()[:length] for number in count())
    return next(mark for mark in marks if mark not in folded)


def cut(text: str, most: int, *, keep_end: bool = False) -> str:
    """Clean a text and cut it to about this length; a cut is marked where it was made."""
    if len(text) <= most:
        return harmless(text).strip("\n")
    gone = f"[{len(text) - most:,} characters were cut here]"
    # Failures are usually reported at the end, so more of the end is kept.
    head = most // 4 if keep_end else most
    start, end = harmless(text[:head]).strip("\n"), harmless(text[len(text) - (most - head) :]).strip("\n")
    return f"{start}\n{gone}\n{end}" if keep_end else f"{start}\n{gone}"


def lines(items: Sequence[str], most: int, longest: int) -> tuple[str, ...]:
    """Write each item on one line; the last line counts what was left out."""
    kept = tuple(line for item in items[:most] if (line := clean(item[: longest * 4], longest)))
    left = len(items) - most
    return kept if left <= 0 else (*kept, f"({left:,} more were left out here)")


if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATES: Final = Path(__file__).parent / "templates"
MOST: Final = 40_000
"""Longest prompt, in characters."""
_SCALES: Final = (1.0, 0.5, 0.25, 0.1, 0.03)
_VERSION: Final = re.compile(r"\{# version: (\d+) #\}\n")
_PARTS: Final = ("context", "limits", "telling", "ending")
_FENCED_LISTS: Final = {
    "signals": "recent signals of this project",
    "priorities": "what is pressing",
    "together": "the same work in other repositories",
    "commits": "subjects of the last commits",
    "memory": "what was noted on earlier nights",
}
_LISTS: Final = ("goals", "rejected", "success_criteria", "paths", "do_not_touch", "tools", "checks", "done_when")


@dataclass(frozen=True, slots=True)
class Prompt:
    """The prompt an agent got, and its templates."""

    text: str
    template: str
    version: str
    """The versions of the template and its parts, such as `plan 1, context 1, limits 1, ending 1`."""
    digest: str


@cache
def environment() -> "Environment":
    """Load templates in strict mode: a missing value is an error, and values are never read as templates."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # noqa: PLC0415 - only prompts need it

    return Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=False,  # noqa: S701 - a prompt is plain text; escaping would change what an agent reads
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


@cache
def version_of(name: str) -> str:
    """Read the version from a template's first line."""
    found = _VERSION.match((TEMPLATES / f"{name}.j2").read_text("utf-8"))
    if found is None:
        raise Corrupt(f"The template {name} has no version.", hint="Begin the file with a version line.")
    return found.group(1)


def template_for(facts: TaskFacts) -> str:
    """Choose the template; without facts the agent just resumes."""
    return facts.errand.value if facts.own.strip() or facts.knows_the_work else "resume"


def build_prompt(facts: TaskFacts, most: int = MOST) -> Prompt:
    """Write the prompt; what does not fit is cut evenly, and every cut is marked."""
    name = template_for(facts)
    text = ""
    for scale in _SCALES:
        text = _tidy(environment().get_template(f"{name}.j2").render(_shown(facts, scale)))
        if len(text) <= most:
            break
    version = ", ".join(f"{part} {version_of(part)}" for part in (name, *_PARTS))
    return Prompt(text, name, version, sha256(text.encode("utf-8", "replace")).hexdigest())


def _tidy(text: str) -> str:
    return re.sub(r"\n{3,}", "\n\n", text).strip("\n") + "\n"


def _shown(facts: TaskFacts, scale: float) -> dict[str, Any]:
    """Return the templates' values: single lines as they are, longer or untrusted text inside a fence."""
    most, longest = max(1, int(40 * scale)), max(40, int(300 * scale))
    texts = {name: _block(getattr(facts, name), what, int(8_000 * scale)) for name, what in _OURS.items()}
    foreign = {
        name: _block("\n".join(lines(getattr(facts, name), most, longest)), what, int(8_000 * scale))
        for name, what in _FENCED_LISTS.items()
    }
    quoted = [_block(one.text, one.what[:400], int(6_000 * scale)) for one in facts.quoted[:most]]
    return {
        "errand": facts.errand.value,
        "objective": clean(facts.objective[: longest * 8], longest * 2),
        "limits": facts.limits,
        "interrupted": facts.interrupted,
        "former": _former(facts.former, scale),
        "project": {
            field.name: clean(getattr(facts.project, field.name)[:2000], longest) for field in fields(facts.project)
        },
        "plan": _block(_plan_text(facts.plan), "the approved plan", int(12_000 * scale)) if facts.plan else "",
        "former_plan": _block(_plan_text(facts.former_plan), "the plan that was sent back", int(12_000 * scale))
        if facts.former_plan
        else "",
        "failure": _block(facts.failure, "what the checks printed", int(12_000 * scale), keep_end=True),
        "telling": clean(facts.telling, 400),
        "turns": facts.turns,
        "pieces": facts.pieces,
        "answers": _block(_answers(facts), "what you asked, and the answers", int(8_000 * scale)),
        "quoted": [one for one in quoted if one],
        **texts,
        **foreign,
        **{name: lines(getattr(facts, name), most, longest) for name in _LISTS},
    }


def _former(former: FormerTry | None, scale: float) -> dict[str, Any] | None:
    """Return the last try: its output is data, what to do differently is our own text."""
    if former is None:
        return None
    return {
        "tries": former.tries,
        "stage": clean(former.stage, 40),
        "cause": clean(former.cause, 200),
        "differently": clean(former.differently, 400),
        "said": _block(former.said, "how the last try ended", int(2_000 * scale)),
        "tail": _block(former.tail, "the end of its output", int(6_000 * scale), keep_end=True),
    }


_OURS: Final = {
    "notes": "notes of the person who signed the orders",
    "said": "what the person said",
    "own": "the task",
    "wish": "requested changes to the plan",
}


def _block(text: str, what: str, most: int, *, keep_end: bool = False) -> str:
    kept = cut(text, most, keep_end=keep_end)
    return fenced(kept, what) if kept.strip() else ""


def _answers(facts: TaskFacts) -> str:
    return "\n".join(f"You asked: {asked}\nThe answer: {answer}" for asked, answer in facts.answers)


def _plan_text(plan: Plan) -> str:
    given = plan.model_dump()
    said = [plan.summary]
    for name, title in (("approach", "Steps"), ("files", "Files"), ("risks", "Risks"), ("checks", "Checks")):
        if given[name]:
            said += [f"{title}:", *(f"- {clean(item, 400)}" for item in given[name])]
    last = {"Blast radius": plan.blast_radius, "Undo": plan.undo}
    return "\n".join([*said, *(f"{title}: {text}" for title, text in last.items() if text)])
