"""Sections about people and the server: asks, notices, the morning, history, database, server."""

from typing import Annotated

from pydantic import ConfigDict, Field

from midwatch.settings.section import (
    ClockTime,
    DatabaseUrl,
    Days,
    Few,
    Host,
    Hours,
    Many,
    Minutes,
    Reference,
    SettingsSection,
    Share,
    TimeSpan,
    TimeZone,
)

DAY = 24 * 60
MinutesOrDayEnd = Annotated[float, Field(ge=0, le=28 * DAY)]


class AsksSettings(SettingsSection):
    """How long each kind of ask waits for an answer."""

    approve_plan_minutes: Minutes = 20
    """How long a plan waits for approval."""
    confirm_act_minutes: Minutes = 5
    """How long an action waits for your yes; after that it is dropped."""
    guidance_error_minutes: Minutes = 15
    """How long a critical error waits for guidance; after that the session stops and reports."""
    guidance_uncertain_minutes: Minutes = 60
    """How long an uncertain item waits for guidance; after that it is parked."""
    question_minutes: MinutesOrDayEnd = 0
    """How long a question waits; 0 means until the end of the next day."""
    decision_minutes: MinutesOrDayEnd = 0
    """How long a decision waits; 0 means until the end of the next day."""
    memory_minutes: Minutes = 7 * DAY
    """How long a memory waits for approval; after that it stays proposed. Has no effect yet."""
    conflict_minutes: Minutes = 7 * DAY
    """How long a conflict between memories waits; after that it stays unresolved. Has no effect yet."""
    authority_minutes: Minutes = 7 * DAY
    """How long a change of authority waits for a verdict; after that nothing changes. Has no effect yet."""
    spend_minutes: Minutes = 60
    """How long a request to spend more waits; after that the answer is no."""
    default_priority: Annotated[int, Field(ge=1, le=10)] = 5
    """Priority of an ask that names none; 10 is the most urgent."""


class PreflightSettings(SettingsSection):
    """The check of everything a night will need, before it is signed."""

    max_minutes: Minutes = 10
    """Time limit for each clone, setup or check run before signing; the night itself allows more."""
    fresh_minutes: Minutes = 30
    """How long a successful preflight remains valid for the same orders."""


class NoticesSettings(SettingsSection):
    """When and how often notices are sent."""

    quiet_hours: TimeSpan = "22:00-07:00"
    """Local hours in which only urgent notices are sent; empty means none."""
    urgent_bypass_quiet: bool = True
    """Sends urgent notices during quiet hours too."""
    daily_budget: Annotated[int, Field(ge=0, le=1000)] = 20
    """Maximum number of notices per day and person; urgent ones are sent regardless."""
    budget_warning_share: Share = 0.8
    """A warning is added at this share of the daily budget."""
    batch_minutes: Minutes = 240
    """Maximum time that routine notices are held back to be sent together."""
    errors_that_wake: Few = 2
    """After more consecutive failures than this in one project, the notice is urgent."""
    digest_time: ClockTime = "07:00"
    """Local time of the digest: briefs made in quiet hours, and notices over the daily budget."""
    digest_max_characters: Many = 1000
    """Maximum length of the brief when it is pushed."""
    split_characters: Many = 1500
    """Longer texts are split on channels like SMS."""
    on_plan_ready: bool = True
    """Sends a notice when a plan waits for approval."""
    on_progress_milestones: bool = True
    """Sends a notice at milestones of a job."""
    on_complete: bool = True
    """Sends a notice when work is finished."""
    on_error: bool = True
    """Sends a notice when a job fails or an agent reports trouble; asks are always sent."""


class ReviewSettings(SettingsSection):
    """The morning: its brief and its verdicts."""

    due_hours: Hours = 36
    """A review counts if it is given within this time after the brief."""
    brief_max_words: Annotated[int, Field(ge=100, le=2000)] = 400
    """Maximum length of the brief."""
    useful_rating: Annotated[int, Field(ge=3, le=5)] = 4
    """A run with at least this rating was useful. Has no effect yet."""
    low_value_rating: Annotated[int, Field(ge=1, le=2)] = 2
    """A run with at most this rating was of low value. Has no effect yet."""


class ScoresSettings(SettingsSection):
    """Thresholds of the scores."""

    degraded_below: Share = 0.5
    """A run with a lower score is degraded. Has no effect yet."""
    low_value_share: Share = 0.4
    """A run with a larger share of low-value actions is aborted. Has no effect yet."""
    low_value_min_acts: Few = 5
    """Minimum number of actions before that share counts. Has no effect yet."""
    evidence_fresh_days: Days = 90
    """Evidence younger than this is fresh. Has no effect yet."""
    evidence_old_days: Days = 730
    """Evidence older than this loses quality. Has no effect yet."""


class HistorySettings(SettingsSection):
    """How long things are kept before they move to the archive."""

    traces_days: Days = 30
    """Days that raw traces are kept. Has no effect yet."""
    decisions_max: Many = 1000
    """Maximum number of decisions kept. Has no effect yet."""
    decisions_days: Days = 90
    """Days that decisions are kept. Has no effect yet."""
    notices_days: Days = 90
    """Days that notices are kept. Has no effect yet."""


class DatabaseSettings(SettingsSection):
    """The database."""

    url: DatabaseUrl = ""
    """URL of the database; empty means a SQLite file in the data folder."""


class ServerSettings(SettingsSection):
    """How the server runs."""

    time_zone: TimeZone = ""
    """Your time zone; empty means the machine's."""
    queue_poll_seconds: Annotated[float, Field(ge=0.05, le=60)] = 1.0
    """Time between two looks at the queue of work."""
    host: Host = "127.0.0.1"
    """Address that the pages are served on; anything but this machine belongs behind a proxy with TLS."""
    port: Annotated[int, Field(ge=0, le=65535)] = 8484
    """Port that the pages are served on; 0 serves no pages."""
    allowed_hosts: tuple[Host, ...] = ()
    """Host names that the pages accept besides this machine, such as `night.example.org` behind a proxy."""
    login_idle_hours: Hours = 12
    """A login expires after this long without use."""
    login_days: Days = 14
    """A login expires after this many days, used or not."""
    lease_seconds: Annotated[float, Field(ge=0.5, le=300)] = 3.0
    """How long a silent server still counts as running."""


class SecretsSettings(SettingsSection):
    """Where each secret is stored, under a name the person chose; never its value."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Reference]

    def by_name(self) -> dict[str, str]:
        """Give every reference by its name."""
        return {name: reference for name, reference in (self.__pydantic_extra__ or {}).items() if reference}
