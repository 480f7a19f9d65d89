"""Pictures drawn on the server as SVG: no script, the page's own colours, every text in them escaped."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final

from markupsafe import Markup, escape

from midwatch.terms.figures import minutes_in_words
from midwatch.terms.term import Term
from midwatch.views.pages.live.night_picture import LANES, Fold, Lane, NightPicture, Span, in_words

WIDTH: Final = 1160
LEFT: Final = 64
RIGHT: Final = 1150
ROW: Final = 28
TOP: Final = 10
THIN: Final = 5.0
NEAR: Final = 2.0
MOST_ROWS: Final = 3
WIDE: Final = 9.0
"""Spans of this width can be distinguished even when they touch."""
FOLD: Final = 52.0
LABEL: Final = 64.0
NAMES: Final[dict[Lane, str]] = {"sense": "looks", "plan": "plans", "act": "acts", "job": "works", "ask": "asks you"}
TICKS: Final = tuple(timedelta(minutes=minutes) for minutes in (1, 5, 10, 15, 30, 60, 120, 240))


class Drawn(Term):
    """A span, or several that are too close to distinguish, in pixels."""

    lane: Lane
    left: float
    right: float
    seq: int
    what: str
    count: int = 1
    going: bool = False
    row: int = 0
    """Several that run at the same time share their lane's height."""
    rows: int = 1


class Ruler:
    """Maps moments to x positions: folded stretches have one small width, the rest shares what is left."""

    def __init__(self, picture: NightPicture) -> None:
        folded = sum(((one.end - one.begin) for one in picture.folds), timedelta())
        busy = max((picture.end - picture.begin - folded).total_seconds(), 1.0)
        self.fold = min(FOLD, (RIGHT - LEFT) * 0.4 / max(len(picture.folds), 1))
        self._scale = (RIGHT - LEFT - self.fold * len(picture.folds)) / busy
        self._picture = picture
        self._starts = [one.begin for one in picture.folds]

    def at(self, moment: datetime) -> float:
        """Return the x position of a moment."""
        moment = min(max(moment, self._picture.begin), self._picture.end)
        place = bisect_right(self._starts, moment)
        past = self._picture.folds[:place]
        inside = past[-1] if past and moment < past[-1].end else None
        idle = sum(((one.end - one.begin) for one in past if one is not inside), timedelta())
        reached = inside.begin if inside else moment
        gone = (reached - self._picture.begin - idle).total_seconds()
        part = (moment - inside.begin) / (inside.end - inside.begin) * self.fold if inside else 0
        whole = len(past) - (1 if inside else 0)
        return LEFT + gone * self._scale + whole * self.fold + part

    def step(self) -> timedelta:
        """Choose the distance between the written hours, so that they do not touch."""
        return next((one for one in TICKS if one.total_seconds() * self._scale >= LABEL), TICKS[-1])


def timeline_svg(picture: NightPicture) -> Markup:
    """Draw a night; an open span ends at the line that means now."""
    ruler = Ruler(picture)
    bottom = TOP + ROW * len(LANES)
    parts = [
        Markup('<svg class="timeline" viewBox="0 0 {} {}" role="group" aria-label="{}">').format(
            WIDTH, bottom + 26, in_words(picture)
        ),
        Markup(
            '<defs><pattern id="idle" width="7" height="7" patternUnits="userSpaceOnUse" '
            'patternTransform="rotate(45)"><line class="hatch" x1="0" y1="0" x2="0" y2="7"/></pattern></defs>'
        ),
        *_hours(picture, ruler, bottom),
        *(_folded(one, ruler, bottom) for one in picture.folds),
        *(_bar(one) for one in merged(picture.spans, ruler)),
        Markup('<g class="names"><rect x="0" y="0" width="{}" height="{}"/>').format(LEFT - 4, bottom),
        *_names(),
        Markup("</g>"),
        Markup('<line class="now" x1="{0:.1f}" x2="{0:.1f}" y1="{1}" y2="{2}"/></svg>').format(
            ruler.at(picture.end), TOP - 6, bottom + 4
        ),
    ]
    return Markup("").join(parts)


