"""Finds out, once at start, which walls this machine can build."""

import platform
import subprocess
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from midwatch.errors import MidwatchError
from midwatch.terms.trust import Isolation
from midwatch.workshop.sandbox.walls import landlock
from midwatch.workshop.sandbox.walls.entry import command
from midwatch.workshop.sandbox.walls.spec import SandboxLimits, SandboxSpec

PATIENCE = 120.0
"""Seconds: a busy machine must not be mistaken for one without walls."""
TEST = "echo in > made && ! cat {outside}/secret 2>/dev/null && ! (echo out > {outside}/out) 2>/dev/null"
FORKS = "for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do sleep 60 & done"
"""They outlive the loop on any machine, and end with the walls."""

UBUNTU = (
    "Give /usr/bin/bwrap an AppArmor profile that allows `userns` (on Ubuntu: `sudo apt install apparmor-profiles && "
    "sudo ln -s /usr/share/apparmor/extra-profiles/bwrap-userns-restrict /etc/apparmor.d/ && "
    "sudo systemctl reload apparmor`)."
)
BY_SWITCH = {
    ("kernel/apparmor_restrict_unprivileged_userns", "1"): (
        "AppArmor keeps ordinary users from making namespaces",
        UBUNTU,
    ),
    ("kernel/unprivileged_userns_clone", "0"): (
        "the kernel keeps ordinary users from making namespaces",
        "Run `sudo sysctl -w kernel.unprivileged_userns_clone=1`, and put it into /etc/sysctl.d to keep it.",
    ),
    ("user/max_user_namespaces", "0"): (
        "the kernel allows no user namespaces",
        "Run `sudo sysctl -w user.max_user_namespaces=15000`, and put it into /etc/sysctl.d to keep it.",
    ),
}


@dataclass(frozen=True, slots=True)
class IsolationFound:
    """Which walls exist, why not better ones, and what would make them better."""

    isolation: Isolation
    why: str
    fix: str


def probe(*, switches: Path = Path("/proc/sys")) -> IsolationFound:
    """Build tiny walls, strongest first, and try to break out of them."""
    if not sys.platform.startswith("linux"):
        return IsolationFound(Isolation.NONE, f"There are no walls for {platform.system()} yet.", "Run on Linux.")
    with tempfile.TemporaryDirectory(prefix="midwatch-probe-") as name:
        folder = Path(name)
        complaint = _try(folder, Isolation.BUBBLEWRAP)
        if complaint is None:
            return _strong(folder)
        why, fix = diagnosis(complaint, switches)
        weaker = _try(folder, Isolation.LANDLOCK) if landlock.version() else "the kernel has no Landlock"
    if weaker is None:
        said = f"Only Landlock (version {landlock.version()}) isolates agents, because {why}."
        return IsolationFound(Isolation.LANDLOCK, said, fix)
    return IsolationFound(Isolation.NONE, f"Nothing isolates agents, because {why}, and {weaker}.", fix)


def diagnosis(complaint: str, switches: Path = Path("/proc/sys")) -> tuple[str, str]:
    """Return why bubblewrap failed, and what a person can do about it."""
    if "not installed" in complaint:
        return "bubblewrap is not installed", "Install the package `bubblewrap`, then start Midwatch again."
    for (switch, bad), answer in BY_SWITCH.items():
        file = switches / switch
        if file.exists() and file.read_text().strip() == bad:
            return answer
    inside_container = Path("/.dockerenv").exists() or Path("/run/.containerenv").exists()
    fix = "Run the command `bwrap --ro-bind / / --unshare-all true` and fix what it reports."
    if inside_container:
        fix = "Start the container with permission to make namespaces, such as `--security-opt seccomp=unconfined`."
    return f"bubblewrap failed ({complaint})", fix


def _strong(folder: Path) -> IsolationFound:
    few = SandboxLimits(processes=8)
    if _try(folder, Isolation.BUBBLEWRAP, FORKS, few) is None:
        why = "bubblewrap works, but the number of processes cannot be limited for root without a cgroup."
        return IsolationFound(Isolation.BUBBLEWRAP, why, "Run Midwatch as an ordinary user.")
    return IsolationFound(Isolation.BUBBLEWRAP, "bubblewrap works here.", "")


def _try(folder: Path, isolation: Isolation, script: str = "", limits: SandboxLimits | None = None) -> str | None:
    """Run a script inside tiny walls; None when it succeeded, else its message."""
    tree, home, outside = (folder / name for name in ("tree", "home", "outside"))
    for place in (tree, home, outside):
        place.mkdir(exist_ok=True)
    (outside / "secret").touch()
    walls = SandboxSpec(tree=tree, home=home)
    walls = replace(walls, limits=limits) if limits else walls
    script = script or TEST.format(outside=outside)
    try:
        argv = command(walls, ["/bin/sh", "-c", script], isolation=isolation, note=folder / "note.json")
        done = subprocess.run(
            argv,
            env={},
            cwd="/",
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
        )
    except (MidwatchError, OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if done.returncode == 0:
        return None
    return (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
