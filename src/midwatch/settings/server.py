"""Sections about the person and the house: asks, notices, the morning, history, database, server."""

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
    """How long each kind of ask waits before silence means something."""

    approve_plan_minutes: Minutes = 20
    """How long a plan waits for approval (seed 004: planning.autoApproveMinutes)."""
    confirm_act_minutes: Minutes = 5
    """How long an act waits for a yes; then it is not done."""
    guidance_error_minutes: Minutes = 15
    """How long a critical error waits for guidance; then the session stops and reports."""
    guidance_uncertain_minutes: Minutes = 60
    """How long an uncertain item waits for guidance; then it is parked."""
    question_minutes: MinutesOrDayEnd = 0
    """How long a question waits; 0 is until the end of the next day."""
    decision_minutes: MinutesOrDayEnd = 0
    """How long a decision waits; 0 is until the end of the next day."""
    memory_minutes: Minutes = 7 * DAY
    """How long a memory waits for approval; then it stays proposed. Has no effect yet."""
    conflict_minutes: Minutes = 7 * DAY
    """How long a conflict of memories waits; then it stays unresolved. Has no effect yet."""
    authority_minutes: Minutes = 7 * DAY
    """How long a change of authority waits for a verdict; then it is kept. Has no effect yet."""
    spend_minutes: Minutes = 60
    """How long a request to spend more waits; then the answer is no."""
    default_priority: Annotated[int, Field(ge=1, le=10)] = 5
    """Priority of an ask that names none; 10 is the most urgent."""


class PreflightSettings(SettingsSection):
    """The look at everything a night will need, before it is signed."""

    max_minutes: Minutes = 10
    """Longest clone, setup or run of checks while a person waits to sign; the night itself gives them longer."""
    fresh_minutes: Minutes = 30
    """How long a preflight that found nothing bad counts for the same orders."""


class NoticesSettings(SettingsSection):
    """How often and when a person is told something."""

    quiet_hours: TimeSpan = "22:00-07:00"
    """Local hours in which only urgent notices go out; nothing at all means no quiet hours."""
    urgent_bypass_quiet: bool = True
    """Whether urgent notices break quiet hours (seed 000: ai.notifications.urgentBypassQuiet)."""
    daily_budget: Annotated[int, Field(ge=0, le=1000)] = 20
    """Most notices a day and person; urgent ones go out even after that (seed 000: ai.notifications.dailyBudget)."""
    budget_warning_share: Share = 0.8
    """Share of the daily budget at which a warning is added."""
    batch_minutes: Minutes = 240
    """Longest wait of a batch of routine notices (seed 000: ai.notifications.batchIntervalMs)."""
    errors_that_wake: Few = 2
    """After more failed tries in a row than this in one project, the notice is urgent."""
    digest_time: ClockTime = "07:00"
    """Local time of the digest: briefs made in quiet hours, and what the day's budget kept back."""
    digest_max_characters: Many = 1000
    """Longest pushed form of the brief."""
    split_characters: Many = 1500
    """Longer texts are split on channels like SMS."""
    on_plan_ready: bool = True
    """Whether a plan that waits is told (seed 004: notifications.onPlanReady)."""
    on_progress_milestones: bool = True
    """Whether milestones of a job are told (seed 004: notifications.onProgressMilestones)."""
    on_complete: bool = True
    """Whether finished work is told (seed 004: notifications.onComplete)."""
    on_error: bool = True
    """Whether a failed job and an agent's trouble are told (seed 004: notifications.onError); asks always are."""


class ReviewSettings(SettingsSection):
    """The morning: its brief and its verdicts."""

    due_hours: Hours = 36
    """Time after the brief in which a review counts."""
    brief_max_words: Annotated[int, Field(ge=100, le=2000)] = 400
    """Longest brief."""
    useful_rating: Annotated[int, Field(ge=3, le=5)] = 4
    """A run rated at least this was useful. Has no effect yet."""
    low_value_rating: Annotated[int, Field(ge=1, le=2)] = 2
    """A run rated at most this was of low value. Has no effect yet."""


class ScoresSettings(SettingsSection):
    """Where a score begins to mean something."""

    degraded_below: Share = 0.5
    """A run with a lower score is degraded. Has no effect yet."""
    low_value_share: Share = 0.4
    """A run with a larger share of acts of low value is aborted. Has no effect yet."""
    low_value_min_acts: Few = 5
    """Acts a run must have before that share counts. Has no effect yet."""
    evidence_fresh_days: Days = 90
    """Evidence younger than this is fresh. Has no effect yet."""
    evidence_old_days: Days = 730
    """Evidence older than this loses quality. Has no effect yet."""


class HistorySettings(SettingsSection):
    """How long things are kept before they move to the archive."""

    traces_days: Days = 30
    """Days that raw traces are kept. Has no effect yet."""
    decisions_max: Many = 1000
    """Most decisions that are kept. Has no effect yet."""
    decisions_days: Days = 90
    """Days that decisions are kept. Has no effect yet."""
    notices_days: Days = 90
    """Days that notices are kept. Has no effect yet."""


class DatabaseSettings(SettingsSection):
    """Where the records live."""

    url: DatabaseUrl = ""
    """Where the records live; nothing at all means a SQLite file in the data folder."""


class ServerSettings(SettingsSection):
    """How the server runs."""

    time_zone: TimeZone = ""
    """The person's time zone; nothing at all means the machine's."""
    queue_poll_seconds: Annotated[float, Field(ge=0.05, le=60)] = 1.0
    """Time between two looks at the queue of work."""
    host: Host = "127.0.0.1"
    """The address the pages are served on. Anything but this machine itself belongs behind a proxy with TLS."""
    port: Annotated[int, Field(ge=0, le=65535)] = 8484
    """The port the pages are served on; 0 serves no pages."""
    allowed_hosts: tuple[Host, ...] = ()
    """Names by which a proxy in front may call the pages, such as `night.example.org`; anything else is turned away."""
    login_idle_hours: Hours = 12
    """A login unused for so long is over."""
    login_days: Days = 14
    """A login is over after so long, used or not."""
    lease_seconds: Annotated[float, Field(ge=0.5, le=300)] = 3.0
    """How long a silent server still counts as alive."""


class SecretsSettings(SettingsSection):
    """Where the secrets of the house are kept, each under a name the person chose; never what they are."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Reference]

    def by_name(self) -> dict[str, str]:
        """Give every reference by its name."""
        return {name: reference for name, reference in (self.__pydantic_extra__ or {}).items() if reference}
