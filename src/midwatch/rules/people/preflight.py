"""What a preflight's findings mean: ready, worth a look or not ready, each with what to do about it (X10)."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Final

from midwatch.rules.budget.provider_quota import Reading, leave_wanted, may_burn
from midwatch.rules.checks.discovery import proves_nothing
from midwatch.rules.checks.missing_tools import how_to_get, missing_tool
from midwatch.rules.checks.setups import SetupChoice, SetupProposal, allowing
from midwatch.rules.gate.levels import effective_level, no_way_to_model
from midwatch.terms.forges import Rehearsed
from midwatch.terms.jobs import CheckResult, CheckSource, RepositoryFacts
from midwatch.terms.money import some
from midwatch.terms.orders import Limits
from midwatch.terms.preflight import AgentSeen, LineResult, LineState, ProjectTried, SleepSeen
from midwatch.terms.trust import Isolation, Level

WALL: Final = 124
"""The exit code of a command that timed out."""
LOW: Final = 0.2
"""At this share or less, little is left of a limit."""
MIB: Final = 1024**2
GIB: Final = 1024**3


def ok(text: str) -> LineResult:
    return LineResult(state=LineState.OK, text=text)


def look(text: str, fix: str = "") -> LineResult:
    """It does not prevent signing."""
    return LineResult(state=LineState.LOOK, text=text, fix=fix)


def bad(text: str, fix: str = "") -> LineResult:
    """The night would fail on it."""
    return LineResult(state=LineState.BAD, text=text, fix=fix)


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


def setup_text(choice: SetupChoice, listed: Sequence[str]) -> LineResult | None:
    """Say that a lockfile asks for a setup whose registries may not be read; nothing where it does not."""
    if not choice.held:
        return None
    files = " and ".join(f"{one.file} asks for `{one.command}`" for one in choice.held)
    clients = [one.client for one in choice.held]
    text = f"{files}, but setups may not read {_joined(clients)}'s registries, so it is not run."
    return look(text, f"Allow it: {allowing(clients, listed)}")


def _joined(words: Sequence[str]) -> str:
    return " and ".join(dict.fromkeys(words))


def checks_text(
    results: Sequence[CheckResult],
    project: ProjectTried,
    minutes: float,
    found: Sequence[SetupProposal] = (),
    listed: Sequence[str] = (),
) -> LineResult:
    """Say how the project's checks end before any change; a night is judged against that.

    `found` is what the checkout asks for as its setup, `listed` what setups may reach.
    """
    branch = project.branch
    absent = [(one, tool) for one in results if not one.green and (tool := missing_tool(one))]
    if absent:
        one, tool = absent[0]
        text, fix = (
            f"`{one.command}` cannot run: {tool} is not there",
            how_to_get(tool, one, project.name, found, listed),
        )
        if one.source is CheckSource.FOUND:
            return look(f"{text}, so nothing proves the work.", fix)
        return bad(f"{text}.", fix)
    late = [one for one in results if one.exit_code == WALL]
    if late:
        text = f"`{late[0].command}` did not finish in {minutes:g} min, so it is unknown whether {branch} is green."
        return look(text, "Give it longer: midwatch settings propose preflight.max_minutes=60")
    empty = [(one, why) for one in results if (why := proves_nothing(one))]
    if empty:
        one, why = empty[0]
        fix = f'Name a check that does: midwatch project change {project.name} --check "..."'
        return look(f"`{one.command}` was found and proves nothing: {why}.", fix)
    seconds = sum(one.seconds for one in results)
    red = [one for one in results if not one.green]
    if red:
        text = f"{_named(red)} red on {branch} already; the night will be judged against that."
        return look(text, "Fix it first, or order the fix.")
    named = "`" + results[0].command + "` is" if len(results) == 1 else f"{len(results)} checks are"
    return ok(f"{named} green on {branch} ({seconds:.0f} s).")


def _named(red: Sequence[CheckResult]) -> str:
    first = red[0]
    failures = f" ({some(first.failures, 'failure')})" if first.failures else ""
    named = f"`{first.command}`{failures}"
    return f"{named} is" if len(red) == 1 else f"{named} and {len(red) - 1} more are"


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
    if not agent.good:
        return bad(agent.sentence, _fixing(agent))
    if agent.untested:
        return look(f"{agent.sentence} Its program is {agent.untested}.", f"The tested one: {agent.install}")
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
        return bad(f"{_size(disk)} of disk free; no job starts below {_size(least_disk)}.", "Free some disk.")
    if memory < least_memory:
        text = f"{_size(memory)} of memory free; no job starts below {_size(least_memory)}."
        return bad(text, "Close what is not needed tonight.")
    return ok(f"{_size(disk)} of disk and {_size(memory)} of memory free.")


def _size(count: int) -> str:
    return f"{count / GIB:.1f} GiB" if count >= GIB else f"{count // MIB} MiB"


def sleep_text(seen: SleepSeen) -> LineResult:
    """Say whether the machine stays awake."""
    if seen.will == "no":
        return ok(f"It will not sleep tonight. {seen.why}")
    words = "It may sleep tonight." if seen.will == "maybe" else "It will probably sleep tonight."
    return look(f"{words} {seen.why}", seen.fix)


def still_holds(ended_at: datetime | None, now: datetime, minutes: float, *, bad: bool) -> bool:
    """A preflight that found nothing bad counts for a while."""
    return ended_at is not None and not bad and now - ended_at <= timedelta(minutes=minutes)
