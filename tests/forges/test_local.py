"""The local forge: the person's repository gets `agent/<job>`, and a merge only when they name it."""

import os
import shlex
import subprocess
from pathlib import Path

import pytest

from midwatch.errors import Misuse, Refused, Stale, Unknown
from midwatch.forges.local import LocalForge
from midwatch.terms.contract import ToolScope
from midwatch.workshop.git.checkouts import Checkouts
from midwatch.workshop.git.mirrors import GitMirrors
from midwatch.workshop.quarantine.quarantine import PackedWork, admit
from tests.workshop.repository import ENVIRONMENT, Repository, set_traps
from tests.workshop.smart_http import serving


class ForgeLab:
    """A person's repository, and an agent whose work has passed the quarantine."""

    def __init__(self, person: Repository, home: Path, mirrors: GitMirrors, checkouts: Checkouts) -> None:
        self.person, self.home, self.mirrors, self.checkouts = person, home, mirrors, checkouts
        self.forge = LocalForge(mirrors.git, mirrors)

    async def work(self, files: dict[str, str], *, epoch: int = 1, base: str = "") -> str:
        await self.mirrors.refresh("shop", self.person.path)
        base = base or self.person.head
        agent = Repository(await self.checkouts.private_clone("shop", "job_1", epoch, base))
        head = agent.commit("Work", files)
        bundle = await self.checkouts.bundle("job_1", epoch, base, head)
        delivery = PackedWork("shop", "job_1", epoch, base, head, bundle)
        await admit(self.home, self.mirrors, delivery, scope=ToolScope(), do_not_touch=())
        return head

    async def deliver(self, head: str) -> str:
        return await self.forge.deliver(self.person.path, "shop", "job_1", head)

    async def merge(self, head: str, into: str = "main") -> str:
        return (await self.forge.merge("shop", self.person.path, "job_1", head, into, "Merge job 1")).sha


@pytest.fixture
def lab(person: Repository, home: Path, mirrors: GitMirrors, checkouts: Checkouts) -> ForgeLab:
    return ForgeLab(person, home, mirrors, checkouts)


def run(command: str) -> None:
    argv = shlex.split(command)
    subprocess.run([argv[0], "-c", "safe.directory=*", *argv[1:]], env=ENVIRONMENT, check=True, capture_output=True)


