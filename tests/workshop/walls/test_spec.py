"""Walls with a hole are refused before they are built."""

from pathlib import Path
from typing import Any

import pytest

from midwatch.errors import Misuse
from midwatch.terms.trust import Isolation
from midwatch.workshop.sandbox.walls.entry import command, place_inside
from midwatch.workshop.sandbox.walls.spec import SandboxSpec


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    folder = tmp_path / "tree"
    (folder / "inner").mkdir(parents=True)
    return folder


@pytest.mark.parametrize(
    "path", ["/", "/etc", "/proc", "/proc/1", "/sys", "/run", "/usr", "/dev", str(Path.home()), "/nowhere", "relative"]
)
@pytest.mark.parametrize("role", ["read_only", "writable", "objects"])
def test_what_shows_too_much_is_not_lent(tree: Path, path: str, role: str) -> None:
    more: dict[str, Any] = {role: (Path(path),)}
    with pytest.raises(Misuse):
        SandboxSpec(tree=tree, **more).check()


@pytest.mark.parametrize("role", ["tree", "home", "tmp"])
def test_the_agents_own_folders_are_no_places_of_the_system(tree: Path, role: str) -> None:
    more: dict[str, Any] = {"tree": tree, role: Path("/etc")}
    with pytest.raises(Misuse):
        SandboxSpec(**more).check()


def test_a_link_to_too_much_is_seen_through(tree: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/")
    with pytest.raises(Misuse, match="far more"):
        SandboxSpec(tree=tree, read_only=(tmp_path / "link",)).check()


def test_nothing_is_lent_from_where_the_agent_writes(tree: Path) -> None:
    with pytest.raises(Misuse, match="that the agent can write"):
        SandboxSpec(tree=tree, read_only=(tree / "inner",)).check()


def test_the_system_is_not_lent_for_writing(tree: Path) -> None:
    with pytest.raises(Misuse, match="belongs to the system"):
        SandboxSpec(tree=tree, writable=(Path("/usr/share"),)).check()


def test_ports_need_somebody_who_waits_for_them(tree: Path) -> None:
    with pytest.raises(Misuse, match="nothing serves them"):
        SandboxSpec(tree=tree, ports=(3128,)).check()


def test_the_note_stays_outside_and_is_ours_alone(tree: Path, tmp_path: Path) -> None:
    walls = SandboxSpec(tree=tree, home=tmp_path)
    with pytest.raises(Misuse, match="inside them"):
        command(walls, ["true"], isolation=Isolation.NONE, note=tree / "note.json")
    note = tmp_path.with_name(f"{tmp_path.name}-note.json")
    command(SandboxSpec(tree=tree, home=tree / "inner"), ["true"], isolation=Isolation.NONE, note=note)
    assert note.stat().st_mode & 0o777 == 0o600


def test_names_that_cannot_be_in_an_environment_are_refused(tree: Path, tmp_path: Path) -> None:
    walls = SandboxSpec(tree=tree, home=tree / "inner", environment={"A=B": "c"})
    with pytest.raises(Misuse, match="environment"):
        command(walls, ["true"], isolation=Isolation.NONE, note=tmp_path / "note.json")


def test_the_tree_is_called_ws_only_behind_bubblewrap(tree: Path) -> None:
    walls = SandboxSpec(tree=tree)
    assert place_inside(walls, Isolation.BUBBLEWRAP) == Path("/ws")
    assert place_inside(walls, Isolation.LANDLOCK) == tree
