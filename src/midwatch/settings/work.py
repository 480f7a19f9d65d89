"""Sections about the work: jobs, their planning and execution, and what starts them."""

from typing import Annotated, Literal

from pydantic import Field

from midwatch.settings.section import Few, Many, Mebibytes, Minutes, Name, Section, Tokens, Usd


class Jobs(Section):
    """How many agents work at once, and what the machine must have left."""

    max_per_project: Few = 1
    """Most jobs at work in one project."""
    max_in_all: Few = 5
    """Most jobs at work in all."""
    max_retries: Few = 3
    """Tries per cause, and per project in a row, before a person is told (seed 000: ai.maxErrorRetries)."""
    min_free_memory_mib: Mebibytes = 2048
    """Memory that must stay free for a job to begin (seed 000: ai.resourceLimits.minFreeMemoryMB)."""
    min_free_disk_mib: Mebibytes = 5120
    """Disk that must stay free for a job to begin."""


class Planning(Section):
    """The read-only run that makes a plan; how long a plan waits for approval is asks.approve_plan_minutes."""

    max_cost_usd: Usd = 1
    """Most a planning run may cost (seed 004: planning.maxPlanningCostUsd)."""


class Execution(Section):
    """The unattended run that carries a plan out."""

    max_cost_usd: Usd = 20
    """Most a job may cost (seed 004: execution.maxCostUsd)."""
    max_duration_minutes: Many = 120
    """Longest job (seed 004: execution.maxDurationMinutes)."""
    max_tokens: Tokens = 2_000_000
    """Most tokens of a job."""
    max_requests: Many = 1000
    """Most requests to models of a job."""
    max_files_changed: Many = 20
    """Most files one job may change (seed 002: max_files_changed)."""
    max_diff_lines: Many = 800
    """Most lines one job may add and remove together (seed 002: max_diff_lines)."""
    idle_minutes: Minutes = 10
    """A job that says nothing for so long is stopped with its work kept."""
    soft_box_minutes: Minutes = 45
    """A job a brain started is warned after this (seed 000: ai.maxSessionDurationMs)."""
    soft_box_extra_minutes: Annotated[float, Field(ge=0, le=24 * 60)] = 5
    """Time between warning and stop; 0 stops without a warning (seed 000: ai.timeoutAction)."""
    repair_rounds: Annotated[int, Field(ge=0, le=100)] = 3
    """Most rounds of repair for each check that is red (seed 004: execution.maxRetries)."""
    max_check_reruns: Annotated[int, Field(ge=0, le=20)] = 2
    """How often a check that turned red is run again, to tell a flaky one from a red one."""
    deliver_red: Literal["never", "draft"] = "never"
    """What becomes of work whose checks stay red: kept and told, or delivered as a draft that says so."""
    allowed_tools: tuple[Name, ...] = (
        *("Read", "Edit", "Write", "Glob", "Grep"),
        *("Bash(git *)", "Bash(tsc *)", "Bash(vitest *)", "Bash(bun *)"),
    )
    """Tools a model-driven agent may use, in its own words (seed 004: execution.allowedTools)."""
    commit_strategy: Literal["incremental", "single"] = "incremental"
    """Whether an agent commits in pieces or once at the end (seed 004: execution.commitStrategy)."""


class Stack(Section):
    """The branches of a night, merged and checked together at dawn."""

    at_dawn: bool = True
    """Whether the end of a night checks which of its branches go together, before the brief is written."""
    include_older: bool = False
    """Whether open pull requests of earlier nights are looked at as well."""
    max_minutes: Minutes = 20
    """Longest time a stack may take; the brief is then written without the rest."""
    max_check_runs: Few = 16
    """Most times the checks are run to find which branches break them together."""


class Triggers(Section):
    """What starts work without a command."""

    heartbeat_enabled: bool = False
    """Whether issues of a tracker start work (seed 004: triggers.heartbeatEnabled). Has no effect yet."""
    heartbeat_minutes: Minutes = 15
    """Time between two looks at the tracker. Has no effect yet."""
    tracker_label: Name = "midwatch"
    """The label that hands an issue to us (seed 004: triggers.linearLabel, there its own name). Has no effect yet."""
    max_heartbeat_jobs: Few = 1
    """Most jobs at work that a heartbeat started (seed 004: triggers.maxConcurrentSessions). Has no effect yet."""
    pause_if_open_pull_request: bool = True
    """Whether our open pull request keeps new work out (seed 004: triggers.pauseIfOpenPR). Has no effect yet."""