async def test_a_delivery_changes_nothing_but_its_own_branch_and_runs_no_hook(lab: ForgeLab, tmp_path: Path) -> None:
    proof = tmp_path / "proof"
    set_traps(lab.person, proof)
    lab.person.write({"src/app.py": "unsaved = True\n", "note.txt": "mine"})
    lab.person.git("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "add", "src/app.py")
    proof.unlink(missing_ok=True)
    before = lab.person.picture()
    head = await lab.work({"src/app.py": "x = 2\n"})
    assert await lab.deliver(head) == "agent/job_1"
    assert not proof.exists()
    assert lab.person.picture() == before
    agents = {name: commit for name, commit in lab.person.refs().items() if "agent" in name}
    assert agents == {"refs/heads/agent/job_1": head}


async def test_delivering_again_is_fine_and_newer_work_follows(lab: ForgeLab) -> None:
    base = lab.person.head
    first = await lab.work({"a.txt": "1"})
    await lab.deliver(first)
    assert await lab.deliver(first) == "agent/job_1"
    second = await lab.work({"b.txt": "2"}, epoch=2, base=first)
    await lab.deliver(second)
    assert lab.person.refs() == {"refs/heads/main": base, "refs/heads/agent/job_1": second}


async def test_other_work_under_the_same_name_is_never_overwritten(lab: ForgeLab) -> None:
    head = await lab.work({"a.txt": "1"})
    theirs = lab.person.git("commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "Theirs")
    lab.person.git("branch", "agent/job_1", theirs)
    with pytest.raises(Refused, match="already exists"):
        await lab.deliver(head)
    assert lab.person.refs()["refs/heads/agent/job_1"] == theirs


async def test_a_branch_in_the_way_and_one_that_is_checked_out_are_refused(lab: ForgeLab) -> None:
    first = await lab.work({"a.txt": "1"})
    lab.person.git("branch", "agent")
    with pytest.raises(Refused, match="rejected agent/"):
        await lab.deliver(first)
    lab.person.git("branch", "-D", "agent")
    await lab.deliver(first)
    lab.person.git("switch", "--quiet", "agent/job_1")
    lab.person.git("config", "receive.denyCurrentBranch", "updateInstead")
    second = await lab.work({"b.txt": "2"}, epoch=2, base=first)
    with pytest.raises(Refused, match="currently checked out"):
        await lab.deliver(second)
    assert not (lab.person.path / "b.txt").exists()


async def test_names_that_are_not_names_are_misuse(lab: ForgeLab) -> None:
    await lab.mirrors.refresh("shop", lab.person.path)
    with pytest.raises(Misuse):
        await lab.forge.deliver(lab.person.path, "shop", "../main", lab.person.head)
    with pytest.raises(Misuse):
        await lab.forge.deliver(lab.person.path, "shop", "job_1", "--mirror")
    assert list(lab.person.refs()) == ["refs/heads/main"]


async def test_a_clean_checkout_moves_forward_without_hooks_and_can_be_undone(lab: ForgeLab, tmp_path: Path) -> None:
    head = await lab.work({"src/app.py": "x = 2\n"})
    await lab.deliver(head)
    old = lab.person.commit("Meanwhile", {"other.txt": "o"})
    lab.person.write({"untracked.txt": "mine"})
    proof = tmp_path / "proof"
    set_traps(lab.person, proof)
    merged = await lab.forge.merge("shop", lab.person.path, "job_1", head, "main", "Merge job 1")
    assert not proof.exists()
    for key in ("core.fsmonitor", "core.pager"):
        lab.person.git("config", "--unset", key)
    assert lab.person.head == merged.sha
    assert lab.person.git("log", "-1", "--format=%P|%s") == f"{old} {head}|Merge job 1"
    assert (lab.person.path / "src" / "app.py").read_text() == "x = 2\n"
    assert (lab.person.path / "other.txt").read_text() == "o"
    assert lab.person.git("status", "--porcelain") == "?? untracked.txt"
    for command in merged.undo:
        run(command)
    assert lab.person.head == old
    assert (lab.person.path / "src" / "app.py").read_text() == "x = 1\n"


async def test_a_branch_nobody_has_checked_out_moves_by_itself_and_can_be_undone(lab: ForgeLab) -> None:
    head = await lab.work({"src/app.py": "x = 2\n"})
    lab.person.git("branch", "release")
    before = lab.person.picture()
    merged = await lab.forge.merge("shop", lab.person.path, "job_1", head, "release", "Merge")
    assert lab.person.picture() == {**before, "refs/heads/release": merged.sha}
    for command in merged.undo:
        run(command)
    assert lab.person.picture() == before


async def test_a_branch_checked_out_in_another_worktree_is_moved_there(lab: ForgeLab, tmp_path: Path) -> None:
    head = await lab.work({"src/app.py": "x = 2\n"})
    lab.person.git("worktree", "add", "--quiet", "-b", "release", str(tmp_path / "second tree"))
    await lab.merge(head, "release")
    assert (tmp_path / "second tree" / "src" / "app.py").read_text() == "x = 2\n"
    assert (lab.person.path / "src" / "app.py").read_text() == "x = 1\n"


async def test_a_dirty_checkout_is_refused_with_the_command_to_run(lab: ForgeLab) -> None:
    head = await lab.work({"src/app.py": "x = 2\n"})
    await lab.deliver(head)
    lab.person.write({"README.md": "unsaved\n"})
    before = lab.person.picture()
    with pytest.raises(Refused, match="uncommitted") as caught:
        await lab.merge(head)
    assert lab.person.picture() == before
    command = caught.value.hint.split("`")[1]
    run(command + " -m Merged")
    assert (lab.person.path / "src" / "app.py").read_text() == "x = 2\n"
    assert (lab.person.path / "README.md").read_text() == "unsaved\n"


async def test_an_untracked_file_in_the_way_is_not_overwritten(lab: ForgeLab) -> None:
    head = await lab.work({"new.txt": "theirs\n"})
    lab.person.write({"new.txt": "mine\n"})
    before = lab.person.picture()
    with pytest.raises(Refused, match="could not be moved forward"):
        await lab.merge(head)
    assert lab.person.picture() == before


async def test_conflicts_are_refused_by_file(lab: ForgeLab) -> None:
    head = await lab.work({"src/app.py": "x = 2\n"})
    lab.person.commit("Meanwhile", {"src/app.py": "x = 3\n"})
    before = lab.person.picture()
    with pytest.raises(Refused, match=r"src/app\.py") as caught:
        await lab.merge(head)
    assert caught.value.because == ("src/app.py",)
    assert lab.person.picture() == before


async def test_merging_twice_is_merging_once_and_still_tells_the_undo(lab: ForgeLab) -> None:
    head = await lab.work({"src/app.py": "x = 2\n"})
    first = await lab.forge.merge("shop", lab.person.path, "job_1", head, "main", "Merge")
    assert await lab.forge.merge("shop", lab.person.path, "job_1", head, "main", "Merge") == first
    lab.person.commit("Later", {"later.txt": "l"})
    again = await lab.forge.merge("shop", lab.person.path, "job_1", head, "main", "Merge")
    assert (again.sha, again.undo) == (lab.person.head, ())


async def test_a_branch_that_moved_meanwhile_is_not_overwritten(lab: ForgeLab) -> None:
    await lab.work({"src/app.py": "x = 2\n"})
    lab.person.git("branch", "release")
    stale = lab.person.head
    newer = lab.person.commit("Newer")
    lab.person.git("branch", "--force", "release", newer)
    with pytest.raises(Stale):
        await lab.forge._swap(lab.person.path, "release", old=stale, new=stale)
    with pytest.raises(Stale):
        await lab.forge._fast_forward(lab.person.path, "main", old=stale, new=stale)
    assert lab.person.refs()["refs/heads/release"] == newer


async def test_an_unknown_branch_is_named(lab: ForgeLab) -> None:
    head = await lab.work({"a.txt": "1"})
    with pytest.raises(Unknown, match="nowhere"):
        await lab.merge(head, "nowhere")


async def test_a_bare_repository_takes_deliveries_and_merges(lab: ForgeLab, tmp_path: Path) -> None:
    bare = Repository(tmp_path / "bare.git")
    lab.person.git("clone", "--quiet", "--bare", str(lab.person.path), str(bare.path))
    head = await lab.work({"src/app.py": "x = 2\n"})
    await lab.forge.deliver(bare.path, "shop", "job_1", head)
    merged = await lab.forge.merge("shop", bare.path, "job_1", head, "main", "Merge")
    assert bare.refs() == {"refs/heads/main": merged.sha, "refs/heads/agent/job_1": head}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to somebody else")
async def test_a_repository_of_another_user_takes_a_delivery(lab: ForgeLab) -> None:
    head = await lab.work({"src/app.py": "x = 2\n"})
    for path in [lab.person.path, *lab.person.path.rglob("*")]:
        os.lchown(path, 4321, 4321)
    await lab.deliver(head)
    assert lab.person.refs()["refs/heads/agent/job_1"] == head


async def test_a_delivery_is_in_the_mirror_too(lab: ForgeLab) -> None:
    head = await lab.work({"src/app.py": "y = 2\n"})
    await lab.deliver(head)
    assert Repository(lab.mirrors.path("shop")).refs()["refs/heads/agent/job_1"] == head


async def test_a_remote_by_url_takes_a_delivery_and_nothing_by_force(lab: ForgeLab, tmp_path: Path) -> None:
    head = await lab.work({"src/app.py": "y = 2\n"})
    with serving(tmp_path / "served", lab.person) as address:
        url, far = f"{address}/shop.git", Repository(tmp_path / "served" / "shop.git")
        before = far.refs()
        assert await lab.forge.deliver(url, "shop", "job_1", head) == "agent/job_1"
        assert await lab.forge.deliver(url, "shop", "job_1", head) == "agent/job_1"
        assert far.refs() == {**before, "refs/heads/agent/job_1": head}
        other = far.git("commit-tree", "-m", "Other", "-p", before["refs/heads/main"], f"{head}^{{tree}}")
        far.git("update-ref", "refs/heads/agent/job_1", other)
        with pytest.raises(Refused, match="already exists") as caught:
            await lab.forge.deliver(url, "shop", "job_1", head)
        assert "--delete agent/job_1" in caught.value.hint
        far.git("update-ref", "-d", "refs/heads/agent/job_1")
        far.git("config", "http.receivepack", "false")
        with pytest.raises(Refused, match="rejected agent/"):
            await lab.forge.deliver(url, "shop", "job_1", head)
        with pytest.raises(Refused, match="is remote, so Midwatch cannot merge it"):
            await lab.forge.merge("shop", url, "job_1", head, "main", "Merge")
