"""Sections about a session: who proposes, what the gate checks, and its limits."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from midwatch.settings.section import (
    Days,
    Few,
    Many,
    Minutes,
    Name,
    Percent,
    Seconds,
    SettingsSection,
    Share,
    Tokens,
    Usd,
)
from midwatch.terms.trust import Level


class AutonomousSettings(SettingsSection):
    """Sessions that standing orders start."""

    enabled: bool = False
    """Lets standing orders start sessions. Has no effect yet."""
    interval_minutes: Minutes = 60
    """Minimum time between two sessions that standing orders start. Has no effect yet."""
    max_daily_sessions: Few = 10
    """Maximum number of sessions per day."""
    idle_timeout_minutes: Minutes = 30
    """A session with no job, run, blocking ask or planned wait ends after this time."""


class BrainSettings(SettingsSection):
    """The model that proposes; it never acts."""

    enabled: bool = False
    """Asks a model for proposals; otherwise built-in rules propose. Has no effect yet."""
    model: Name = "sonnet"
    """The model that proposes. Has no effect yet."""
    max_prompt_characters: Many = 8000
    """Maximum length of the prompt; the least important parts are cut. Has no effect yet."""
    max_concurrent_thinks: Annotated[int, Field(ge=1, le=1)] = 1
    """Number of requests for proposals at the same time; always 1. Has no effect yet."""
    cli_timeout_seconds: Seconds = 30
    """Time limit for one answer of a model behind a command line. Has no effect yet."""
    api_timeout_seconds: Seconds = 60
    """Time limit for one answer of a model behind an API. Has no effect yet."""


class RoundsSettings(SettingsSection):
    """When rounds happen."""

    interval_seconds: Seconds = 300
    """Time between two rounds when the brain requests no other."""
    min_interval_seconds: Seconds = 60
    """Shortest time to the next round that a brain may request."""
    max_interval_seconds: Seconds = 1800
    """Longest time to the next round that a brain may request."""
    scan_seconds: Seconds = 60
    """Time between two scans for signals, time-outs and orphans. Has no effect yet."""
    max_proposals: Few = 5
    """Maximum number of proposals considered per round."""

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if not self.min_interval_seconds <= self.interval_seconds <= self.max_interval_seconds:
            raise ValueError(
                f"rounds.interval_seconds ({self.interval_seconds:g}) must be between rounds.min_interval_seconds "
                f"({self.min_interval_seconds:g}) and rounds.max_interval_seconds ({self.max_interval_seconds:g})"
            )
        return self


class GateSettings(SettingsSection):
    """What the gate checks before an action."""

    level: Level = Level.OBSERVE
    """Autonomy level of a new installation; later changes are made with `midwatch level`."""
    protected_projects: tuple[Name, ...] = ()
    """Projects that no brain may act on."""
    same_action_minutes: Minutes = 5
    """Cooldown before the same action on the same target."""
    same_project_minutes: Minutes = 10
    """Cooldown before the next action on the same project."""
    young_job_minutes: Minutes = 30
    """A brain may not stop a healthy job younger than this."""
    spin_repeats: Few = 3
    """This many actions of one kind on one target without a new result pause the session."""
    rounds_at_observe: Many = 12
    """Valid rounds at observe that are required before the level may be raised to cautious."""
    clean_nights_per_step: Few = 3
    """Nights without a severe flag that are required before each further level."""
    unisolated_agents: bool = False
    """Allows model-driven agents at cautious on a machine without isolation."""


class CouncilSettings(SettingsSection):
    """How the votes of the council count."""

    objections_that_ask: Annotated[int, Field(ge=1, le=4)] = 2
    """This many objecting voices turn an action into a question to you."""
    min_agreement: Share = 0.5
    """Below this share of supporting voices you are asked for guidance."""
    min_confidence: Share = 0.4
    """Below this confidence of the brain you are asked for guidance."""


class LimitsSettings(SettingsSection):
    """Limits of a session; orders override them, lower or higher."""

    session_minutes: Many = 600
    """Maximum duration of a session."""
    session_usd: Usd = 50
    """Maximum spending of a session, in dollars."""
    session_tokens: Tokens = 20_000_000
    """Maximum number of tokens per session."""
    session_max_requests: Many = 10_000
    """Maximum number of requests to models per session."""
    session_rounds: Many = 500
    """Maximum number of rounds per session."""
    unstated_usd: Usd = 5
    """Maximum spending of a session whose orders have no limits at all, in dollars."""
    unstated_tokens: Tokens = 2_000_000
    """Maximum number of tokens of a session whose orders have no limits at all."""
    alert_percent: Percent = 80
    """An alert is sent at this share of any budget."""


class CeilingsSettings(SettingsSection):
    """How far orders and commands of people below an owner, and of programs with a token, may go.

    What is usual is always granted: the standing level, `limits` and `execution`.
    """

    level: Literal["standing", "observe", "cautious", "moderate", "full"] = "standing"
    """Highest level that they may order, where it is higher than the standing one."""
    session_usd: Usd = 0
    """Maximum spending of a session that they may order, in dollars, where it is more than limits.session_usd."""
    session_tokens: Tokens = 0
    """Maximum number of tokens of a session that they may order, where it is more than limits.session_tokens."""
    session_minutes: Annotated[int, Field(ge=0, le=1_000_000)] = 0
    """Maximum duration of a session that they may order, where it is more than limits.session_minutes."""
    session_rounds: Annotated[int, Field(ge=0, le=1_000_000)] = 0
    """Maximum number of rounds that they may order, where it is more than limits.session_rounds."""
    job_usd: Usd = 0
    """Maximum spending of a job that they may order or grant, where it is more than execution.max_cost_usd."""
    job_minutes: Annotated[int, Field(ge=0, le=1_000_000)] = 0
    """Maximum duration of a job that they may order, where it is more than execution.max_duration_minutes."""
    domains: tuple[Name, ...] = ()
    """Hosts that they may name in orders, besides sandbox.domains; *.example.org means all hosts under it."""
    tools: tuple[Name, ...] = ()
    """The only tools that they may name or always allow, such as Bash(npm *); empty: any."""


class CheckinsSettings(SettingsSection):
    """When a session reports."""

    every_minutes: Minutes = 25
    """Time between two check-ins."""
    keep_alive_minutes: Minutes = 15
    """A check-in follows after this long without a visible entry."""
    every_decisions: Few = 10
    """A check-in follows after this many decisions."""
    budget_percents: tuple[Percent, ...] = (50, 80, 100)
    """Shares of a limit at which a check-in follows."""


class ProjectsSettings(SettingsSection):
    """How projects are judged."""

    stale_days: Days = 3
    """A project without activity for longer is stale. Has no effect yet."""
