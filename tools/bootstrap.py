"""From a bare python3 to a .venv that equals a hashed lock, with Midwatch itself installed from src.

usage: python3 tools/bootstrap.py base     make .venv ready to run Midwatch
       python3 tools/bootstrap.py dev      make .venv ready to work on it

Standard library only. The pip wheel beside this file starts everything, because Debian's python3 may have neither pip
nor ensurepip. pip knows the person's index, proxy and certificates; it fetches uv, and uv is told what pip knows.
No package index is named in this repository.
"""

from __future__ import annotations  # a python3 older than 3.9 must get far enough to be told that it is old

import ast
import contextlib
import fcntl
import functools
import hashlib
import json
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator
from pathlib import Path

OLDEST_PYTHON = (3, 11)
NEWER_PYTHONS = ("python3.14", "python3.13", "python3.12", "python3.11")

ROOT = Path(__file__).resolve().parent.parent
REQUIREMENTS = ROOT / "requirements"
ENVIRONMENT = ROOT / ".venv"
PYTHON = ENVIRONMENT / "bin" / "python"
STAMP = ENVIRONMENT / "midwatch-stamp.json"
INSTALLER = ENVIRONMENT / "installer"  # inside .venv but not in site-packages, where `uv pip sync` would remove it
UV = INSTALLER / "bin" / "uv"

NETWORK_HINT = (
    "This needs the network once, through the index, mirror or proxy your pip is configured for (`pip config list`). "
    "Nothing is half-installed: run the same command again when that works."
)


class CannotSetUp(Exception):
    """What went wrong and what to do about it, as the sentence a person reads."""


def main(words: list[str]) -> int:
    """Do what the command line asks, and turn every expected failure into one sentence."""
    if sys.version_info < OLDEST_PYTHON:
        return restart_with_a_newer_python(words)
    if words not in (["base"], ["dev"]):
        return fail("Say what to set up: `python3 tools/bootstrap.py base` or `python3 tools/bootstrap.py dev`.")
    try:
        with one_at_a_time():
            set_up(words[0])
    except CannotSetUp as problem:
        return fail(str(problem))
    except OSError as problem:
        return fail(f"Cannot set up {ENVIRONMENT}: {problem}. The folder must be writable and the disk not full.")
    return 0


def restart_with_a_newer_python(words: list[str]) -> int:
    """Debian, macOS and pyenv often hold a newer Python beside an old `python3`."""
    for name in NEWER_PYTHONS:
        newer = shutil.which(name)
        if newer and works(Path(newer)):
            return subprocess.run([newer, Path(__file__).resolve(), *words], check=False).returncode
    found = ".".join(str(part) for part in sys.version_info[:3])
    return fail(
        f"Midwatch needs Python 3.11 or newer, and this is {found}. Name one: `make PYTHON=/path/to/python3 ...`."
    )


def set_up(profile: str) -> None:
    """Make .venv equal to the lock of this profile, unless its stamp says that it already is."""
    stamp = read_stamp()
    if stamp.get("profile") == "dev":
        profile = "dev"  # dev.lock contains base.lock, so `make demo` after `make test` has nothing to take away
    wanted = {"profile": profile, "place": this_place(), "content": content_of(profile)}
    if stamp == wanted and PYTHON.exists():
        return
    if not shutil.which("git"):
        raise CannotSetUp(
            "Midwatch works on git repositories and there is no `git` on the PATH. Install git, then run this again."
        )
    fresh = stamp.get("place") != wanted["place"] or not works(PYTHON)
    say(f"setting up .venv with Python {sys.version.split()[0]}{' (some 10 seconds, once)' if fresh else ''}")
    STAMP.unlink(missing_ok=True)  # from here on .venv is unfinished, whatever kills us
    if fresh:
        make_empty_environment()
    install_uv()
    install_packages(REQUIREMENTS / f"{profile}.lock")
    install_midwatch()
    STAMP.write_text(json.dumps(wanted, indent=2) + "\n")
    say("ready")


def read_stamp() -> dict[str, str]:
    """What .venv was made for; nothing when it is missing, unfinished or somebody else's."""
    try:
        stamp: dict[str, str] = json.loads(STAMP.read_text())
    except (OSError, ValueError):
        return {}
    return stamp


def this_place() -> str:
    """Scripts in .venv carry its absolute path, and its packages fit one Python: when either changes, start over."""
    return f"{ENVIRONMENT} {sys.base_prefix} {sys.version}"


def content_of(profile: str) -> str:
    """A digest of everything that decides what is installed; the tools' settings in pyproject.toml do not."""
    import tomllib  # noqa: PLC0415 - not in the old Pythons that must be able to read this file

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    locks = (REQUIREMENTS / f"{profile}.lock", REQUIREMENTS / "installer.lock")
    parts = [json.dumps([project["project"], project["build-system"]]), *(lock.read_text() for lock in locks)]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def works(python: Path) -> bool:
    """Whether the interpreter starts; an upgraded system Python leaves a broken link behind."""
    return python.exists() and subprocess.run([python, "-c", ""], check=False, capture_output=True).returncode == 0


