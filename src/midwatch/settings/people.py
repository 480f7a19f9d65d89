"""Sections about people: how long asks wait, notices, preflight, the review and its scores."""

from typing import Annotated

from pydantic import Field

from midwatch.settings.section import (
    ClockTime,
    Days,
    Few,
    Hours,
    Many,
    Minutes,
    SettingsSection,
    Share,
    TimeSpan,
)

DAY = 24 * 60
MinutesOrDayEnd = Annotated[float, Field(ge=0, le=28 * DAY)]


class AsksSettings(SettingsSection):
    """How long each kind of ask waits for an answer; `rules/people/asks.py` makes the deadline of it."""

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
    """A run with a larger share of low-value actions is stopped."""
    low_value_min_acts: Few = 5
    """Minimum number of actions before that share counts."""
    evidence_fresh_days: Days = 90
    """Evidence younger than this is fresh. Has no effect yet."""
    evidence_old_days: Days = 730
    """Evidence older than this loses quality. Has no effect yet."""
