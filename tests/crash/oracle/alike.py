"""A night without its accidents: equal for two nights in which the same things happened to the person's world."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from pydantic import JsonValue

from midwatch.terms.acts import WAITING
from tests.crash.oracle.seen import JobSeen, NightView, Seen

_ID: Final = re.compile(r"\b([a-z]{2,8})_[0-9A-HJKMNP-TV-Z]{26}\b")
_SHA: Final = re.compile(r"\b(?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}\b")
_AS_SEEN: Final = re.compile(r"\d+ new commits?: ")
"""How many commits were new depends on when somebody looked."""
_TOOK: Final = re.compile(r" · (?:under a minute|\d+ minutes?)$", re.MULTILINE)
_PASSING: Final = frozenset(kind.value for kind in WAITING)

Plain = dict[str, JsonValue]


def normalised(view: NightView) -> Plain:
    """Leave out when, by whom and how often it was tried; keep every effect, with repetitions.

    Rounds, verdicts and progress check-ins follow from how long things took, so they are accidents too. Lists whose
    order depends on which of two jobs was faster are sorted.
    """
    order = {job.id: f"job#{job.number}" for job in view.jobs}
    said = _Scrub(order)
    kept = [f"{one.type}: {one.text}" for one in view.check_ins if one.type != "progress"]
    return {
        "night": view.number,
        "state": view.state.value if view.state else "",
        "paused": view.paused,
        "level": view.level.value if view.level else "",
        "goals": list(view.goals),
        "work": list(view.work),
        "reason": said(view.reason),
        "done": {kind: count for kind, count in sorted(view.done.items()) if kind not in _PASSING},
        "runs": [
            {"number": run.number, "status": run.status, **_scores(run.score_pre, run.score_post)} for run in view.runs
        ],
        "jobs": [_job(job, said, order) for job in view.jobs],
        "asks": _sorted(_without(view.asks, said, "number", "due_at")),
        "notices": _sorted(_without([one for one in view.notices if not _AS_SEEN.search(one.text)], said)),
        "pull_requests": _sorted(_without(view.pull_requests, said, "number")),
        "check_ins": [*sorted(said(text) for text in kept)],
        "messages": view.messages,
        "evidence": view.evidence,
        "claims": view.claims,
        "assumptions": view.assumptions,
        "artifacts": view.artifacts,
        "headline": said(view.headline),
        "words": view.words,
        "recommendations": [said(text) for text in view.recommendations],
        "waiting": view.waiting,
        "review": view.review,
    }


class _Scrub:
    """Replaces ids by their order of appearance and commits by a word, the same way all over one view."""

    def __init__(self, known: dict[str, str]) -> None:
        self._known = dict(known)

    def __call__(self, text: str) -> str:
        if text in self._known:
            return self._known[text]
        return _TOOK.sub(" · some minutes", _SHA.sub("<commit>", _ID.sub(self._named, text)))

    def _named(self, found: re.Match[str]) -> str:
        prefix = found[1]
        so_far = sum(name.startswith(f"{prefix}#") for name in self._known.values())
        return self._known.setdefault(found[0], f"{prefix}#{so_far + 1}")


def _job(job: JobSeen, said: _Scrub, order: dict[str, str]) -> Plain:
    dropped = {"id", "attempts", "stumbles", "retry_of"}
    plain = _scrubbed(job.model_dump(mode="json", exclude=dropped), said)
    return {**plain, "retry_of": order.get(job.retry_of, "")}


def _without(items: Sequence[Seen], said: _Scrub, *dropped: str) -> list[Plain]:
    return [_scrubbed(one.model_dump(mode="json", exclude={"id", *dropped}), said) for one in items]


def _scrubbed(plain: Plain, said: _Scrub) -> Plain:
    return {name: said(value) if isinstance(value, str) else value for name, value in plain.items()}


def _sorted(items: Iterable[Plain]) -> list[JsonValue]:
    return [*sorted(items, key=lambda one: sorted((name, str(value)) for name, value in one.items()))]


def _scores(pre: float | None, post: float | None) -> Plain:
    return {"pre": pre if pre is None else round(pre, 6), "post": post if post is None else round(post, 6)}
