"""Sections about the work: jobs, their planning and execution, their sandbox, and what starts them."""

from typing import Annotated, Literal

from pydantic import Field

from midwatch.settings.section import (
    Allowed,
    Days,
    Few,
    Many,
    Mebibytes,
    Minutes,
    Name,
    Seconds,
    SettingsSection,
    Share,
    Tokens,
    Usd,
)


class JobsSettings(SettingsSection):
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


class PlanningSettings(SettingsSection):
    """The read-only run that makes a plan; how long a plan waits for approval is asks.approve_plan_minutes."""

    max_cost_usd: Usd = 1
    """Most a planning run may cost (seed 004: planning.maxPlanningCostUsd)."""


class ExecutionSettings(SettingsSection):
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


class StackSettings(SettingsSection):
    """The branches of a night, merged and checked together at dawn."""

    at_dawn: bool = True
    """Whether the end of a night checks which of its branches go together, before the brief is written."""
    include_older: bool = False
    """Whether open pull requests of earlier nights are looked at as well."""
    max_minutes: Minutes = 20
    """Longest time a stack may take; the brief is then written without the rest."""
    max_check_runs: Few = 16
    """Most times the checks are run to find which branches break them together."""


class TriggersSettings(SettingsSection):
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


Folder = Annotated[str, Field(min_length=1, max_length=4096, pattern=r"^[/~]"), Allowed("the path of a folder")]

Registry = Annotated[
    str,
    Field(pattern=r"^[a-z][a-z0-9-]{0,30}=https?://[^#\s]+(#(bearer|basic):[A-Za-z0-9_-]+)?$", max_length=500),
    Allowed("name=https://host/path/, and #bearer:SECRET or #basic:SECRET where it needs a credential"),
]


class SandboxSettings(SettingsSection):
    """The walls around agents, setup and checks."""

    isolation: Literal["strongest", "bubblewrap", "landlock", "none"] = "strongest"
    """Which walls to build; a stronger kind than this machine has is refused, a weaker one lowers the level."""
    toolchains: tuple[Folder, ...] = ()
    """Folders every job may read at their own path, such as compilers outside the system's own folders."""
    domains: tuple[Name, ...] = ()
    """Hosts every job may reach besides those its orders name."""
    setup_domains: tuple[Name, ...] = ()
    """Hosts a project's setup may reach, such as package registries; jobs themselves may not."""
    registries: tuple[Registry, ...] = ()
    """Package registries for setups, whose credential is added outside: pip=https://host/team/#bearer:SECRET."""
    max_requests: Many = 1000
    """Most connections one attempt of a job may make."""
    max_processes: Annotated[int, Field(ge=16, le=65536)] = 512
    """Most processes and threads of one job."""
    memory_mib: Mebibytes = 6144
    """Most memory of one job, where the machine can bound it for all its processes together."""
    room_mib: Mebibytes = 10240
    """Most disk one job's checkout and home may take; one that writes more is stopped."""
    min_free_disk_mib: Mebibytes = 1024
    """Disk that must stay free while jobs run; below this they are stopped with their work kept."""
    stop_grace_seconds: Seconds = 10
    """How long a job that is to stop has for a good end."""
    sparse_min_files: Many = 10_000
    """From so many files on, a checkout holds only the folders that the orders' paths name."""
    copy_setup: bool = False
    """Whether each job gets its own copy of what setup made, instead of all reading the same."""
    setup_minutes: Annotated[float, Field(gt=0, le=24 * 60)] = 30
    """Longest setup of a project."""
    keep_days: Days = 14
    """Days that the checkouts of ended jobs are kept; those with work that is nowhere else stay longer."""
    keep_disk_share: Share = 0.2
    """Share of the disk that kept checkouts may take; the oldest go first."""
