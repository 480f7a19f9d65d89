"""Facts about the machine: what is free, and whether it will sleep tonight."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import psutil

from midwatch.terms.trust import Isolation

SLEEPING: Final = frozenset({"suspend", "hibernate", "hybrid-sleep", "suspend-then-hibernate", "sleep"})
TARGETS: Final = ("suspend.target", "hibernate.target", "hybrid-sleep.target", "suspend-then-hibernate.target")
MASK: Final = " ".join(("sudo systemctl mask sleep.target", *TARGETS))
STAY_AWAKE: Final = "Run `systemd-inhibit --what=sleep:idle midwatch up`, which keeps it awake while Midwatch runs."
NEVER_SLEEP: Final = f"Or disable sleep permanently: `{MASK}` (undone by `unmask`)."
Will = Literal["no", "maybe", "likely"]


@dataclass(frozen=True, slots=True)
class SleepRisk:
    """Whether the machine will sleep before the night is over, why, and what to do about it."""

    will: Will
    why: tuple[str, ...]
    what_to_do: tuple[str, ...] = ()


def free_memory() -> int:
    """Return how many bytes a new process can have without swapping."""
    return int(psutil.virtual_memory().available)


def free_disk(path: Path) -> int:
    """Return how many bytes can still be written where this path is, or will be."""
    there = next(folder for folder in (path.absolute(), *path.absolute().parents) if folder.exists())
    return int(psutil.disk_usage(str(there)).free)


def sleep_risk(root: Path = Path("/")) -> SleepRisk:
    """Estimate whether this machine will sleep tonight; `root` is where its /sys, /proc and /etc are."""
    return _not_ours_to_say(root) or _cannot_sleep(root) or _set_to_sleep(root)


def _not_ours_to_say(root: Path) -> SleepRisk | None:
    """Where another system decides, we can only say what to change there."""
    if "microsoft" in _text(root / "proc/sys/kernel/osrelease").lower():
        awake = "In a Windows terminal: `powercfg /change standby-timeout-ac 0` (and standby-timeout-dc on battery)."
        keep = "Keep a WSL terminal open: without one Windows may end WSL."
        return SleepRisk("maybe", ("This is WSL, which stops whenever Windows sleeps.",), (awake, keep))
    if (root / "System/Library/CoreServices/SystemVersion.plist").exists():
        awake = "Plugged in and with the lid open, run `caffeinate -is midwatch up`."
        return SleepRisk("maybe", ("macOS sleeps when it is idle or the lid is closed.",), (awake,))
    marks = (".dockerenv", "run/.containerenv", "run/systemd/container")
    if any((root / mark).exists() for mark in marks) and _suspends(root):
        why = "This is a container; it stops whenever its host sleeps, and the host's settings cannot be seen here."
        return SleepRisk("maybe", (why,), (f"On the host, if it runs systemd: `{MASK}`.",))
    return None


def _cannot_sleep(root: Path) -> SleepRisk | None:
    if not _suspends(root):
        return SleepRisk("no", ("The kernel of this machine offers no way to sleep.",))
    if _masked(root, "sleep.target") or all(_masked(root, target) for target in TARGETS[:3]):
        return SleepRisk("no", ("systemd's sleep targets are masked.",))
    return None


def _set_to_sleep(root: Path) -> SleepRisk:
    signs = (*_logind(root), *_power(root), *_desktop(root))
    if not signs:
        return SleepRisk("no", ("It could sleep, but nothing here is set to let it.",))
    will: Will = "likely" if any(sign.will == "likely" for sign in signs) else "maybe"
    to_do = tuple(line for sign in signs for line in sign.what_to_do)
    return SleepRisk(will, tuple(line for sign in signs for line in sign.why), (STAY_AWAKE, NEVER_SLEEP, *to_do))


def _logind(root: Path) -> Iterator[SleepRisk]:
    """What systemd does on an idle machine, or when the lid is closed."""
    options = _options(root)
    if (idle := options.get("IdleAction", "ignore")) in SLEEPING:
        yield SleepRisk("likely", (f"systemd-logind is set to {idle} an idle machine (IdleAction).",))
    on_lid = options.get("HandleLidSwitch", "suspend")
    if _plugged(root):
        on_lid = options.get("HandleLidSwitchExternalPower", on_lid)
    if on_lid in SLEEPING and any((root / "proc/acpi/button/lid").glob("*")):
        # logind lets a lid overrule plain sleep locks; only its own kind of lock holds it.
        leave = "Leave the lid open, or add `:handle-lid-switch` to --what."
        yield SleepRisk("maybe", (f"Closing the lid will {on_lid} it (HandleLidSwitch).",), (leave,))


def _power(root: Path) -> Iterator[SleepRisk]:
    # A mouse has a battery too; the kernel marks it as belonging to a device.
    if any(_text(one / "scope") != "Device" for one in _supplies(root, "Battery")):
        if _plugged(root):
            yield SleepRisk("maybe", ("It has a battery; unplugged, it would save power by sleeping.",))
        else:
            yield SleepRisk("likely", ("It runs on battery, which may be empty before the morning.",), ("Plug it in.",))


def _desktop(root: Path) -> Iterator[SleepRisk]:
    if any((root / "usr/share" / kind).is_dir() for kind in ("wayland-sessions", "xsessions")):
        key = "org.gnome.settings-daemon.plugins.power sleep-inactive-ac-type"
        off = f"In GNOME: `gsettings set {key} nothing`; elsewhere: the desktop's power settings."
        yield SleepRisk("maybe", ("A desktop is installed; most suspend an idle machine by themselves.",), (off,))


def _plugged(root: Path) -> bool:
    return any(_text(one / "online") == "1" for kind in ("Mains", "USB", "Wireless") for one in _supplies(root, kind))


def _supplies(root: Path, kind: str) -> list[Path]:
    return [one for one in sorted((root / "sys/class/power_supply").glob("*")) if _text(one / "type") == kind]


def _suspends(root: Path) -> bool:
    return bool(set(_text(root / "sys/power/state").split()) & {"mem", "freeze", "standby", "disk"})


def _masked(root: Path, unit: str) -> bool:
    links = (root / place / "systemd/system" / unit for place in ("etc", "run"))
    return any(link.is_symlink() and str(link.readlink()) == "/dev/null" for link in links)


def _options(root: Path) -> dict[str, str]:
    """Read logind's options in systemd's order: the main file, then the pieces by name; the last one counts."""
    places = [root / place / "systemd" for place in ("usr/lib", "run", "etc")]
    main = [place / "logind.conf" for place in places if (place / "logind.conf").is_file()][-1:]
    pieces = {piece.name: piece for place in places for piece in (place / "logind.conf.d").glob("*.conf")}
    text = "\n".join(map(_text, (*main, *(piece for _, piece in sorted(pieces.items())))))
    lines = (line.partition("=") for line in text.splitlines())
    return {name.strip(): value.strip() for name, _, value in lines if name.strip()[:1] not in "#;["}


def _text(path: Path) -> str:
    """A missing or unreadable file gives nothing."""
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return ""


class ThisMachine:
    """The computer Midwatch runs on."""

    def __init__(self, home: Path, isolation: Callable[[], Isolation] = lambda: Isolation.NONE) -> None:
        self._home = home
        self._isolation = isolation

    def free_memory(self) -> int:
        return free_memory()

    def free_disk(self) -> int:
        return free_disk(self._home)

    def isolation(self) -> Isolation:
        return self._isolation()
