"""The section about walls: how jobs are kept apart, what they are lent, and how long their checkouts stay."""

from typing import Annotated, Literal

from pydantic import Field

from midwatch.settings.section import Allowed, Days, Many, Mebibytes, Name, Seconds, Section, Share

Folder = Annotated[str, Field(min_length=1, max_length=4096, pattern=r"^[/~]"), Allowed("the path of a folder")]

Registry = Annotated[
    str,
    Field(pattern=r"^[a-z][a-z0-9-]{0,30}=https?://[^#\s]+(#(bearer|basic):[A-Za-z0-9_-]+)?$", max_length=500),
    Allowed("name=https://host/path/, and #bearer:SECRET or #basic:SECRET where it needs a credential"),
]


class Sandbox(Section):
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
