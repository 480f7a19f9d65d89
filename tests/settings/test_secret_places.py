"""No folder that holds a secret is lent to a job: places that are known, links to them, what is above and below."""

import pwd
import sys
from pathlib import Path

import pytest

from midwatch.errors import Misuse
from midwatch.settings.secret_places import IN_A_HOME, IN_A_TOOL, holds_secret, refuse_inside_secret_place, why_secret
from midwatch.terms.trust import Isolation
from midwatch.workshop.sandbox.isolation import enclosure
from midwatch.workshop.sandbox.walls.spec import SandboxLimits


@pytest.fixture
def ann(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "ann"))
    (tmp_path / "ann" / "tools").mkdir(parents=True)
    return tmp_path / "ann"


def lent(folder: Path | str, data: Path, *kept: Path) -> None:
    for problem in enclosure(Isolation.NONE, data, (str(folder),), limits=SandboxLimits(), kept=kept).left_out:
        raise problem


@pytest.mark.parametrize("name", IN_A_HOME)
def test_a_place_of_secrets_is_not_lent_nor_what_is_in_it_above_it_or_leads_to_it(ann: Path, name: str) -> None:
    place, link = ann / name, ann / "tools" / "link"
    (place / "inner").mkdir(parents=True)
    link.symlink_to(place)
    for path in (place, place / "inner", link, link / "inner", ann, ann.parent, Path("/"), f"~/{name}"):
        with pytest.raises(Misuse, match="cannot be used"):
            lent(path, ann / "data")


@pytest.mark.parametrize("name", IN_A_TOOL)
def test_the_folder_of_a_tool_is_lent_while_no_credential_is_in_it(ann: Path, name: str) -> None:
    folder = (ann / name).parent
    folder.mkdir(parents=True, exist_ok=True)
    assert holds_secret(folder) == (folder == ann)
    (ann / name).write_text("secret")
    assert holds_secret(folder)


def test_data_folder_secrets_of_the_settings_and_named_places_are_not_lent(
    ann: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, key = ann / "data", ann / "tools" / "keys" / "deploy"
    (data / "secrets").mkdir(parents=True)
    key.parent.mkdir()
    for path in (data, data / "secrets"):
        with pytest.raises(Misuse, match="Midwatch's own data"):
            lent(path, data)
    lent(ann / "tools", data)
    with pytest.raises(Misuse, match="it would hold secrets"):
        lent(ann / "tools", data, key)
    key.touch()
    with pytest.raises(Misuse, match="it holds secrets"):
        lent(ann / "tools", data, key)
    key.unlink()
    monkeypatch.setenv("GIT_ASKPASS", str(ann / "tools" / "ask"))
    lent(ann / "tools", data)
    monkeypatch.setenv("KUBECONFIG", str(ann / "tools" / "cluster"))
    with pytest.raises(Misuse, match="it would hold secrets"):
        lent(ann / "tools", data)


@pytest.mark.parametrize("name", ["id_ed25519", ".ssh", ".env", ".git-credentials"])
def test_a_folder_elsewhere_with_a_secret_in_it_is_not_lent(ann: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / "elsewhere").mkdir()
    lent(tmp_path / "elsewhere", ann / "data")
    (tmp_path / "elsewhere" / name).touch()
    with pytest.raises(Misuse, match=f"it holds {name}"):
        lent(tmp_path / "elsewhere", ann / "data")


@pytest.mark.parametrize("path", ["/etc", "/proc", "/dev", "/run", "~nobody-of-this-name/x", "/a\0b"])
def test_what_is_of_the_system_or_no_path_is_refused_in_words(ann: Path, path: str) -> None:
    with pytest.raises(Misuse):
        lent(path, ann / "data")


def test_a_repository_may_lie_beside_secrets_and_not_in_a_place_of_them(ann: Path) -> None:
    (ann / ".ssh").mkdir()
    refuse_inside_secret_place(ann, "The repository")
    refuse_inside_secret_place(ann / "shop", "The repository")
    with pytest.raises(Misuse):
        refuse_inside_secret_place(ann / ".ssh", "The repository")
    refuse_inside_secret_place(Path("/dev/shm/shop"), "The repository")
    with pytest.raises(Misuse):
        refuse_inside_secret_place(Path("/dev/disk"), "The repository")


def test_the_reason_is_a_sentence_that_says_what_is_there(ann: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (ann / ".ssh").mkdir()
    monkeypatch.setenv("MIDWATCH_HOME", str(ann / "tools" / "data"))
    assert why_secret(ann / ".ssh") == f"it is the place of secrets ({ann / '.ssh'})"
    assert why_secret(ann / ".ssh" / "in") == f"it lies in the place of secrets ({ann / '.ssh'})"
    assert why_secret(ann / "tools") == f"it would hold Midwatch's own data ({ann / 'tools' / 'data'})"
    (ann / "tools" / "data").mkdir()
    assert why_secret(ann / "tools") == f"it holds Midwatch's own data ({ann / 'tools' / 'data'})"


@pytest.mark.usefixtures("ann")
def test_only_homes_that_have_to_do_with_a_path_are_looked_into(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bob, eve = (tmp_path / "net" / name for name in ("bob", "eve"))
    for home in (bob, eve):
        (home / ".ssh").mkdir(parents=True)
    entries = [pwd.struct_passwd((one.name, "x", 1, 1, "", str(one), "/bin/sh")) for one in (bob, eve)]
    monkeypatch.setattr(pwd, "getpwall", lambda: entries)
    looked, exists = list[Path](), Path.exists

    def look(path: Path) -> bool:
        looked.append(path)
        return exists(path)

    monkeypatch.setattr(Path, "exists", look)
    assert holds_secret(bob / ".ssh" / "in")
    assert holds_secret(tmp_path / "net")
    looked.clear()
    assert not holds_secret(bob / "tools")
    assert [one for one in looked if bob in one.parents]
    assert not [one for one in looked if eve in one.parents]


def test_a_toolchain_by_name_and_our_own_ground_are_held_to_the_settings_secrets(ann: Path) -> None:
    program = ann / "tools" / "bin" / "uv"
    program.parent.mkdir()
    program.write_text("#!/bin/sh")
    program.chmod(0o700)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", str(program.parent))
        lent("uv", ann / "data")
        with pytest.raises(Misuse, match=r"The toolchain uv in .* cannot be used"):
            lent("uv", ann / "data", program)
    with pytest.raises(Misuse, match=r"Midwatch's own programs, .*, but it would hold secrets"):
        lent(ann / "tools", ann / "data", Path(sys.prefix) / "deploy-key")
