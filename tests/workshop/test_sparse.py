"""A clone by paths holds only those folders, and commits from it keep all the others."""

from pathlib import Path

import pytest

from midwatch.terms.contract import ToolScope
from midwatch.workshop.git.checkouts import Checkouts, folders_named
from midwatch.workshop.git.mirrors import GitMirrors
from midwatch.workshop.quarantine.quarantine import PackedWork, admit
from tests.workshop.repository import Repository

FILES = {
    "README.md": "top\n",
    "services/api/app.py": "x = 1\n",
    "services/api/deep/er/more.py": "y = 1\n",
    "services/web/page.html": "<p>\n",
    "services/shared.py": "z = 1\n",
    "docs/a b/guide.md": "read\n",
}


@pytest.fixture
async def wide(tmp_path: Path, mirrors: GitMirrors) -> Repository:
    made = Repository.begin(tmp_path / "wide", FILES)
    await mirrors.refresh("shop", made.path)
    return made


@pytest.mark.parametrize(
    ("patterns", "folders"),
    [
        (("services/api/**",), ("services/api",)),
        (("services/api/", "/docs/"), ("services/api", "docs")),
        (("src/**", "./src/**"), ("src",)),
        ((), ()),
        (("src/",), ("src",)),
        (("*/src/",), ()),
        (("src",), ()),
        (("services/api",), ()),  # may be a file
        (("services/*/**",), ()),
        (("services/api/**", "README.md"), ()),
        (("**",), ()),
        (("/**",), ()),
        (("a/../b/**",), ()),
        (('a"b/c/**',), ()),
    ],
)
def test_only_whole_folders_from_the_top_are_folders(patterns: tuple[str, ...], folders: tuple[str, ...]) -> None:
    assert folders_named(patterns) == folders


def files_in(tree: Path) -> set[str]:
    names = (str(file.relative_to(tree)) for file in tree.rglob("*") if file.is_file())
    return {name for name in names if not name.startswith(".git/")}


async def test_a_clone_by_paths_holds_those_folders_and_the_files_above(wide: Repository, checkouts: Checkouts) -> None:
    paths = ("services/api/**", "docs/a b/")
    tree = await checkouts.private_clone("shop", "job_1", 1, wide.head, paths=paths)
    assert files_in(tree) == set(FILES) - {"services/web/page.html"}
    async with checkouts.passing("shop", "job_1", wide.head, "x", paths=("services/web/**",)) as fresh:
        assert files_in(fresh) == {"README.md", "services/shared.py", "services/web/page.html"}
    async with checkouts.passing("shop", "job_1", wide.head, "x", paths=("*.py",)) as fresh:
        assert files_in(fresh) == set(FILES)


async def test_work_from_a_sparse_clone_keeps_the_rest_and_counts_only_what_changed(
    wide: Repository, mirrors: GitMirrors, enclosed: Checkouts, home: Path
) -> None:
    base = wide.head
    agent = Repository(await enclosed.private_clone("shop", "job_1", 1, base, paths=("services/api/**",)))
    assert (await enclosed.standing("job_1"))[0].unique == ()
    agent.commit("Work", {"services/api/app.py": "x = 2\n", "services/api/new.py": "n\n"})
    delivery = PackedWork("shop", "job_1", 1, base, agent.head, await enclosed.bundle("job_1", 1, base, agent.head))
    scope = ToolScope(allowed_paths=("services/api/**",))
    change = await admit(home, mirrors, delivery, scope=scope, do_not_touch=())
    assert [file.path for file in change.files] == ["services/api/app.py", "services/api/new.py"]
    whole = Repository(mirrors.path("shop")).git("ls-tree", "-r", "--name-only", change.head).splitlines()
    assert len(whole) == len(FILES) + 1


async def test_a_clone_takes_next_to_nothing_beyond_its_checkout(
    tmp_path: Path, mirrors: GitMirrors, checkouts: Checkouts
) -> None:
    lines = "".join(f"{number * 7919:x}\n" for number in range(40_000))
    made = Repository.begin(tmp_path / "large", {f"f{number}": f"{number}{lines}" for number in range(20)})
    await mirrors.refresh("large", made.path)
    tree = await checkouts.private_clone("large", "job_1", 1, made.head)

    def weight(folder: Path) -> int:
        return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())

    own = weight(tree / ".git")
    assert own < 0.05 * weight(mirrors.path("large"))
    assert own < 0.05 * (weight(tree) - own)
