"""What a preflight's findings mean: ready, worth a look or not ready, each with what to do about it (X10)."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Final

from midwatch.rules.budget.provider_quota import Reading, leave_wanted, may_burn
from midwatch.rules.checks.discovery import proves_nothing
from midwatch.rules.checks.missing_tools import (
    how_to_get,
    missing_library,
    missing_tool,
    needed_setups,
    settings_for,
)
from midwatch.rules.checks.setups import SetupChoice, SetupProposal, allowing, typed, wanted_hosts
from midwatch.rules.gate.levels import effective_level, no_way_to_model
from midwatch.terms.figures import joined, size, some
from midwatch.terms.forges import Rehearsed
from midwatch.terms.jobs import CheckResult, CheckSource, RepositoryFacts
from midwatch.terms.orders import Limits
from midwatch.terms.preflight import AgentSeen, LineResult, LineState, ProjectTried, SleepSeen, What
from midwatch.terms.trust import Isolation, Level

WALL: Final = 124
"""The exit code of a command that timed out."""
LONGEST_LINE: Final = 160
NOTHING: Final[Mapping[str, str]] = MappingProxyType({})
LONGER: Final = {"preflight.max_minutes": "60"}
GIVE_LONGER: Final = "Give it longer: midwatch settings propose preflight.max_minutes=60"
SHOWN: Final = 3
"""How many checks one line names."""
LOW: Final = 0.2
"""At this share or less, little is left of a limit."""


def ok(text: str) -> LineResult:
    return LineResult(state=LineState.OK, text=text)


def look(text: str, fix: str = "", settings: Mapping[str, str] = NOTHING) -> LineResult:
    """It does not prevent signing; `settings` are those that would allow it."""
    return LineResult(state=LineState.LOOK, text=text, fix=fix, settings=dict(settings))


def bad(text: str, fix: str = "", settings: Mapping[str, str] = NOTHING) -> LineResult:
    """The night would fail on it; `settings` are those that would allow it."""
    return LineResult(state=LineState.BAD, text=text, fix=fix, settings=dict(settings))


def named_settings(lines: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """Put what several lines name into one change: what they add to a list is added together."""
    together: dict[str, dict[str, None]] = {}
    for line in lines:
        for key, value in line.items():
            together.setdefault(key, {}).update(dict.fromkeys(value.split(",")))
    return {key: ",".join(values) for key, values in together.items()}


def clone_text(facts: RepositoryFacts) -> LineResult:
    """Say where work would begin, and what it would not see."""
    text = f"Cloned. Work begins at {facts.head[:9]} on {facts.branch}."
    if not facts.dirty:
        return ok(text)
    shown = ", ".join(facts.dirty[:3])
    left_out = some(len(facts.dirty), "uncommitted file")
    return look(
        f"{text} {left_out} stay out of it: {shown}.".replace("file stay", "file stays"), "Commit what it needs."
    )


def line_key(preflight: str, what: What, subject: str) -> str:
    """Return the key of the entry of a line, which is written once."""
    return f"{preflight}:{what}:{subject}"


def setup_text(choice: SetupChoice, project: str = "", missing: Sequence[CheckResult] = ()) -> LineResult | None:
    """Say that a lockfile asks for a setup whose registries may not be read; nothing where none does.

    `missing` are the tools of such setups that a job would not find.
    """
    if not choice.held:
        return None
    files = joined(_asks(one) for one in choice.held)
    clients = [one.client for one in choice.held]
    it = "they are" if len(choice.held) > 1 else "it is"
    text = f"{files}, but setups may not read {joined(clients)}'s registries, so {it} not run."
    fixes = [f"Allow it: {allowing(clients)}"]
    if missing:
        text += f" Jobs have no {joined(one.command for one in missing)} either."
        fixes = [*(how_to_get(one.command, one, project) for one in missing), *fixes]
    return look(text, _and_then(fixes), wanted_hosts(clients))


def _asks(one: SetupProposal) -> str:
    beside = f" ({one.unused})" if one.beside else ""
    return f"{one.file} asks for `{one.command}`{beside}"


def _and_then(fixes: Iterable[str]) -> str:
    return ". ".join(dict.fromkeys(fix.rstrip(".") for fix in fixes if fix))


def ran_text(command: str, choice: SetupChoice, seconds: float | None) -> str:
    """Say which setup is ready, and which lockfile chose it; `seconds` is None where it was made earlier."""
    reasons = "; ".join(one.reason for one in choice.chosen)
    if seconds is None:
        return f"It was set up earlier: {reasons}." if reasons else "It was set up earlier."
    return f"Set up in {seconds:.0f} s: {reasons}." if reasons else f"`{command}` ran ({seconds:.0f} s)."


def both(done: LineResult, rest: LineResult | None) -> LineResult:
    """Put two results into one line; the worse one counts."""
    if rest is None:
        return done
    state = max(done.state, rest.state, key=list(LineState).index)
    settings = named_settings((done.settings, rest.settings))
    fix = _and_then((done.fix, rest.fix))
    return LineResult(state=state, text=f"{done.text} {rest.text}", fix=fix, settings=settings)


def checks_text(
    results: Sequence[CheckResult],
    project: ProjectTried,
    minutes: float,
    found: Sequence[SetupProposal] = (),
    listed: Sequence[str] = (),
) -> LineResult:
    """Say how each check ends before any change, what cannot run first, and how the night will treat it.

    `found` is what the checkout asks for as its setup, `listed` what setups may reach.
    """
    rest = list(results)
    told: list[LineResult] = []
    needed = needed_setups((one for one in results if not one.green), found, listed)
    for one in results:
        if not one.green and (tool := missing_tool(one)):
            rest.remove(one)
            fix = how_to_get(tool, one, project.name, found, listed, needed)
            told.append(_absent(one, tool, fix, settings_for(tool, one, found, listed)))
    told.sort(key=lambda one: one.state is not LineState.BAD)
    late = [one for one in rest if one.exit_code == WALL]
    if late:
        text = f"{_listed(late)} did not finish in {minutes:g} min, so it is unknown whether {project.branch} is green."
        told.append(look(text, GIVE_LONGER, LONGER))
    rest = [one for one in rest if one not in late]
    empty = [one for one in rest if proves_nothing(one)]
    kept = "".join(f" --check {typed(one.command)}" for one in results if one not in empty)
    for one in empty:
        fix = f'Name a check that does: midwatch project change {project.name}{kept} --check "..."'
        told.append(look(f"`{one.command}` was found and proves nothing: {proves_nothing(one)}.", fix))
    rest = [one for one in rest if one not in empty]
    library = missing_library((one for one in rest if not one.green), project.name, found, listed, needed)
    return _together((*told, *_by_colour(rest, project.branch, library)))


def _absent(one: CheckResult, tool: str, fix: str, settings: Mapping[str, str]) -> LineResult:
    text = f"`{one.command}` cannot run: {tool} is not there"
    if one.source is CheckSource.FOUND:
        return look(f"{text}, so nothing proves the work.", fix, settings)
    return bad(f"{text}.", fix, settings)


def _by_colour(
    rest: Sequence[CheckResult], branch: str, library: tuple[str, Mapping[str, str]]
) -> Iterable[LineResult]:
    red, green = [one for one in rest if not one.green], [one for one in rest if one.green]
    if red:
        them = "them" if len(red) > 1 else "it"
        text = f"{_listed(red)} {'are' if len(red) > 1 else 'is'} red on {branch} already."
        if why := next((one for one in red if one.failing_line), None):
            it = f"`{why.command}`" if len(red) > 1 else "It"
            text += f" {it} fails with: {why.failing_line[:LONGEST_LINE].rstrip('.')}."
        text += f" The night may leave {them} red; work that makes {them} worse goes back to its agent."
        fix, settings = library
        yield look(text, fix or "Fix it first, or order the fix.", settings)
    if green:
        seconds = sum(one.seconds for one in green)
        yield ok(f"{_listed(green)} {'are' if len(green) > 1 else 'is'} green on {branch} ({seconds:.0f} s).")


def _together(told: Iterable[LineResult]) -> LineResult:
    first, *more = told
    for one in more:
        first = both(first, one)
    return first


def _listed(results: Sequence[CheckResult]) -> str:
    """Name the first checks, each with what is known of it."""
    names = [f"`{one.command}`{_known(one)}" for one in results[:SHOWN]]
    more = [f"{len(results) - SHOWN} more"] if len(results) > SHOWN else []
    return joined([*names, *more])


def _known(one: CheckResult) -> str:
    failures = some(one.failures, "failure") if one.failures else ""
    found = "found in the project" if one.source is CheckSource.FOUND else ""
    words = ", ".join(word for word in (failures, found) if word)
    return f" ({words})" if words else ""


def push_text(tried: Iterable[Rehearsed]) -> LineResult:
    """Say whether a delivery would be accepted."""
    lines = list(tried)
    wrong = [one for one in lines if not one.good]
    if not wrong:
        return ok(" ".join(one.text for one in lines))
    return bad(" ".join(one.text for one in wrong), " ".join(one.fix for one in wrong if one.fix))


def hello_text(agent: AgentSeen, ends_at: datetime) -> LineResult:
    """Say whether an agent can work tonight."""
    if not agent.ready:
        return bad(f"It cannot work yet. {agent.missing}".strip(), f"midwatch agent login {agent.name}")
    if agent.heard == "limit":
        return _used_up(agent, ends_at)
    if agent.heard == "slow":
        return look(agent.sentence, f"Try again when it has less to do: midwatch agent test {agent.name}")
    if not agent.good:
        return bad(agent.sentence, _fixing(agent))
    if agent.untested:
        return look(f"{agent.sentence} {agent.untested}.", f"The tested version: {agent.install}")
    return ok(agent.sentence)


def _used_up(agent: AgentSeen, ends_at: datetime) -> LineResult:
    """A limit that is whole again before the night ends only makes its jobs wait."""
    if agent.resets_at is not None and agent.resets_at < ends_at:
        return look(agent.sentence, "Jobs wait until then by themselves; or order another agent.")
    return bad(agent.sentence, "Order another agent, or start when the limit has reset.")


def _fixing(agent: AgentSeen) -> str:
    login = f"midwatch agent login {agent.name}"
    return {
        "refused": login,
        "not_asked": login,
        "no_model": f"midwatch settings propose agents.{agent.name}.model=... names another",
        "unpaid": f"Settle the bill at {agent.provider}, or give another credential: {login}",
    }.get(agent.heard, f"Try again: midwatch agent test {agent.name}")


def quota_text(agent: AgentSeen, limits: Limits, now: datetime) -> LineResult | None:
    """Say what is left of a provider's limits, and whether the orders leave any of it; `now` on the person's clock."""
    known = [one for one in agent.limits if one.remaining is not None]
    if not known:
        return None
    scarce = min(known, key=lambda one: one.remaining or 0.0)
    readings = [Reading(agent.provider, one.limit, one.remaining, one.resets_at, now) for one in known]
    burn = may_burn(readings, agent.provider, leave_wanted(limits, now), now)
    if not burn.allowed:
        until = f" Its jobs wait until {burn.until:%H:%M}." if burn.until else ""
        return look(f"{burn.why}{until}", "Order another agent, or leave less: leave_percent in the orders.")
    share = scarce.remaining or 0.0
    text = f"{agent.provider} has {share * 100:.0f} % of its {scarce.limit} limit left."
    return ok(text) if share > LOW else look(text, "Little is left; jobs wait when it is used up.")


def way_text(agent: AgentSeen, isolation: Isolation, fix: str) -> LineResult | None:
    """Say that an agent cannot reach its model from inside the sandbox, where that is so."""
    why = no_way_to_model(agent.name, isolation) if agent.provider else ""
    return bad(why, fix) if why else None


def walls_text(
    level: Level, isolation: Isolation, agents: Iterable[str], *, forced: bool, why: str, fix: str
) -> LineResult:
    """Say how jobs are isolated, and who gets less than the orders give because of it."""
    held = sorted({one for one in agents if effective_level(level, isolation, one, forced=forced).rank < level.rank})
    if held:
        most = effective_level(level, isolation, held[0], forced=forced)
        return look(f"{why} So {', '.join(held)} gets {most} at most, whatever the orders say.", fix)
    if isolation is Isolation.NONE:
        return look(f"{why} Checks run as your own programs; nothing isolates them.", fix)
    return ok(f"Jobs work behind walls: {isolation.value}.")


def room_text(free: tuple[int, int], least: tuple[int, int]) -> LineResult:
    """Say whether there is room for jobs: memory and disk, in bytes."""
    (memory, disk), (least_memory, least_disk) = free, least
    if disk < least_disk:
        return bad(f"{size(disk)} of disk free; no job starts below {size(least_disk)}.", "Free some disk.")
    if memory < least_memory:
        text = f"{size(memory)} of memory free; no job starts below {size(least_memory)}."
        return bad(text, "Close what is not needed tonight.")
    return ok(f"{size(disk)} of disk and {size(memory)} of memory free.")


def sleep_text(seen: SleepSeen) -> LineResult:
    """Say whether the machine stays awake."""
    if seen.will == "no":
        return ok(f"It will not sleep tonight. {seen.why}")
    words = "It may sleep tonight." if seen.will == "maybe" else "It will probably sleep tonight."
    return look(f"{words} {seen.why}", seen.fix)


def still_holds(ended_at: datetime | None, now: datetime, minutes: float, *, bad: bool) -> bool:
    """A preflight that found nothing bad counts for a while."""
    return ended_at is not None and not bad and now - ended_at <= timedelta(minutes=minutes)