def make_empty_environment() -> None:
    """Without pip inside: that would need ensurepip, and uv does the installing."""
    if ENVIRONMENT.exists():
        shutil.rmtree(ENVIRONMENT)
    venv.create(ENVIRONMENT, with_pip=False, symlinks=True)


def install_uv() -> None:
    """Fetch the locked uv with pip, unless exactly that one is there."""
    lock = REQUIREMENTS / "installer.lock"
    mark = INSTALLER / "installed.lock"
    if mark.exists() and mark.read_bytes() == lock.read_bytes():
        return
    say("  1/3 fetching the installer (uv)")
    shutil.rmtree(INSTALLER, ignore_errors=True)
    options: list[str | Path] = [
        "--no-deps",
        "--only-binary=:all:",
        "--require-hashes",
        "--target",
        INSTALLER,
        "-r",
        lock,
    ]
    run([*pip(), "install", *options], what="Fetching uv")
    mark.write_bytes(lock.read_bytes())


def install_packages(lock: Path) -> None:
    """Install what the lock names and remove what it does not."""
    number = sum(1 for line in lock.read_text().splitlines() if line[:1].isalnum())
    say(f"  2/3 installing {number} packages of requirements/{lock.name}")
    options: list[str | Path] = ["--python", PYTHON, "--require-hashes"]
    run([UV, "pip", "sync", *options, lock], what="Installing the packages", env=uv_environment())


def install_midwatch() -> None:
    """Link src into .venv; uv brings its own build backend, so this needs no network."""
    say("  3/3 installing midwatch from src")
    options: list[str | Path] = ["--python", PYTHON, "--offline", "--no-deps", "--editable", ROOT]
    run([UV, "pip", "install", *options], what="Installing midwatch itself", env=uv_environment())


def pip() -> list[str | Path]:
    """The vendored pip; a wheel runs as a zip, and -I keeps foreign PYTHONPATHs out of it."""
    wheels = sorted(Path(__file__).resolve().parent.glob("pip-*.whl"))
    if not wheels:
        raise CannotSetUp("tools/pip-*.whl is missing from this checkout; restore it with `git checkout tools`.")
    return [sys.executable, "-I", wheels[-1] / "pip", "--quiet", "--disable-pip-version-check"]


@functools.lru_cache()  # noqa: UP011 - Python 3.7 wants the parentheses
def uv_environment() -> dict[str, str]:
    """Our environment for uv, which reads neither pip.conf nor PIP_*; a person's own UV_* settings win."""
    settings = pip_settings()
    told = {
        "UV_DEFAULT_INDEX": settings.get("index-url"),
        "UV_INDEX": " ".join(settings.get("extra-index-url", "").split()),
        "UV_FIND_LINKS": ",".join(settings.get("find-links", "").split()),
        "UV_NO_INDEX": "1" if settings.get("no-index", "").lower() in ("1", "true", "yes", "on") else None,
        "UV_INSECURE_HOST": " ".join(settings.get("trusted-host", "").split()),
        "ALL_PROXY": settings.get("proxy"),
        "SSL_CERT_FILE": settings.get("cert"),
        "SSL_CLIENT_CERT": settings.get("client-cert"),
        "UV_SYSTEM_CERTS": "1",  # as pip does
        "UV_INDEX_STRATEGY": "unsafe-best-match",  # look at all places, as pip does; the hashes make it safe
        "UV_NO_PROGRESS": "1",
        "UV_COMPILE_BYTECODE": "1",  # what runs behind walls can keep none, and would compile all anew each time
    }
    if not can_keep_a_cache():
        told["UV_NO_CACHE"] = "1"
    return {**{name: value for name, value in told.items() if value}, **os.environ}


def pip_settings() -> dict[str, str]:
    """What pip reads from its files and PIP_* variables, the latter winning."""
    listed = subprocess.run([*pip(), "config", "list"], check=False, capture_output=True, text=True).stdout
    pairs = [line.split("=", 1) for line in listed.splitlines() if "=" in line]
    strongest_last = sorted(pairs, key=lambda pair: (pair[0].startswith(":env:"), not pair[0].startswith("global.")))
    return {name.partition(".")[2].lstrip("."): str(ast.literal_eval(value)) for name, value in strongest_last}


def can_keep_a_cache() -> bool:
    """Whether uv can write below the home folder; service users such as nobody have none."""
    try:
        home = Path.home()
    except RuntimeError:
        return False
    return os.access(home, os.W_OK)


@contextlib.contextmanager
def one_at_a_time() -> Iterator[None]:
    """Two makes at once take turns; the lock is on the folder itself, so no file is left behind."""
    folder = os.open(ROOT, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def run(command: list[str | Path], *, what: str, env: dict[str, str] | None = None) -> None:
    """Run quietly; when it fails, show the end of what it said."""
    done = subprocess.run(command, check=False, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        print("\n".join(done.stdout.splitlines()[-15:]), file=sys.stderr)
        raise CannotSetUp(f"{what} failed; its own words are above. {NETWORK_HINT}")


def say(line: str) -> None:
    """Tell the waiting person at once, also through a pipe."""
    print(f"midwatch: {line}", flush=True)


def fail(sentence: str) -> int:
    """Explain on stderr and give the exit code."""
    print(f"midwatch: {sentence}", file=sys.stderr, flush=True)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
