"""Tonight's sheet in plain words: what will not happen, what silence means, what to read before signing."""

from collections.abc import Sequence
from typing import Final

from midwatch.terms.acts import ActKind
from midwatch.terms.asks import Silence
from midwatch.terms.figures import dollars, joined, micros, some, span
from midwatch.terms.orders import Orders
from midwatch.terms.trust import GateOutcome, Isolation, Level
from midwatch.views.pages.sheet import ProjectSeen, SheetFacts, tonight_only
from midwatch.views.text.plain import clean, listed, spaced

WRITING: Final = "repo_write_pr"
RESEARCH: Final = "web_research"
DOING: Final[dict[ActKind, str]] = {
    ActKind.START: "start work",
    ActKind.STOP: "stop a job",
    ActKind.RESTART: "restart a job",
    ActKind.RESOLVE: "answer a job's question",
    ActKind.UPDATE_WORK_ITEM: "move work items",
    ActKind.CREATE_PROJECT: "create a project",
    ActKind.PUSH_PROTECTED: "push to a protected branch",
    ActKind.DEPLOY: "deploy",
    ActKind.PAY: "pay",
    ActKind.MAIL_STRANGERS: "mail strangers",
}
"""Acts as a person would name them; merging, delivering and reading have sentences of their own."""

ALLOWING: Final[dict[str, str]] = {
    "repo_read": "read the repositories",
    WRITING: "write to its own branches",
    RESEARCH: "look things up on the web",
    "pull_request": "open pull requests",
}
"""Tools and effects as a person would name them."""


def will_not(facts: SheetFacts) -> tuple[str, ...]:
    """List what will not happen tonight; each sentence follows from the rules at this level under these orders."""
    said = (
        _never(facts),
        "Merge anything. Only a person may do that." if facts.outcomes[ActKind.MERGE] is GateOutcome.ASK_FIRST else "",
        *_held_by_level(facts),
        *_held_by_permissions(facts),
        "Change your own branches or see what you have not committed: work begins at a commit and arrives on agent/…",
        "Work in a project this sheet does not name.",
        *_held_by_paths(facts),
        *(f"Act on {clean(one.name)}: it is {_flags(one)}." for one in facts.projects if one.flags),
        f"Continue after {_end(facts.orders)}.",
    )
    return tuple(sentence for sentence in said if sentence)


def _never(facts: SheetFacts) -> str:
    kinds = [DOING[kind] for kind, outcome in facts.outcomes.items() if outcome is GateOutcome.REFUSE and kind in DOING]
    return f"{joined(kinds, 'or').capitalize()}. There is no tool for it." if kinds else ""


def _held_by_level(facts: SheetFacts) -> tuple[str, ...]:
    level = facts.orders.level
    suggested = _named(facts, GateOutcome.SAY_ONLY)
    asked = _named(facts, GateOutcome.ASK_FIRST)
    return (
        f"{joined(suggested, 'or').capitalize()}: at {level} these are only suggested." if suggested else "",
        f"Write anything: at {level} nothing is written." if level is Level.OBSERVE else "",
        f"{joined(asked, 'or').capitalize()} without your yes; silence means it is not done." if asked else "",
    )


def _named(facts: SheetFacts, outcome: GateOutcome) -> list[str]:
    return [words for kind, words in DOING.items() if facts.outcomes.get(kind) is outcome]


def _held_by_permissions(facts: SheetFacts) -> tuple[str, ...]:
    permitted = facts.orders.permissions
    effects = tuple(spaced(one) for one in permitted.external)
    outside = f", except by {joined(effects, 'or')}" if effects else " at all"
    if RESEARCH not in permitted.tools or not permitted.domains:
        web = "Look anything up on the web."
    else:
        web = f"Look anything up on the web beyond {listed(permitted.domains, 10)}."
    writes = WRITING in permitted.tools
    return (
        f"Act outside this machine{outside}.",
        web,
        "Delegate work or make appointments: the orders name no peer or calendar.",
        "" if writes else f"Write to a repository: the orders do not name {WRITING}.",
        f"Change more than {some(facts.files_per_job, 'file')} or {some(facts.lines_per_job, 'line')} in one job."
        if writes
        else "",
    )


