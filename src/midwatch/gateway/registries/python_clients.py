"""pip and uv: their indexes, from their own settings."""

import ast
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from midwatch.gateway.registries.client import ClientRegistries, ask, sources_in, surroundings, toml_in, unknown

_PIP_DEFAULT = re.compile(r"--index-url <url>.*?\(default\s+(\S+?)\)", re.DOTALL)
_UV_DEFAULT = re.compile(r"by default: <?(https?://[^\s>)]+)")
_UV_FILES = (Path("/etc/uv/uv.toml"), Path("~/.config/uv/uv.toml"))


async def pip() -> ClientRegistries:
    """Ask pip for its index; where none is set, for its built-in one."""
    program = ("pip",) if shutil.which("pip") else ("python3", "-m", "pip")
    config = _pip_config(await ask(*program, "config", "list"))
    index = config.get("index-url") or _first(_PIP_DEFAULT, await ask(*program, "install", "--help"))
    if not index:
        raise unknown("pip")
    extra, found = config.get("extra-index-url", "").split(), config.get("find-links", "").split()
    offline = config.get("no-index", "") in {"1", "true", "yes"}
    sources, folders = sources_in(([] if offline else [index, *extra]) + found)
    first, _ = sources_in([index])
    environment = {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_INDEX_URL": first[0].url if first else index}
    if plain := _plain(extra):
        environment["PIP_EXTRA_INDEX_URL"] = plain
    if plain := _plain(found):
        environment["PIP_FIND_LINKS"] = plain
    if trusted_hosts := config.get("trusted-host", ""):
        environment["PIP_TRUSTED_HOST"] = " ".join(trusted_hosts.split())
    if offline:
        environment["PIP_NO_INDEX"] = "1"
    trusted = tuple(path for path in (config.get("cert", ""),) if path)
    return ClientRegistries("pip", sources, environment, folders, trusted).with_logins()


def _pip_config(said: str) -> dict[str, str]:
    """Read `global.index-url='...'`; a command's own section wins, the environment wins over both."""
    rank = {"global": 0, "install": 1, "download": 0, ":env:": 2}
    found: dict[str, tuple[int, str]] = {}
    for line in said.splitlines():
        name, equals, value = line.partition("=")
        section, _, key = name.rpartition(".")
        if equals and section in rank and rank[section] >= found.get(key, (0, ""))[0]:
            try:
                found[key] = (rank[section], str(ast.literal_eval(value)))
            except (ValueError, SyntaxError):
                continue
    return {key: value for key, (_, value) in found.items()}


def _plain(urls: list[str]) -> str:
    """Write addresses as pip reads them, without their credentials."""
    return " ".join(sources[0].url if (sources := sources_in([url])[0]) else url for url in urls)


async def uv() -> ClientRegistries:
    """Ask uv's variables and files for its indexes; where none is set, uv for its built-in one."""
    named = surroundings().get("UV_CONFIG_FILE", "")
    files = [toml_in(Path(named) if named else path.expanduser()) for path in _UV_FILES]
    default, extra = _uv_indexes(files, surroundings())
    default = default or _first(_UV_DEFAULT, await ask("uv", "help", "sync"))
    if not default:
        raise unknown("uv")
    sources, folders = sources_in([default, *extra])
    environment = {"UV_DEFAULT_INDEX": _plain([default]), "UV_PYTHON_DOWNLOADS": "never", "UV_LINK_MODE": "copy"}
    if extra:
        environment["UV_INDEX"] = _plain(extra)
    return ClientRegistries("uv", sources, environment, folders).with_logins()


def _uv_indexes(files: list[dict[str, Any]], environment: Mapping[str, str]) -> tuple[str, list[str]]:
    default, extra = "", []
    for config in files:
        for one in (*config.get("index", ()), *config.get("pip", {}).get("index", ())):
            if one.get("default"):
                default = str(one.get("url", ""))
            else:
                extra.append(str(one.get("url", "")))
        default = str(config.get("index-url", default))
        extra += map(str, config.get("extra-index-url", ()))
    default = environment.get("UV_DEFAULT_INDEX") or environment.get("UV_INDEX_URL") or default
    named = f"{environment.get('UV_INDEX', '')} {environment.get('UV_EXTRA_INDEX_URL', '')}".split()
    # An index may have a name: company=https://...
    return default, [re.sub(r"^[\w-]+=", "", url) for url in (*extra, *named) if url]


def _first(pattern: re.Pattern[str], said: str) -> str:
    found = pattern.search(said)
    return found[1] if found else ""
