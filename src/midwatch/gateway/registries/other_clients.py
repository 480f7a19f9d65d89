"""npm, cargo and go: their registries, from their own settings."""

import asyncio
import base64
import json
import re
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import tomlkit

from midwatch.gateway.registries.client import (
    ClientRegistries,
    RegistrySource,
    ask,
    basic,
    sources_in,
    surroundings,
    toml_in,
    unknown,
)

_CARGO_INDEX = re.compile(r"failed to download from `(https?://[^`]+?)/?config\.json`")
_PLAIN_URL = re.compile(r"https?://[^\s'\"]+")
_NPM_LINE = re.compile(r"^\s*//(?P<where>[^=]+?):(?P<key>_authToken|_auth|username|_password)\s*=\s*(?P<value>.*?)\s*$")
_CARGO_FOLDERS = ("directory", "local-registry")
_VARIABLE = re.compile(r"\$\{(\w+)\??\}")


async def npm() -> ClientRegistries:
    """Ask npm for its registry and those of scopes; the credentials are in its files, which npm itself protects."""
    config = _json_in(await ask("npm", "config", "list", "--json"))
    registry = str(config.get("registry") or "")
    if not registry:
        raise unknown("npm")
    scoped = [str(value) for key, value in config.items() if key.startswith("@") and key.endswith(":registry")]
    logins = _npm_logins(*(str(config.get(key) or "") for key in ("globalconfig", "userconfig")))
    sources, _ = sources_in(dict.fromkeys([registry, *scoped, *await _yarns()]))
    environment = {
        "NPM_CONFIG_REGISTRY": RegistrySource.of(registry).url,
        "PNPM_CONFIG_REGISTRY": RegistrySource.of(registry).url,
        "YARN_NPM_REGISTRY_SERVER": RegistrySource.of(registry).url,
        **dict.fromkeys(("NPM_CONFIG_AUDIT", "NPM_CONFIG_FUND", "NPM_CONFIG_UPDATE_NOTIFIER"), "false"),
    }
    trusted = tuple(path for path in (str(config.get("cafile") or ""),) if path)
    with_logins = tuple(replace(one, authorization=_npm_login(one.url, logins)) for one in sources)
    return ClientRegistries("npm", with_logins, environment, certificates=trusted)


async def _yarns() -> tuple[str, ...]:
    """Ask yarn 1, which npm's packages are often locked with: its lockfiles name its own registry."""
    said = await ask("yarn", "config", "get", "registry", extra={"COREPACK_ENABLE_NETWORK": "0"})
    last = said.strip().rpartition("\n")[2]
    return (last,) if _PLAIN_URL.fullmatch(last) else ()


def _npm_login(url: str, logins: dict[str, dict[str, str]]) -> str:
    parts = urlsplit(url)
    where = f"{parts.netloc}{parts.path}".rstrip("/") + "/"
    below = [known for known in logins if where.startswith(known.rstrip("/") + "/")]
    login = logins[max(below, key=len)] if below else {}
    if token := login.get("_authToken"):
        return f"Bearer {token}"
    if pair := login.get("_auth"):
        return f"Basic {pair}"
    if "username" in login and "_password" in login:
        return basic(login["username"], base64.b64decode(login["_password"]).decode(errors="replace"))
    return ""


def _npm_logins(*files: str) -> dict[str, dict[str, str]]:
    logins: dict[str, dict[str, str]] = {}
    for file in files:
        try:
            lines = Path(file).read_text(errors="replace").splitlines() if file else []
        except OSError:
            continue
        for line in lines:
            if found := _NPM_LINE.match(line):
                value = _VARIABLE.sub(lambda one: surroundings().get(one[1], ""), found["value"].strip("\"'"))
                logins.setdefault(found["where"], {})[found["key"]] = value
    return logins


async def go() -> ClientRegistries:
    """Ask go for its proxies; those that would leave for a version control host are left out."""
    config = _json_in(await ask("go", "env", "-json", "GOPROXY", "GOSUMDB", "GONOSUMDB", "GOPRIVATE", "GONOPROXY"))
    proxies = [one for one in re.split(r"[,|]", str(config.get("GOPROXY") or "")) if one not in {"", "direct", "off"}]
    if not proxies:
        raise unknown("go")
    sources, folders = sources_in(proxies)
    # A checksum database is a name, or a name, a key and an address.
    words = str(config.get("GOSUMDB") or "off").split()
    if words[0] != "off":
        sources += sources_in([words[-1] if len(words) > 2 else f"https://{words[0].partition('+')[0]}"])[0]
    plain = [RegistrySource.of(one).url if one.startswith("http") else one for one in proxies]
    kept = {key: str(config[key]) for key in ("GOSUMDB", "GONOSUMDB", "GOPRIVATE", "GONOPROXY") if config.get(key)}
    environment = {"GOPROXY": ",".join(plain), "GOTOOLCHAIN": "local", **kept}
    return ClientRegistries("go", sources, environment, folders).with_logins()