def _held_by_paths(facts: SheetFacts) -> tuple[str, ...]:
    by_paths: dict[tuple[str, ...], list[str]] = {}
    for work in facts.orders.work:
        if work.paths:
            by_paths.setdefault(work.paths, []).append(work.title)
    bound = (
        f"For {_works(titles)}, change anything outside {listed(paths, 10)}." for paths, titles in by_paths.items()
    )
    untouched = facts.orders.do_not_touch
    always = (
        f"Touch {listed(one.do_not_touch, 20)} in {clean(one.name)}." for one in facts.projects if one.do_not_touch
    )
    return (f"Touch {listed(untouched, 20)}." if untouched else "", *always, *bound)


def _works(titles: Sequence[str]) -> str:
    return f"“{clean(titles[0], 80)}”" if len(titles) == 1 else f"{len(titles)} pieces of work"


def _end(orders: Orders) -> str:
    limits = orders.limits
    money = dollars(micros(limits.usd)) if limits.usd else ""
    tokens = some(limits.tokens, "token").replace(str(limits.tokens), f"{limits.tokens:,}") if limits.tokens else ""
    ends = [
        span(limits.minutes),
        some(limits.rounds, "round"),
        tokens,
        money,
        "the time named under Until" if orders.until else "",
    ]
    return joined((one for one in ends if one), "or")


def allowed(name: str) -> str:
    """Say what a tool or an effect outside lets the night do."""
    return ALLOWING.get(name, spaced(name))


def silence_on_plans(facts: SheetFacts) -> str:
    """Say what happens to a plan without an answer."""
    if facts.orders.level is Level.OBSERVE:
        return "At observe no work is started, so no plan is made; one you ask for yourself waits for your yes."
    if facts.plan_silence is not Silence.APPROVED:
        return "Silence approves nothing: a plan waits for your yes, however long that takes."
    if facts.plan_minutes == 0:
        return f"At {facts.orders.level} a plan inside this sheet is carried out without waiting for you."
    return (
        f"A plan without an answer within {span(facts.plan_minutes)} counts as approved, "
        "if it stays inside these orders. Any other plan waits for you."
    )


def worth_knowing(facts: SheetFacts) -> tuple[str, ...]:
    """List what does not prevent signing, but should be read first."""
    orders = facts.orders
    runs_checks = any(work.checks for work in orders.work) or any(one.has_checks for one in facts.projects)
    open_to_all = facts.isolation is Isolation.NONE and runs_checks
    named = facts.orders.permissions.domains
    deaf = named and facts.isolation in {Isolation.LANDLOCK, Isolation.SEATBELT}
    return (
        *(
            f"Night {number} is not reviewed yet; you can still review it beside this one."
            for number in facts.unreviewed
        ),
        *(f"{clean(one.name)} is {_flags(one)}: its work will be refused." for one in facts.projects if one.flags),
        *((tonight_only(orders.level, facts.standing),) if orders.level is not facts.standing else ()),
        *(("At observe the night only suggests; no work will be started.",) if orders.level is Level.OBSERVE else ()),
        *(
            f"{clean(one.name)} has {some(one.uncommitted, 'uncommitted file')}; the night will not see "
            f"{'it' if one.uncommitted == 1 else 'them'}."
            for one in facts.projects
            if one.uncommitted
        ),
        *(
            f"{clean(one.name)} has no checks, as you chose; nothing will verify its work."
            for one in facts.projects
            if not one.has_checks and any(work.project == one.name and not work.checks for work in orders.pieces())
        ),
        *_held_by_walls(facts),
        *((f"No job will reach {listed(named)}: the sandbox of this machine has no network.",) if deaf else ()),
        *(("Checks run as programs of yours on this machine; nothing isolates them.",) if open_to_all else ()),
    )


def _held_by_walls(facts: SheetFacts) -> tuple[str, ...]:
    """Say where weak isolation gives an agent less than the orders do."""
    level, most = facts.orders.level, facts.most_by_walls
    agents = sorted({work.agent for work in facts.orders.work} - set(facts.model_free))
    if not agents or most.rank >= level.rank:
        return ()
    walls = "no sandbox" if facts.isolation is Isolation.NONE else f"only a partial sandbox ({facts.isolation.value})"
    return (f"This machine has {walls}, so {listed(tuple(agents))} gets {most} at most, whatever these orders say.",)


def _flags(project: ProjectSeen) -> str:
    return " and ".join(flag.value for flag in project.flags)
