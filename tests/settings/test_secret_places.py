"""No folder that holds a secret is lent to a job: places that are known, links to them, what is above and below."""

from pathlib import Path

import pytest

from midwatch.errors import Misuse
from midwatch.settings.secret_places import IN_A_HOME, IN_A_TOOL, holds_secret, refuse_inside_secret_place
from midwatch.terms.trust import Isolation
from midwatch.workshop.sandbox.isolation import enclosure
from midwatch.workshop.sandbox.walls.spec import SandboxLimits


@pytest.fixture
def ann(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "ann"))
    (tmp_path / "ann" / "tools").mkdir(parents=True)
    return tmp_path / "ann"


def lent(folder: Path | str, data: Path, *kept: Path) -> None:
    enclosure(Isolation.NONE, data, (str(folder),), limits=SandboxLimits(), kept=kept)


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
    with pytest.raises(Misuse, match="it holds secrets"):
        lent(ann / "tools", data, key)
    monkeypatch.setenv("KUBECONFIG", str(ann / "tools" / "cluster"))
    with pytest.raises(Misuse, match="it holds secrets"):
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
