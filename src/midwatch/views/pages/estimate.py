"""What is known about a night beforehand: work, time, rounds, money; and what is not known."""

from midwatch.terms.figures import dollars, micros, some, span
from midwatch.terms.term import Term
from midwatch.terms.trust import Level
from midwatch.views.pages.sheet import PastNight, SheetFacts
from midwatch.views.pages.walls import WALLS
from midwatch.views.text.plain import listed


class EstimateLine(Term):
    """One line of the estimate."""

    about: str
    text: str


def estimate(facts: SheetFacts) -> tuple[EstimateLine, ...]:
    """List what is known beforehand, and what is not."""
    orders = facts.orders
    projects = len({name for work in orders.work for name in work.where})
    items = f"{some(len(orders.work), 'item')} in {some(projects, 'project')}"
    work = f"{items}, at most {some(facts.jobs_per_project, 'job')} at a time in each."
    return (
        EstimateLine(about="Work", text=work if orders.work else "None is named yet."),
        EstimateLine(
            about="Time",
            text=f"At most {span(orders.limits.minutes)}; it ends sooner when nothing is left to do for "
            f"{span(facts.idle_minutes)}. {_past_minutes(facts.past)}",
        ),
        EstimateLine(
            about="Rounds",
            text=f"One about every {span(facts.round_minutes)} and one when something happens, at most "
            f"{orders.limits.rounds}. {_past_rounds(facts.past)}".strip(),
        ),
        EstimateLine(about="Money", text=_money(facts)),
        EstimateLine(about="Walls", text=_walls(facts)),
    )


def _walls(facts: SheetFacts) -> str:
    """Say what isolates jobs on this machine, and which level that allows."""
    walls = WALLS[facts.isolation]
    name = f"{walls.mark.capitalize()} ({walls.kind})" if walls.state != "bad" else "None"
    each = f"{name}: a job {walls.does}."
    most = facts.most_by_walls
    worth = "the level of these orders applies to every agent" if most is Level.FULL else f"a model gets {most} at most"
    free = listed(facts.model_free)
    exempt = "" if most is Level.FULL else f"; the {free} uses none and keeps the level of these orders"
    return f"{each} So {worth}{exempt}."


def _past_minutes(past: tuple[PastNight, ...]) -> str:
    if not past:
        return "No night has ended here yet, so how long the work takes is unknown."
    low, high = min(one.minutes for one in past), max(one.minutes for one in past)
    took = span(low) if round(low) == round(high) else f"{span(low)} to {span(high)}"
    return f"The last {some(len(past), 'night')} took {took}."


def _past_rounds(past: tuple[PastNight, ...]) -> str:
    if not past:
        return ""
    low, high = min(one.rounds for one in past), max(one.rounds for one in past)
    return f"Earlier nights had {low if low == high else f'{low} to {high}'}."


def _money(facts: SheetFacts) -> str:
    paid = sorted({work.agent for work in facts.orders.work} - set(facts.model_free))
    limit = dollars(micros(facts.orders.limits.usd))
    most = f"At most {limit}"
    if paid:
        return f"{most}; what {listed(tuple(paid))} will use of it is unknown."
    if not facts.thinks_by_rules:
        return f"{most}; what thinking will use of it is unknown. The work itself uses no model."
    if not facts.orders.work:
        return f"{most}; how much is unknown until work is named."
    free = listed(tuple(sorted({work.agent for work in facts.orders.work})))
    return f"Nothing: the {free} uses no model, and the rules brain uses none. The limit is {limit}."
