"""Installs an optional part of Midwatch into the environment it runs from, after asking."""

import configparser
import importlib
import importlib.metadata
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import typer

from midwatch.errors import Unavailable
from midwatch.rules.recovery.failure_texts import telling_line
from midwatch.settings.folder import environment
from midwatch.surfaces.cli.shell.screen import good

PATIENCE = 600
TOLD = {
    "index-url": "UV_DEFAULT_INDEX",
    "extra-index-url": "UV_INDEX",
    "find-links": "UV_FIND_LINKS",
    "trusted-host": "UV_INSECURE_HOST",
    "no-index": "UV_NO_INDEX",
    "proxy": "ALL_PROXY",
    "cert": "SSL_CERT_FILE",
    "client-cert": "SSL_CLIENT_CERT",
}
"""What pip calls a setting, and what uv calls it; uv reads neither pip's files nor its variables."""


def ensure(extra: str, module: str, *, why: str, yes: bool, again: str) -> None:
    """Install an extra unless its module is here; ask first, on a terminal, unless `yes` was given."""
    if importlib.util.find_spec(module) is not None:
        return
    wanted = _requirements(extra)
    if not yes:
        _ask(f"{why} need {module}, which is not installed.", again)
    done = subprocess.run(
        [*_installer(wanted), *wanted],
        cwd="/",
        env={**_as_pip_is_set(environment()), **environment()},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
        timeout=PATIENCE,
    )
    importlib.invalidate_caches()
    if done.returncode or importlib.util.find_spec(module) is None:
        said = telling_line(done.stdout).removeprefix("ERROR: ").rstrip(".") or "the installer gave no reason"
        raise Unavailable(
            f"{module} could not be installed: {said}.",
            hint=f"Check the index or proxy that pip is set to, or install it into {sys.prefix} yourself.",
        )
    typer.echo(good(f"Installed {module} into {sys.prefix}"))


def _ask(sentence: str, again: str) -> None:
    if not sys.stdin.isatty():
        raise Unavailable(sentence, hint=f"Have it installed: {again} --yes")
    typer.echo(sentence)
    if not typer.confirm(f"Install it into {sys.prefix}?", default=True):
        raise Unavailable(sentence, hint=f"Nothing was changed. Have it installed later: {again}")


def _requirements(extra: str) -> list[str]:
    """List what the extra names in Midwatch's own metadata."""
    listed = importlib.metadata.requires("midwatch") or []
    pairs = [line.partition(";") for line in listed]
    return [name.strip() for name, _, when in pairs if re.search(rf"extra == ['\"]{re.escape(extra)}['\"]", when)]


def _installer(wanted: list[str]) -> list[str]:
    """Choose pip, where this environment has it, or uv: the one that made this environment, or one on the PATH."""
    if importlib.util.find_spec("pip") is not None:
        return [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    own = (Path(sys.prefix, "installer", "bin", "uv"), Path(sys.prefix, "bin", "uv"))
    uv = next((str(path) for path in own if path.exists()), None) or shutil.which("uv")
    if uv is None:
        raise Unavailable(
            f"There is neither pip nor uv for the environment {sys.prefix}.",
            hint=f"Install uv, or install {' '.join(wanted)} there yourself, and do this again.",
        )
    return [uv, "pip", "install", "--quiet", "--python", sys.executable]


def _as_pip_is_set(known: Mapping[str, str]) -> dict[str, str]:
    """Tell uv what this machine's pip is set to; a person's own UV_* variables win."""
    settings = _pip_settings(known)
    told = {ours: settings[theirs] for theirs, ours in TOLD.items() if settings.get(theirs)}
    for name in ("UV_INDEX", "UV_INSECURE_HOST"):
        if name in told:
            told[name] = " ".join(told[name].split())
    if "UV_FIND_LINKS" in told:
        told["UV_FIND_LINKS"] = ",".join(told["UV_FIND_LINKS"].split())
    return told | {"UV_SYSTEM_CERTS": "1", "UV_INDEX_STRATEGY": "unsafe-best-match"}


def _pip_settings(known: Mapping[str, str]) -> dict[str, str]:
    """Read pip's files and PIP_* variables, the latter winning."""
    settings: dict[str, str] = {}
    parser = configparser.RawConfigParser(strict=False)
    for file in _pip_files(known):
        try:
            parser.read(file, encoding="utf-8")
        except configparser.Error:
            continue  # pip itself would refuse it; uv then looks in its own places
    for section in ("global", "install"):
        if parser.has_section(section):
            settings |= dict(parser.items(section))
    given = {name[4:].lower().replace("_", "-"): value for name, value in known.items() if name.startswith("PIP_")}
    return settings | {name: value for name, value in given.items() if value}


def _pip_files(known: Mapping[str, str]) -> Iterator[Path]:
    for folder in known.get("XDG_CONFIG_DIRS", "").split(os.pathsep):
        if folder:
            yield Path(folder, "pip", "pip.conf")
    yield Path("/etc/pip.conf")
    yield Path("~/.pip/pip.conf").expanduser()
    yield Path(known.get("XDG_CONFIG_HOME") or "~/.config").expanduser() / "pip" / "pip.conf"
    yield Path(sys.prefix, "pip.conf")
    if named := known.get("PIP_CONFIG_FILE"):
        yield Path(named).expanduser()
