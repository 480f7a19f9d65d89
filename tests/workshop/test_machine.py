"""What the machine says about itself, read from real files in a root of our own."""

import os
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from midwatch.workshop.upkeep.machine import SleepRisk, free_disk, free_memory, sleep_risk

Change = Callable[[Path], None]


def write(path: Path, text: str = "") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def lid(root: Path) -> None:
    write(root / "proc/acpi/button/lid/LID0/state", "state:      open\n")


def battery(root: Path) -> None:
    write(root / "sys/class/power_supply/BAT0/type", "Battery\n")


def plug(root: Path) -> None:
    write(root / "sys/class/power_supply/AC/type", "Mains\n")
    write(root / "sys/class/power_supply/AC/online", "1\n")


def mouse(root: Path) -> None:
    write(root / "sys/class/power_supply/hidpp_battery_0/type", "Battery\n")
    write(root / "sys/class/power_supply/hidpp_battery_0/scope", "Device\n")


def desktop(root: Path) -> None:
    write(root / "usr/share/wayland-sessions/gnome.desktop")


def logind(text: str, name: str = "etc/systemd/logind.conf") -> Change:
    return lambda root: write(root / name, f"[Login]\n{text}\n")


def masked(*units: str) -> Change:
    def mask(root: Path) -> None:
        (root / "etc/systemd/system").mkdir(parents=True)
        for unit in units:
            (root / "etc/systemd/system" / unit).symlink_to("/dev/null")

    return mask


def wsl(root: Path) -> None:
    write(root / "proc/sys/kernel/osrelease", "5.15.167.4-microsoft-standard-WSL2\n")


def mac(root: Path) -> None:
    write(root / "System/Library/CoreServices/SystemVersion.plist")


def container(root: Path) -> None:
    write(root / ".dockerenv")


def unable(root: Path) -> None:
    write(root / "sys/power/state", "\n")


def risk(root: Path, *changes: Change) -> SleepRisk:
    """The risk of a machine that could suspend, after these changes."""
    write(root / "proc/sys/kernel/osrelease", "6.12.0-amd64\n")
    write(root / "sys/power/state", "freeze mem disk\n")
    for change in changes:
        change(root)
    return sleep_risk(root)


CASES: dict[str, tuple[str, tuple[Change, ...]]] = {
    "a server that nothing sends to sleep": ("no", ()),
    "a kernel without suspend": ("no", (unable, battery, lid, desktop)),
    "a masked sleep target": ("no", (masked("sleep.target"), battery, lid, desktop)),
    "all kinds of sleep masked": ("no", (masked("suspend.target", "hibernate.target", "hybrid-sleep.target"), lid)),
    "only one kind masked": ("maybe", (masked("suspend.target"), lid)),
    "a laptop on battery": ("likely", (battery,)),
    "a laptop plugged in": ("maybe", (battery, plug)),
    "a mouse with a battery": ("no", (mouse,)),
    "a lid": ("maybe", (lid,)),
    "a lid that is ignored": ("no", (lid, logind("HandleLidSwitch=ignore"))),
    "a lid that is ignored on power, with power": ("no", (lid, plug, logind("HandleLidSwitchExternalPower=ignore"))),
    "a lid that is ignored on power, without power": ("maybe", (lid, logind("HandleLidSwitchExternalPower=ignore"))),
    "an idle action": ("likely", (logind("IdleAction=suspend"),)),
    "an idle action in a comment": ("no", (logind("#IdleAction=suspend"),)),
    "an idle action that only locks": ("no", (logind("IdleAction=lock"),)),
    "an idle action of the distribution": ("likely", (logind("IdleAction=hibernate", "usr/lib/systemd/logind.conf"),)),
    "a piece that takes it back": (
        "no",
        (logind("IdleAction=suspend"), logind("IdleAction=ignore", "etc/systemd/logind.conf.d/50-night.conf")),
    ),
    "two pieces, where the later name counts": (
        "likely",
        (
            logind("IdleAction=suspend", "run/systemd/logind.conf.d/60-b.conf"),
            logind("IdleAction=ignore", "etc/systemd/logind.conf.d/50-a.conf"),
        ),
    ),
    "an etc file that replaces the distribution's": (
        "no",
        (logind("IdleAction=suspend", "usr/lib/systemd/logind.conf"), logind("KillUserProcesses=no")),
    ),
    "a desktop": ("maybe", (desktop,)),
    "a guest of Windows": ("maybe", (wsl, unable)),
    "a Mac": ("maybe", (mac, unable)),
    "a container on a machine that can sleep": ("maybe", (container,)),
    "a container on a server": ("no", (container, unable)),
}


@pytest.mark.parametrize(("expected", "changes"), CASES.values(), ids=CASES)
def test_the_machine_tells_whether_it_will_sleep(expected: str, changes: tuple[Change, ...], tmp_path: Path) -> None:
    found = risk(tmp_path, *changes)
    assert found.will == expected, found
    assert found.why
    assert bool(found.what_to_do) == (expected != "no")


def test_a_laptop_hears_every_reason_and_every_remedy(tmp_path: Path) -> None:
    found = risk(tmp_path, battery, lid, desktop, logind("IdleAction=suspend"))
    assert found.will == "likely"
    assert len(found.why) == 4
    advice = "\n".join(found.what_to_do)
    for command in (
        "systemd-inhibit --what=sleep:idle midwatch up",
        "sudo systemctl mask sleep.target suspend.target hibernate.target",
        "handle-lid-switch",
        "Plug it in",
        "gsettings set",
    ):
        assert command in advice


def test_who_cannot_decide_says_whom_to_ask(tmp_path: Path) -> None:
    assert "powercfg" in " ".join(risk(tmp_path / "wsl", wsl).what_to_do)
    assert "caffeinate" in " ".join(risk(tmp_path / "mac", mac).what_to_do)
    assert "On the host" in " ".join(risk(tmp_path / "box", container).what_to_do)


def test_an_empty_root_is_no_reason_to_fail(tmp_path: Path) -> None:
    assert sleep_risk(tmp_path).will == "no"


def test_this_machine_answers() -> None:
    assert sleep_risk().will in {"no", "maybe", "likely"}


def test_free_memory_is_some_of_what_there_is() -> None:
    assert 0 < free_memory() <= psutil.virtual_memory().total


def test_free_disk_is_asked_where_the_path_will_be(tmp_path: Path) -> None:
    there = os.statvfs(tmp_path)
    assert 0 < free_disk(tmp_path / "not" / "yet") <= there.f_blocks * there.f_frsize
