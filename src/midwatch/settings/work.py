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
    """How many jobs run at the same time, and what the machine must have free."""

    max_in_all: Few = 5
    """Maximum number of jobs at work at the same time; those that wait do not count. A project never has two jobs."""
    max_retries: Few = 3
    """Attempts per cause, and consecutive ones per project, before you are asked."""
    min_free_memory_mib: Mebibytes = 2048
    """Free memory required to start a job."""
    min_free_disk_mib: Mebibytes = 5120
    """Free disk space required to start a job."""


class PlanningSettings(SettingsSection):
    """The read-only run that makes a plan; how long a plan waits for approval is asks.approve_plan_minutes."""

    max_cost_usd: Usd = 1
    """Maximum cost of a planning run, in dollars."""


class ExecutionSettings(SettingsSection):
    """The unattended run that executes a plan."""

    max_cost_usd: Usd = 20
    """Maximum cost of a job, in dollars."""
    max_duration_minutes: Many = 120
    """Maximum duration of a job."""
    max_tokens: Tokens = 2_000_000
    """Maximum number of tokens per job."""
    max_requests: Many = 1000
    """Maximum number of requests to models per job."""
    max_files_changed: Many = 20
    """Maximum number of files that one job may change."""
    max_diff_lines: Many = 800
    """Maximum number of lines that one job may add and remove together."""
    idle_minutes: Minutes = 10
    """A job without output for this long is stopped; its work is kept."""
    soft_box_minutes: Minutes = 45
    """A job that a brain started is warned after this time."""
    soft_box_extra_minutes: Annotated[float, Field(ge=0, le=24 * 60)] = 5
    """Time between that warning and the stop; 0 stops without a warning."""
    repair_rounds: Annotated[int, Field(ge=0, le=100)] = 3
    """Maximum number of repair rounds for each failing check."""
    max_check_reruns: Annotated[int, Field(ge=0, le=20)] = 2
    """How often a failing check is run again to tell a flaky check from a broken one."""
    deliver_red: Literal["never", "draft"] = "never"
    """Whether work with failing checks is only kept and reported, or delivered as a draft that says so."""
    allowed_tools: tuple[Name, ...] = (
        *("Read", "Edit", "Write", "Glob", "Grep"),
        *("Bash(git *)", "Bash(tsc *)", "Bash(vitest *)", "Bash(bun *)"),
    )
    """Tools that a model-driven agent may use without strong walls; inside them only a list that you set binds."""
    commit_strategy: Literal["incremental", "single"] = "incremental"
    """Whether an agent commits in pieces or once at the end."""


class StackSettings(SettingsSection):
    """The branches of a night, merged and checked together at dawn."""

    at_dawn: bool = True
    """Checks at the end of a night which of its branches merge together, before the brief is written."""
    include_older: bool = False
    """Includes open pull requests of earlier nights."""
    max_minutes: Minutes = 20
    """Time limit for these checks; the brief is then written without the rest."""
    max_check_runs: Few = 16
    """Maximum number of check runs to find which branches fail together."""


class TriggersSettings(SettingsSection):
    """What starts work without a command."""

    heartbeat_enabled: bool = False
    """Lets issues of a tracker start work. Has no effect yet."""
    heartbeat_minutes: Minutes = 15
    """Time between two looks at the tracker. Has no effect yet."""
    tracker_label: Name = "midwatch"
    """The label that assigns an issue to Midwatch. Has no effect yet."""
    max_heartbeat_jobs: Few = 1
    """Maximum number of such jobs at the same time. Has no effect yet."""
    pause_if_open_pull_request: bool = True
    """Starts no new work while a pull request of Midwatch is open. Has no effect yet."""


Toolchain = Annotated[
    str,
    Field(min_length=1, max_length=4096, pattern=r"^([/~]|(node|python|uv|go|cargo)$)"),
    Allowed("node, python, uv, go, cargo, or the path of a folder"),
]

FileCount = Annotated[int, Field(ge=100, le=100_000_000)]

Registry = Annotated[
    str,
    Field(pattern=r"^[a-z][a-z0-9-]{0,30}=https?://[^#\s]+(#(bearer|basic):[A-Za-z0-9_-]+)?$", max_length=500),
    Allowed("name=https://host/path/, and #bearer:SECRET or #basic:SECRET where it needs a credential"),
]


class SandboxSettings(SettingsSection):
    """The sandbox of agents, setup and checks."""

    isolation: Literal["strongest", "bubblewrap", "landlock", "none"] = "strongest"
    """Kind of isolation; one that this machine lacks is refused, a weaker one lowers the level."""
    toolchains: tuple[Toolchain, ...] = ()
    """What every job may read besides the system: node, python, uv, go or cargo as it is installed, or folders."""
    domains: tuple[Name, ...] = ()
    """Hosts that every job may reach besides those in its orders; npm or pip allows reading what it is set to here."""
    setup_domains: tuple[Name, ...] = ()
    """Hosts that setups may reach; pip, uv, npm, cargo or go allows reading the registries it is set to here."""
    registries: tuple[Registry, ...] = ()
    """Package registries for setups; the credential is added outside: pip=https://host/team/#bearer:SECRET."""
    max_requests: Many = 1000
    """Maximum number of connections per attempt of a job."""
    max_processes: Annotated[int, Field(ge=16, le=65536)] = 512
    """Maximum number of processes and threads per job."""
    memory_mib: Mebibytes = 6144
    """Maximum memory of one job, where the machine can limit all its processes together."""
    room_mib: Mebibytes = 10240
    """Maximum disk space of one job's checkout and home; a job that writes more is stopped."""
    room_max_files: FileCount = 1_000_000
    """Maximum number of files and folders in one job's checkout and home; a job with more is stopped."""
    check_mib: Mebibytes = 10240
    """Maximum disk space that one run of a check, or a project's setup, may write; it is stopped beyond that."""
    check_max_files: FileCount = 1_000_000
    """Maximum number of files and folders that one run of a check, or a project's setup, may make."""
    min_free_disk_mib: Mebibytes = 1024
    """Disk space that must stay free; below it jobs, checks and setups are stopped, and the work of jobs is kept."""
    stop_grace_seconds: Seconds = 10
    """Time that a job has to end by itself when it is stopped."""
    sparse_min_files: Many = 10_000
    """From this many files on, a checkout contains only the folders named in the orders."""
    copy_setup: bool = False
    """Gives each job its own copy of the setup instead of a shared read-only one."""
    setup_minutes: Annotated[float, Field(gt=0, le=24 * 60)] = 30
    """Time limit for a project's setup."""
    keep_days: Days = 14
    """Days that checkouts of ended jobs are kept; those with work that exists nowhere else stay longer."""
    keep_disk_share: Share = 0.2
    """Share of the disk that kept checkouts may use; the oldest are removed first."""
