"""The facts behind the words on tonight's sheet."""

from midwatch.terms.acts import ActKind
from midwatch.terms.asks import Silence
from midwatch.terms.orders import Orders
from midwatch.terms.projects import Flag
from midwatch.terms.term import Term
from midwatch.terms.trust import GateOutcome, Isolation, Level


class ProjectSeen(Term):
    """What the sheet needs to know about a project it names."""

    name: str
    flags: tuple[Flag, ...] = ()
    has_checks: bool = True
    uncommitted: int = 0
    do_not_touch: tuple[str, ...] = ()


class PastNight(Term):
    """How long an earlier night took."""

    minutes: float
    rounds: int


class SheetFacts(Term):
    """All the facts behind the words on the sheet."""

    orders: Orders
    standing: Level
    outcomes: dict[ActKind, GateOutcome]
    """The outcome of each act at the level of the orders."""
    plan_silence: Silence
    plan_minutes: float
    """How long a plan waits; 0 means that it does not wait."""
    files_per_job: int
    lines_per_job: int
    jobs_per_project: int
    round_minutes: float
    idle_minutes: float
    isolation: Isolation
    most_by_walls: Level
    """The highest level a model-driven agent may get with this machine's isolation."""
    model_free: tuple[str, ...]
    """Agents that use no model."""
    thinks_by_rules: bool
    projects: tuple[ProjectSeen, ...] = ()
    past: tuple[PastNight, ...] = ()
    unreviewed: tuple[int, ...] = ()
    """Nights whose review is still open."""


def tonight_only(level: str, standing: str) -> str:
    """Say that a level is for one night; more than the standing level counts as forced."""
    forced = Level(level).rank > Level(standing).rank
    stays = f"The level {level} is for this night only; the standing level stays {standing}."
    return f"{stays} Earlier nights have not earned {level} yet, so it counts as forced." if forced else stays
