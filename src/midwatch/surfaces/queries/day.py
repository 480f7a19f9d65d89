"""Reads of the day: projects, goals, work, settings, the level."""

from midwatch.compose.read_side import ReadSide
from midwatch.evening import projects as by_day
from midwatch.rules.budget.egress import setup_clients
from midwatch.rules.checks.discovery import Looked, propose_checks
from midwatch.rules.checks.setups import SetupProposal, choose_setup, letting_run, propose_setups
from midwatch.settings import SettingChange, SettingRow, diff
from midwatch.surfaces.queries.reads import Page, ReadTable, fields
from midwatch.terms.forges import LOCAL
from midwatch.terms.records import GoalRow, ProjectRow, SettingsRow, WorkRow
from midwatch.terms.term import Term
from midwatch.terms.trust import Level

READS = ReadTable()


class SetupFound(Term):
    """A setup that a file of the project asks for."""

    command: str
    file: str
    runs: bool
    """Whether it is run by itself; else `fix` says what to do."""
    fix: str


class ProjectWhole(ProjectRow):
    """A project with its goals and work, where its work is delivered, and what was found in it."""

    found_checks: tuple[str, ...]
    """What is tried in the evening and run at night, because the project names no checks."""
    found_setup: tuple[SetupFound, ...]
    looked: bool
    """Whether its files could be read; those of a URL are here after the first preflight."""
    goals: tuple[GoalRow, ...]
    work: tuple[WorkRow, ...]
    delivers_to: str


class LevelSet(Term):
    """The standing level, and that of the night that runs."""

    level: Level
    tonight: Level | None = None


class LevelShown(LevelSet):
    """The level, and the track record that a higher one needs."""

    observed_rounds: int
    clean_nights: int


class ForgeListed(Term):
    """A forge, with the name of its token's secret and never the token."""

    name: str
    speaks: str
    base_url: str
    host: str
    """The host of its repositories; empty for the local one, which is this machine."""
    secret: str
    draft: bool


@READS.at("/forges")
async def forges(house: ReadSide) -> list[ForgeListed]:
    """List where pull requests can be opened: in the repository itself, and at each forge of the settings."""
    await house.reload_settings()
    local = ForgeListed(name=LOCAL, speaks="git", base_url="", host="", secret="", draft=False)
    return [
        local,
        *(
            ForgeListed(
                name=name,
                speaks=one.speaks or name,
                base_url=one.base_url,
                host=one.repositories_at,
                secret=one.secret,
                draft=one.draft,
            )
            for name, one in house.loaded.settings.forges.by_name().items()
        ),
    ]


@READS.at("/projects")
async def projects(house: ReadSide, page: Page) -> list[ProjectRow]:
    """List the projects."""
    return page.of(await house.records.find(ProjectRow, removed=False))


@READS.at("/projects/{name}")
async def project(house: ReadSide, name: str) -> ProjectWhole:
    """Show one project with its goals and work."""
    row = await house.records.get(ProjectRow, name)
    looked = await house.found_in(row)
    here = looked or Looked()
    return ProjectWhole(
        found_checks=() if row.checks else propose_checks(here),
        found_setup=() if row.setup else _setups(house, row, propose_setups(here)),
        looked=looked is not None,
        **fields(row),
        goals=await house.records.find(GoalRow, project=row.id, current=True),
        work=await house.records.find(WorkRow, project=row.id),
        delivers_to=row.forge or house.loaded.settings.forges.at(row.path),
    )


def _setups(house: ReadSide, row: ProjectRow, found: tuple[SetupProposal, ...]) -> tuple[SetupFound, ...]:
    """Say of each setup that was found whether it is run, and what lets it run if not."""
    sandbox = house.loaded.settings.sandbox
    allowed = setup_clients(sandbox.setup_domains, sandbox.registries)
    chosen = choose_setup("", found, allowed).chosen
    waiting = [one for one in found if one not in chosen]
    fix = letting_run(waiting, found, row.name, allowed)  # one for all of them: a named setup replaces another
    return tuple(
        SetupFound(command=one.command, file=one.file, runs=one in chosen, fix="" if one in chosen else fix)
        for one in found
    )


@READS.at("/goals")
async def goals(house: ReadSide, project: str = "") -> list[GoalRow]:
    """List current goals."""
    where = {"project": (await house.records.get(ProjectRow, project)).id} if project else {}
    return list(await house.records.find(GoalRow, current=True, **where))


@READS.at("/work")
async def work(house: ReadSide, page: Page, project: str = "") -> list[WorkRow]:
    """List work items."""
    where = {"project": (await house.records.get(ProjectRow, project)).id} if project else {}
    return page.of(await house.records.find(WorkRow, **where))


@READS.at("/settings")
async def settings(house: ReadSide) -> list[SettingRow]:
    """List every setting with its value, default and source."""
    await house.reload_settings()
    return list(house.loaded.rows())


@READS.at("/settings/proposals")
async def proposals(house: ReadSide, page: Page) -> list[SettingsRow]:
    """List proposed, applied and discarded changes."""
    return page.of(await house.records.find(SettingsRow))


@READS.at("/settings/proposals/{name}/diff")
async def proposal_diff(house: ReadSide, name: str) -> list[SettingChange]:
    """Show what a proposal would change now."""
    row = await house.records.get(SettingsRow, name)
    await house.reload_settings()
    return list(diff(house.loaded, row.changes))


@READS.at("/level")
async def level(house: ReadSide) -> LevelShown:
    """Return the standing level, and the one of the night that runs."""
    seen = await by_day.track_record(house.records)
    return LevelShown(
        level=await by_day.current_level(house.records, house.loaded.settings),
        tonight=await by_day.tonight_level(house.records),
        observed_rounds=seen.valid_rounds,
        clean_nights=seen.clean_nights,
    )
