"""Sections about the night itself: who proposes, what the gate weighs, how long things last."""

from typing import Annotated, Self

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
    """Sessions that begin by themselves, under standing orders."""

    enabled: bool = False
    """Whether standing orders may begin sessions (seed 003: AUTONOMOUS_ENABLED). Has no effect yet."""
    interval_minutes: Minutes = 60
    """Least time between two sessions that begin by themselves (seed 003: AUTONOMOUS_INTERVAL). Has no effect yet."""
    max_daily_sessions: Few = 10
    """Most sessions a day (seed 003: AUTONOMOUS_MAX_DAILY)."""
    idle_timeout_minutes: Minutes = 30
    """A session without job, run, blocking ask or planned wait ends after this (seed 003: AUTONOMOUS_IDLE_TIMEOUT)."""


class BrainSettings(SettingsSection):
    """The model that proposes; it never acts."""

    enabled: bool = False
    """Whether a model is asked at all; without one our own rules propose (seed 000: ai.enabled). Has no effect yet."""
    model: Name = "sonnet"
    """The model that thinks (seed 000: ai.model). Has no effect yet."""
    max_prompt_characters: Many = 8000
    """Longest prompt of a think; what matters least is cut (seed 000: ai.maxPromptLength). Has no effect yet."""
    max_concurrent_thinks: Annotated[int, Field(ge=1, le=1)] = 1
    """Thinks at the same time: one (seed 000: ai.resourceLimits.maxConcurrentThinks). Has no effect yet."""
    cli_timeout_seconds: Seconds = 30
    """Total time a model behind a command line has for one answer. Has no effect yet."""
    api_timeout_seconds: Seconds = 60
    """Total time a model behind an API has for one answer. Has no effect yet."""


class RoundsSettings(SettingsSection):
    """When the loop turns."""

    interval_seconds: Seconds = 300
    """Time between two rounds when the brain has no wish (seed 000: ai.thinkIntervalMs)."""
    min_interval_seconds: Seconds = 60
    """The soonest next round a brain may wish for."""
    max_interval_seconds: Seconds = 1800
    """The latest next round a brain may wish for."""
    scan_seconds: Seconds = 60
    """Time between two scans for signals, time-outs and orphans. Has no effect yet."""
    max_proposals: Few = 5
    """Most proposals of one round that are looked at."""

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if not self.min_interval_seconds <= self.interval_seconds <= self.max_interval_seconds:
            raise ValueError(
                f"rounds.interval_seconds ({self.interval_seconds:g}) must lie between rounds.min_interval_seconds "
                f"({self.min_interval_seconds:g}) and rounds.max_interval_seconds ({self.max_interval_seconds:g})"
            )
        return self


class GateSettings(SettingsSection):
    """What the gate weighs before an act."""

    level: Level = Level.OBSERVE
    """The level of a fresh house; `midwatch level` changes it from then on (seed 000: ai.autonomyLevel)."""
    protected_projects: tuple[Name, ...] = ()
    """Projects no brain may act on (seed 000: ai.protectedProjects)."""
    same_action_minutes: Minutes = 5
    """The same act on the same target waits this long (seed 000: ai.cooldowns.sameActionMs)."""
    same_project_minutes: Minutes = 10
    """The next act on the same project waits this long (seed 000: ai.cooldowns.sameProjectMs)."""
    young_job_minutes: Minutes = 30
    """A healthy job younger than this is not stopped by a brain."""
    spin_repeats: Few = 3
    """So many acts of one kind on one target with nothing new from them pause the session."""
    rounds_at_observe: Many = 12
    """Valid rounds at observe before the level may be raised to cautious."""
    clean_nights_per_step: Few = 3
    """Nights without a severe flag before each further step of the level."""
    unisolated_agents: bool = False
    """Whether a person forces model-driven agents to run at cautious where nothing isolates them."""


class CouncilSettings(SettingsSection):
    """How the four voices count."""

    objections_that_ask: Annotated[int, Field(ge=1, le=4)] = 2
    """So many objecting voices turn doing into asking first."""
    min_agreement: Share = 0.5
    """Below this share of supporting voices guidance is asked."""
    min_confidence: Share = 0.4
    """Below this confidence of the brain guidance is asked."""


class LimitsSettings(SettingsSection):
    """Ceilings of a session where the orders say nothing; what orders name, lower or higher, stands."""

    session_minutes: Many = 600
    """Longest session."""
    session_usd: Usd = 50
    """Most a session spends."""
    session_tokens: Tokens = 20_000_000
    """Most tokens of a session."""
    session_max_requests: Many = 10_000
    """Most requests to models of a session."""
    session_rounds: Many = 500
    """Most rounds of a session."""
    alert_percent: Percent = 80
    """At this share of any budget an alert goes out."""


class CheckinsSettings(SettingsSection):
    """When the night gives a sign of life."""

    every_minutes: Minutes = 25
    """Time between two check-ins."""
    keep_alive_minutes: Minutes = 15
    """Without a visible entry for so long, a sign of life follows."""
    every_decisions: Few = 10
    """A check-in after so many decisions."""
    budget_percents: tuple[Percent, ...] = (50, 80, 100)
    """Shares of a limit at which a check-in is due."""


class ProjectsSettings(SettingsSection):
    """How projects are looked at."""

    stale_days: Days = 3
    """A project without activity for longer counts as stale (seed 000: ai.stalenessDays). Has no effect yet."""