async def cargo() -> ClientRegistries:
    """Let cargo name the index it would download: it says so when its way there is closed."""
    with tempfile.TemporaryDirectory(prefix="midwatch-cargo-") as folder:
        await asyncio.to_thread(_crate, Path(folder))
        closed = {"CARGO_HTTP_PROXY": "http://127.0.0.1:1", "CARGO_NET_RETRY": "0"}
        # A target folder in the settings would be written otherwise.
        said = await ask("cargo", "fetch", extra={**closed, "CARGO_TARGET_DIR": f"{folder}/target"}, cwd=folder)
    found = _CARGO_INDEX.search(said)
    config, tokens = _cargo_files()
    named = _cargo_registries(config, tokens)
    usual = (RegistrySource.of(found[1]),) if found else ()
    sources = (*named.values(), *(one for one in usual if not any(_same(one, other) for other in named.values())))
    replaced = {name: kept for name, one in _tables(config, "source") if (kept := _cargo_source(one))}
    folders = tuple(Path(one[key]) for one in replaced.values() for key in _CARGO_FOLDERS if key in one)
    if not sources and not folders:
        raise unknown("cargo")
    indexes = {name: {"index": f"sparse+{one.url}"} for name, one in named.items()}
    settings = {key: value for key, value in (("source", replaced), ("registries", indexes)) if value}
    certificates = tuple(str(one["cainfo"]) for name, one in config.items() if name == "http" and "cainfo" in one)
    return ClientRegistries(
        client="cargo",
        sources=sources,
        environment=_cargo_variables(named),
        folders=folders,
        certificates=certificates,
        settings=tomlkit.dumps(settings) if settings else "",
    )


def _cargo_variables(named: dict[str, RegistrySource]) -> dict[str, str]:
    """Name the registries; one that wants a login is asked only by a cargo with a token, which the proxy replaces."""
    found = {}
    for name, one in named.items():
        variable = f"CARGO_REGISTRIES_{_variable(name)}"
        found[f"{variable}_INDEX"] = f"sparse+{one.url}"
        if one.authorization:
            found |= {f"{variable}_TOKEN": "outside", "CARGO_REGISTRY_GLOBAL_CREDENTIAL_PROVIDERS": "cargo:token"}
    return found


def _same(one: RegistrySource, other: RegistrySource) -> bool:
    return one.url.rstrip("/") == other.url.rstrip("/")


def _crate(folder: Path) -> None:
    (folder / "src").mkdir()
    (folder / "src" / "lib.rs").touch()
    manifest = '[package]\nname = "asks"\nversion = "0.0.0"\n\n[dependencies]\nlibc = "*"\n'
    (folder / "Cargo.toml").write_text(manifest)


def _cargo_files() -> tuple[dict[str, Any], dict[str, Any]]:
    home = Path(surroundings().get("CARGO_HOME", "~/.cargo")).expanduser()
    return toml_in(home / "config.toml") or toml_in(home / "config"), toml_in(home / "credentials.toml")


def _cargo_registries(config: dict[str, Any], tokens: dict[str, Any]) -> dict[str, RegistrySource]:
    """Read the registries besides the usual one, with their tokens."""
    known = dict(_tables(tokens, "registries"))
    named = {}
    for name, one in _tables(config, "registries"):
        index = str(one.get("index", ""))
        if index.startswith("sparse+http"):
            own = surroundings().get(f"CARGO_REGISTRIES_{_variable(name)}_TOKEN")
            token = str(own or one.get("token") or known.get(name, {}).get("token", ""))
            named[name] = replace(RegistrySource.of(index.removeprefix("sparse+")), authorization=token)
    return named


def _cargo_source(one: dict[str, Any]) -> dict[str, str]:
    """Keep what says where a source is read instead: from a registry, or from a folder of this machine."""
    kept = {key: str(one[key]) for key in ("replace-with", *_CARGO_FOLDERS) if key in one}
    registry = str(one.get("registry", ""))
    if registry.startswith("sparse+http"):
        kept["registry"] = f"sparse+{RegistrySource.of(registry.removeprefix('sparse+')).url}"
    return kept if all(Path(kept[key]).is_dir() for key in _CARGO_FOLDERS if key in kept) else {}


def _tables(config: dict[str, Any], name: str) -> list[tuple[str, dict[str, Any]]]:
    found = config.get(name, {})
    return [(key, one) for key, one in found.items() if isinstance(one, dict)] if isinstance(found, dict) else []


def _variable(name: str) -> str:
    return name.upper().replace("-", "_")


def _json_in(said: str) -> dict[str, Any]:
    """Read the object in what a program said; warnings may stand around it."""
    start, end = said.find("{"), said.rfind("}")
    try:
        found = json.loads(said[start : end + 1]) if start >= 0 else {}
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