def merged(spans: Sequence[Span], ruler: Ruler) -> tuple[Drawn, ...]:
    """Place the spans; those of one lane that would touch become one, so that a long night stays a small picture."""
    done: list[Drawn] = []
    last: dict[Lane, Drawn] = {}
    for span in spans:
        left = ruler.at(span.begin)
        right = min(max(ruler.at(span.end), left + THIN), RIGHT + THIN)
        before = last.get(span.lane)
        if before is None or left > before.right + NEAR or min(right - left, before.right - before.left) >= WIDE:
            if before is not None:
                done.append(before)
            before = Drawn(lane=span.lane, left=left, right=right, seq=span.seq, what=span.what, going=span.going)
        else:
            update = {"right": max(right, before.right), "count": before.count + 1, "going": before.going or span.going}
            before = before.model_copy(update=update)
        last[span.lane] = before
    drawn = sorted((*done, *last.values()), key=lambda one: (LANES.index(one.lane), one.left))
    return tuple(row for lane in LANES for row in _side_by_side([one for one in drawn if one.lane == lane]))


def _side_by_side(lane: Sequence[Drawn]) -> list[Drawn]:
    """Put overlapping spans into separate rows; beyond a few rows they may overlap."""
    ends: list[float] = []
    placed: list[Drawn] = []
    for one in lane:
        row = next((number for number, end in enumerate(ends) if end <= one.left), min(len(ends), MOST_ROWS - 1))
        ends[row : row + 1] = [max(one.right, ends[row] if row < len(ends) else 0.0)]
        placed.append(one.model_copy(update={"row": row}))
    return [one.model_copy(update={"rows": max(len(ends), 1)}) for one in placed]


def _bar(one: Drawn) -> Markup:
    said = one.what if one.count == 1 else f"{one.what}, and {one.count - 1} more"
    height = (ROW - 10) / one.rows
    y = TOP + ROW * LANES.index(one.lane) + 5 + one.row * height
    return Markup(
        '<a href="/why/{seq}" aria-label="{lane}: {said}"><title>{said}</title>'
        '<rect class="span lane-{lane}{going}" x="{x:.1f}" y="{y}" width="{w:.1f}" height="{h}" rx="4"/></a>'
    ).format(
        seq=one.seq,
        lane=one.lane,
        said=said,
        going=" going" if one.going else "",
        x=one.left + 0.75,
        y=f"{y:g}",
        w=max(one.right - one.left - 1.5, THIN - 1.5),
        h=f"{height - (1 if one.rows > 1 else 0):g}",
    )


def _names() -> Iterator[Markup]:
    """Name the lanes; the page's script keeps the names in sight where the picture is wider than its box."""
    for place, lane in enumerate(LANES):
        yield Markup('<text x="0" y="{}">{}</text>').format(TOP + ROW * place + ROW // 2 + 4, NAMES[lane])


def _folded(one: Fold, ruler: Ruler, bottom: int) -> Markup:
    left = ruler.at(one.begin)
    words = minutes_in_words(one.end - one.begin)
    drawn = Markup(
        '<rect class="fold" x="{:.1f}" y="{}" width="{:.1f}" height="{}"><title>{} idle</title></rect>'
    ).format(left, TOP, ruler.fold, bottom - TOP, words)
    if ruler.fold < FOLD:
        return drawn
    # Two short lines: the words are wider than the fold.
    middle = left + ruler.fold / 2
    return drawn + Markup(
        '<text class="mid" x="{0:.1f}" y="{1}">{2}</text><text class="mid" x="{0:.1f}" y="{3}">idle</text>'
    ).format(middle, TOP + 60, escape(words.replace(" min", "")) if "h" in words else words, TOP + 75)


def _hours(picture: NightPicture, ruler: Ruler, bottom: int) -> Iterator[Markup]:
    """Write the time under each tick outside the folds; the page's script converts it to the reader's time zone."""
    step = ruler.step()
    # Begins at a round time; zones differ by quarters of an hour, so a step of minutes is round everywhere.
    day = picture.begin.replace(hour=0, minute=0, second=0, microsecond=0)
    tick = day + step * (-(-(picture.begin - day) // step))
    taken = LEFT - LABEL
    while tick <= picture.end:
        place = ruler.at(tick)
        if (
            place - taken >= LABEL
            and place <= RIGHT - 36
            and not any(one.begin < tick < one.end for one in picture.folds)
        ):
            taken = place
            yield Markup(
                '<line class="grid" x1="{0:.1f}" x2="{0:.1f}" y1="{1}" y2="{2}"/>'
                '<text x="{3:.1f}" y="{4}" data-as="clock" datetime="{5}">{6:%H:%M}</text>'
            ).format(place, TOP, bottom, place + 3, bottom + 18, tick.isoformat(), tick)
        tick += step
