"""What this machine's package clients are set to is asked from the clients themselves."""

import base64
import shutil
import sys
import tomllib
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from midwatch.engine.clocks import SystemClock
from midwatch.errors import Unavailable
from midwatch.gateway.registries import RegistryAccess, RegistryBook
from midwatch.gateway.registries.access import hosts_of
from midwatch.gateway.registries.book import downloads, links
from midwatch.gateway.registries.client import ClientRegistries, DownloadHost, RegistrySource
from midwatch.gateway.registries.other_clients import cargo, go, npm
from midwatch.gateway.registries.python_clients import pip, uv
from tests.conftest import missing
from tests.gateway.egress.lab import FarEnd, far_end

SIMPLE = "simple"
"""The usual name of an index, which no address in our files may have."""
UV = Path(sys.prefix) / "installer" / "bin"


async def at_files(asked: ClientRegistries) -> tuple[DownloadHost, ...]:
    return (DownloadHost("files.example", 443, (("packages.example", 443),)),) if asked.sources else ()


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A person's home with nothing in it."""
    for name in ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "PIP_CONFIG_FILE", "UV_INDEX", "NETRC"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    return tmp_path


async def test_pip_names_its_indexes_and_the_password_stays_out_of_what_a_sandbox_sees(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheels = machine / "wheels"
    wheels.mkdir()
    monkeypatch.setenv("PIP_INDEX_URL", f"https://ann:pa%40ss-word@packages.example/team/{SIMPLE}")
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", f"https://more.example/{SIMPLE}/")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheels))
    (machine / ".netrc").write_text("machine more.example login bob password by-netrc\n")
    (machine / ".netrc").chmod(0o600)
    asked = await pip()
    first, second = hosts_of(asked)
    assert (first.host, first.port, first.secure, first.folder) == ("packages.example", 443, True, "/team/")
    assert await first.headers() == {"Authorization": "Basic " + base64.b64encode(b"ann:pa@ss-word").decode()}
    assert await second.headers() == {"Authorization": "Basic " + base64.b64encode(b"bob:by-netrc").decode()}
    assert asked.environment["PIP_INDEX_URL"] == f"https://packages.example/team/{SIMPLE}"
    assert asked.folders == (wheels,)
    assert "pa@ss" not in repr(asked)
    known: dict[str, str] = {}
    await RegistryBook(known.update, at_files).of("pip")
    assert {"pa@ss-word", "by-netrc"} <= set(known.values())


async def test_an_index_by_plain_http_that_pip_trusts_is_trusted_in_a_sandbox_too(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = machine / "pip.conf"
    settings.write_text(
        "[global]\nindex-url = http://shelf.example/all\ntrusted-host =\n  shelf.example\n  more.example\n"
    )
    monkeypatch.setenv("PIP_CONFIG_FILE", str(settings))
    asked = await pip()
    assert [(one.host, one.port, one.secure) for one in hosts_of(asked)] == [("shelf.example", 80, False)]
    assert asked.environment["PIP_TRUSTED_HOST"] == "shelf.example more.example"


@pytest.mark.usefixtures("machine")
async def test_pip_names_its_built_in_index_where_none_is_set() -> None:
    asked = await pip()
    assert [one.secure for one in hosts_of(asked)] == [True]
    assert asked.environment["PIP_INDEX_URL"] == asked.sources[0].url


async def test_npm_names_its_registries_and_its_token_is_found_for_the_right_one(machine: Path) -> None:
    if shutil.which("npm") is None:
        missing("npm", "it is asked for its registry")
    (machine / ".npmrc").write_text(
        "registry=https://npm.example/all/\n@ours:registry=https://ours.example/\n"
        "//ours.example/:_authToken=npm-t0ken-of-ours\n"
    )
    asked = await npm()
    plain, ours = hosts_of(asked)
    assert (plain.host, plain.folder, await plain.headers()) == ("npm.example", "/all/", {})
    assert (ours.host, await ours.headers()) == ("ours.example", {"Authorization": "Bearer npm-t0ken-of-ours"})
    assert asked.environment["NPM_CONFIG_REGISTRY"] == "https://npm.example/all/"


async def test_the_registry_that_lockfiles_of_yarn_1_name_is_npms_too(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for client, says in (
        ("npm", """echo '{"registry": "https://npm.example/"}'"""),
        ("yarn", "echo 'yarn config v1'; echo https://yarn.example"),
    ):
        (machine / client).write_text(f"#!/bin/sh\n{says}\n")
        (machine / client).chmod(0o755)
    monkeypatch.setenv("PATH", f"{machine}:/usr/bin:/bin")
    assert [one.host for one in hosts_of(await npm())] == ["npm.example", "yarn.example"]
    (machine / "yarn").write_text("#!/bin/sh\necho 'Usage Error: no such setting: https://yarn.example'; exit 1\n")
    asked = await npm()
    assert [one.host for one in hosts_of(asked)] == ["npm.example"]
    assert asked.environment["PNPM_CONFIG_REGISTRY"] == "https://npm.example/"


async def test_uv_names_its_indexes(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(UV))
    assert [one.secure for one in hosts_of(await uv())] == [True]
    (machine / ".config" / "uv").mkdir(parents=True)
    (machine / ".config" / "uv" / "uv.toml").write_text(
        f'[[index]]\nurl = "https://u:secret-one@uv.example/{SIMPLE}"\ndefault = true\n'
        f'[[index]]\nname = "more"\nurl = "https://more.example/{SIMPLE}"\n'
    )
    asked = await uv()
    assert [one.host for one in hosts_of(asked)] == ["uv.example", "more.example"]
    assert asked.environment["UV_DEFAULT_INDEX"] == f"https://uv.example/{SIMPLE}"
    assert asked.environment["UV_INDEX"] == f"https://more.example/{SIMPLE}"


SAID = {
    "go": (go, """echo '{"GOPROXY": "https://g:p-for-go@go.example/,direct", "GOSUMDB": "sum.example"}'"""),
    "cargo": (cargo, "echo '  failed to download from `https://crates.example/index/config.json`'; exit 101"),
}


@pytest.mark.parametrize("client", SAID)
async def test_go_and_cargo_name_theirs(client: str, machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asking, says = SAID[client]
    (machine / client).write_text(f"#!/bin/sh\n{says}\n")
    (machine / client).chmod(0o755)
    monkeypatch.setenv("PATH", f"{machine}:/usr/bin:/bin")
    hosts = [(one.host, one.folder) for one in hosts_of(await asking())]
    assert (
        hosts
        == {
            "go": [("go.example", "/"), ("sum.example", "/")],
            "cargo": [("crates.example", "/index/")],
        }[client]
    )


CARGO = """
[source.crates-io]
replace-with = "mirror"
[source.mirror]
registry = "sparse+https://ann:pa55-for-ann@mirror.example/index/"
[source.shelf]
directory = "{shelf}"
[source.gone]
directory = "/no/such/folder"
[registries.our-crates]
index = "sparse+https://ours.example/index/"
token = "cargo-t0ken-of-ours"
[registry]
default = "our-crates"
[http]
cainfo = "/etc/ssl/ours.pem"
"""


async def test_cargos_replaced_sources_and_named_registries_reach_a_sandbox_without_their_tokens(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (machine / "cargo").write_text(
        "#!/bin/sh\necho 'failed to download from `https://mirror.example/index/config.json`'\n"
    )
    (machine / "cargo").chmod(0o755)
    monkeypatch.setenv("PATH", f"{machine}:/usr/bin:/bin")
    monkeypatch.setenv("CARGO_HOME", str(machine))
    (machine / "config.toml").write_text(CARGO.format(shelf=machine))
    asked = await cargo()
    ours, mirror = hosts_of(asked)
    assert (ours.host, await ours.headers()) == ("ours.example", {"Authorization": "cargo-t0ken-of-ours"})
    assert (mirror.host, mirror.folder) == ("mirror.example", "/index/")
    assert asked.environment["CARGO_REGISTRIES_OUR_CRATES_INDEX"] == "sparse+https://ours.example/index/"
    assert asked.environment["CARGO_REGISTRIES_OUR_CRATES_TOKEN"] == "outside"
    assert tomllib.loads(asked.settings) == {
        "source": {
            "crates-io": {"replace-with": "mirror"},
            "mirror": {"registry": "sparse+https://mirror.example/index/"},
            "shelf": {"directory": str(machine)},
        },
        "registries": {"our-crates": {"index": "sparse+https://ours.example/index/"}},
    }
    assert (asked.folders, asked.certificates) == ((machine,), ("/etc/ssl/ours.pem",))
    access = RegistryAccess(RegistryBook(print, at_files), b"k" * 32, machine, SystemClock())
    inside = await access.for_clients(("cargo",))
    assert inside.environment["MIDWATCH_CARGO_SETTINGS"] == str(machine / "registries-cargo.toml")
    assert machine / "registries-cargo.toml" in inside.lent
    assert (machine / "registries-cargo.toml").read_text() == asked.settings


CRATES = {
    "its own folder, for those who log in": ("{}/crates", "true", [("/index/", "t0ken"), ("/crates/", "t0ken")]),
    "its own folder, by a pattern": ("{}/dl/{{crate}}/{{version}}", "true", [("/index/", "t0ken"), ("/dl/", "t0ken")]),
    "its own folder, for everyone": ("{}/crates", "false", [("/index/", "t0ken")]),
    "elsewhere": ("https://crates.elsewhere.example/", "true", [("/index/", "t0ken"), ("/", "")]),
    "nowhere": ("http://[", "true", [("/index/", "t0ken")]),
}


@pytest.mark.parametrize("case", CRATES)
async def test_crates_beside_their_index_are_read_with_its_token_as_cargo_does(case: str) -> None:
    crates, login, folders = CRATES[case]
    end = FarEnd()
    async with far_end(end):
        at = f"http://127.0.0.1:{end.port}"
        said = f'{{"dl": "{crates.format(at)}", "auth-required": {login}}}'.encode()
        end.answer = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(said), said)
        index = RegistrySource(f"{at}/index/", "t0ken")
        found = await downloads(ClientRegistries("cargo", (index,)))
    own = [(one.folder, one.authorization) for one in (index, *found) if isinstance(one, RegistrySource)]
    others = [("/", "") for one in found if isinstance(one, DownloadHost)]
    assert own + others == folders


@pytest.mark.parametrize("asking", [uv, npm, go, cargo])
async def test_a_client_that_is_not_here_is_said_to_be_missing(
    asking: Callable[[], Awaitable[ClientRegistries]], machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(machine))
    with pytest.raises(Unavailable, match="does not say which these are"):
        await asking()


def test_a_registry_itself_says_from_where_packages_are_downloaded() -> None:
    assert links("pip", '{"files": [{"url": "https://files.example/a.whl"}]}') == ("https://files.example/a.whl",)
    assert links("pip", '<a href="https://files.example/a.whl#sha256=1">a</a>') == ("https://files.example/a.whl",)
    assert links("npm", '{"dist": {"tarball": "https://t.example/n.tgz"}, "homepage": "https://evil.example"}') == (
        "https://t.example/n.tgz",
    )
    assert links("cargo", '{"dl": "https://dl.example/crates"}') == ("https://dl.example/crates",)
    assert links("npm", "<html>") == ()


async def test_a_sandbox_trusts_what_the_machine_trusts_and_our_certificates(machine: Path) -> None:
    access = RegistryAccess(RegistryBook(print, at_files), b"k" * 32, machine, SystemClock())
    inside = await access.for_clients(("pip",))
    assert inside.hosts[-1].host == "files.example"
    bundle = machine / "registries.pem"
    assert inside.lent[0] == bundle
    assert {inside.environment[name] for name in ("PIP_CERT", "SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS")} == {str(bundle)}
    assert bundle.stat().st_mode & 0o777 == 0o600
    assert bundle.read_text().count("BEGIN CERTIFICATE") > 1


async def test_a_client_that_is_not_installed_keeps_no_other_from_its_registries(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    access = RegistryAccess(RegistryBook(print, at_files), b"k" * 32, machine, SystemClock())
    monkeypatch.setenv("PIP_INDEX_URL", f"https://packages.example/{SIMPLE}")
    pip_alone = await access.for_clients(("pip",))
    monkeypatch.setenv("PATH", str(machine))
    both = await access.for_clients(("uv", "pip"))
    assert [one.host for one in both.hosts] == [one.host for one in pip_alone.hosts]
    (machine / "uv").write_text("#!/bin/sh\nexit 1\n")
    (machine / "uv").chmod(0o755)
    with pytest.raises(Unavailable, match="uv on this machine does not say"):
        await access.for_clients(("uv", "pip"))
