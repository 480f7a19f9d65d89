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


class Yard:
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
def yard(person: Repository, home: Path, mirrors: GitMirrors, checkouts: Checkouts) -> Yard:
    return Yard(person, home, mirrors, checkouts)


def run(command: str) -> None:
    argv = shlex.split(command)
    subprocess.run([argv[0], "-c", "safe.directory=*", *argv[1:]], env=ENVIRONMENT, check=True, capture_output=True)


async def test_a_delivery_changes_nothing_but_its_own_branch_and_runs_no_hook(yard: Yard, tmp_path: Path) -> None:
    proof = tmp_path / "proof"
    set_traps(yard.person, proof)
    yard.person.write({"src/app.py": "unsaved = True\n", "note.txt": "mine"})
    yard.person.git("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "add", "src/app.py")
    proof.unlink(missing_ok=True)
    before = yard.person.picture()
    head = await yard.work({"src/app.py": "x = 2\n"})
    assert await yard.deliver(head) == "agent/job_1"
    assert not proof.exists()
    assert yard.person.picture() == before
    agents = {name: commit for name, commit in yard.person.refs().items() if "agent" in name}
    assert agents == {"refs/heads/agent/job_1": head}


async def test_delivering_again_is_fine_and_newer_work_follows(yard: Yard) -> None:
    base = yard.person.head
    first = await yard.work({"a.txt": "1"})
    await yard.deliver(first)
    assert await yard.deliver(first) == "agent/job_1"
    second = await yard.work({"b.txt": "2"}, epoch=2, base=first)
    await yard.deliver(second)
    assert yard.person.refs() == {"refs/heads/main": base, "refs/heads/agent/job_1": second}


async def test_other_work_under_the_same_name_is_never_overwritten(yard: Yard) -> None:
    head = await yard.work({"a.txt": "1"})
    theirs = yard.person.git("commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "Theirs")
    yard.person.git("branch", "agent/job_1", theirs)
    with pytest.raises(Refused, match="already exists"):
        await yard.deliver(head)
    assert yard.person.refs()["refs/heads/agent/job_1"] == theirs


async def test_a_branch_in_the_way_and_one_that_is_checked_out_are_refused(yard: Yard) -> None:
    first = await yard.work({"a.txt": "1"})
    yard.person.git("branch", "agent")
    with pytest.raises(Refused, match="rejected agent/"):
        await yard.deliver(first)
    yard.person.git("branch", "-D", "agent")
    await yard.deliver(first)
    yard.person.git("switch", "--quiet", "agent/job_1")
    yard.person.git("config", "receive.denyCurrentBranch", "updateInstead")
    second = await yard.work({"b.txt": "2"}, epoch=2, base=first)
    with pytest.raises(Refused, match="currently checked out"):
        await yard.deliver(second)
    assert not (yard.person.path / "b.txt").exists()


async def test_names_that_are_not_names_are_misuse(yard: Yard) -> None:
    await yard.mirrors.refresh("shop", yard.person.path)
    with pytest.raises(Misuse):
        await yard.forge.deliver(yard.person.path, "shop", "../main", yard.person.head)
    with pytest.raises(Misuse):
        await yard.forge.deliver(yard.person.path, "shop", "job_1", "--mirror")
    assert list(yard.person.refs()) == ["refs/heads/main"]


async def test_a_clean_checkout_moves_forward_without_hooks_and_can_be_undone(yard: Yard, tmp_path: Path) -> None:
    head = await yard.work({"src/app.py": "x = 2\n"})
    await yard.deliver(head)
    old = yard.person.commit("Meanwhile", {"other.txt": "o"})
    yard.person.write({"untracked.txt": "mine"})
    proof = tmp_path / "proof"
    set_traps(yard.person, proof)
    merged = await yard.forge.merge("shop", yard.person.path, "job_1", head, "main", "Merge job 1")
    assert not proof.exists()
    for key in ("core.fsmonitor", "core.pager"):
        yard.person.git("config", "--unset", key)
    assert yard.person.head == merged.sha
    assert yard.person.git("log", "-1", "--format=%P|%s") == f"{old} {head}|Merge job 1"
    assert (yard.person.path / "src" / "app.py").read_text() == "x = 2\n"
    assert (yard.person.path / "other.txt").read_text() == "o"
    assert yard.person.git("status", "--porcelain") == "?? untracked.txt"
    for command in merged.undo:
        run(command)
    assert yard.person.head == old
    assert (yard.person.path / "src" / "app.py").read_text() == "x = 1\n"


async def test_a_branch_nobody_has_checked_out_moves_by_itself_and_can_be_undone(yard: Yard) -> None:
    head = await yard.work({"src/app.py": "x = 2\n"})
    yard.person.git("branch", "release")
    before = yard.person.picture()
    merged = await yard.forge.merge("shop", yard.person.path, "job_1", head, "release", "Merge")
    assert yard.person.picture() == {**before, "refs/heads/release": merged.sha}
    for command in merged.undo:
        run(command)
    assert yard.person.picture() == before


async def test_a_branch_checked_out_in_another_worktree_is_moved_there(yard: Yard, tmp_path: Path) -> None:
    head = await yard.work({"src/app.py": "x = 2\n"})
    yard.person.git("worktree", "add", "--quiet", "-b", "release", str(tmp_path / "second tree"))
    await yard.merge(head, "release")
    assert (tmp_path / "second tree" / "src" / "app.py").read_text() == "x = 2\n"
    assert (yard.person.path / "src" / "app.py").read_text() == "x = 1\n"


async def test_a_dirty_checkout_is_refused_with_the_command_to_run(yard: Yard) -> None:
    head = await yard.work({"src/app.py": "x = 2\n"})
    await yard.deliver(head)
    yard.person.write({"README.md": "unsaved\n"})
    before = yard.person.picture()
    with pytest.raises(Refused, match="uncommitted") as caught:
        await yard.merge(head)
    assert yard.person.picture() == before
    command = caught.value.hint.split("`")[1]
    run(command + " -m Merged")
    assert (yard.person.path / "src" / "app.py").read_text() == "x = 2\n"
    assert (yard.person.path / "README.md").read_text() == "unsaved\n"


async def test_an_untracked_file_in_the_way_is_not_overwritten(yard: Yard) -> None:
    head = await yard.work({"new.txt": "theirs\n"})
    yard.person.write({"new.txt": "mine\n"})
    before = yard.person.picture()
    with pytest.raises(Refused, match="could not be moved forward"):
        await yard.merge(head)
    assert yard.person.picture() == before


async def test_conflicts_are_refused_by_file(yard: Yard) -> None:
    head = await yard.work({"src/app.py": "x = 2\n"})
    yard.person.commit("Meanwhile", {"src/app.py": "x = 3\n"})
    before = yard.person.picture()
    with pytest.raises(Refused, match=r"src/app\.py") as caught:
        await yard.merge(head)
    assert caught.value.because == ("src/app.py",)
    assert yard.person.picture() == before


async def test_merging_twice_is_merging_once_and_still_tells_the_undo(yard: Yard) -> None:
    head = await yard.work({"src/app.py": "x = 2\n"})
    first = await yard.forge.merge("shop", yard.person.path, "job_1", head, "main", "Merge")
    assert await yard.forge.merge("shop", yard.person.path, "job_1", head, "main", "Merge") == first
    yard.person.commit("Later", {"later.txt": "l"})
    again = await yard.forge.merge("shop", yard.person.path, "job_1", head, "main", "Merge")
    assert (again.sha, again.undo) == (yard.person.head, ())


async def test_a_branch_that_moved_meanwhile_is_not_overwritten(yard: Yard) -> None:
    await yard.work({"src/app.py": "x = 2\n"})
    yard.person.git("branch", "release")
    stale = yard.person.head
    newer = yard.person.commit("Newer")
    yard.person.git("branch", "--force", "release", newer)
    with pytest.raises(Stale):
        await yard.forge._swap(yard.person.path, "release", old=stale, new=stale)
    with pytest.raises(Stale):
        await yard.forge._fast_forward(yard.person.path, "main", old=stale, new=stale)
    assert yard.person.refs()["refs/heads/release"] == newer


async def test_an_unknown_branch_is_named(yard: Yard) -> None:
    head = await yard.work({"a.txt": "1"})
    with pytest.raises(Unknown, match="nowhere"):
        await yard.merge(head, "nowhere")


async def test_a_bare_repository_takes_deliveries_and_merges(yard: Yard, tmp_path: Path) -> None:
    bare = Repository(tmp_path / "bare.git")
    yard.person.git("clone", "--quiet", "--bare", str(yard.person.path), str(bare.path))
    head = await yard.work({"src/app.py": "x = 2\n"})
    await yard.forge.deliver(bare.path, "shop", "job_1", head)
    merged = await yard.forge.merge("shop", bare.path, "job_1", head, "main", "Merge")
    assert bare.refs() == {"refs/heads/main": merged.sha, "refs/heads/agent/job_1": head}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to somebody else")
async def test_a_repository_of_another_user_takes_a_delivery(yard: Yard) -> None:
    head = await yard.work({"src/app.py": "x = 2\n"})
    for path in [yard.person.path, *yard.person.path.rglob("*")]:
        os.lchown(path, 4321, 4321)
    await yard.deliver(head)
    assert yard.person.refs()["refs/heads/agent/job_1"] == head


async def test_a_delivery_is_in_the_mirror_too(yard: Yard) -> None:
    head = await yard.work({"src/app.py": "y = 2\n"})
    await yard.deliver(head)
    assert Repository(yard.mirrors.path("shop")).refs()["refs/heads/agent/job_1"] == head


async def test_a_remote_by_url_takes_a_delivery_and_nothing_by_force(yard: Yard, tmp_path: Path) -> None:
    head = await yard.work({"src/app.py": "y = 2\n"})
    with serving(tmp_path / "served", yard.person) as address:
        url, far = f"{address}/shop.git", Repository(tmp_path / "served" / "shop.git")
        before = far.refs()
        assert await yard.forge.deliver(url, "shop", "job_1", head) == "agent/job_1"
        assert await yard.forge.deliver(url, "shop", "job_1", head) == "agent/job_1"
        assert far.refs() == {**before, "refs/heads/agent/job_1": head}
        other = far.git("commit-tree", "-m", "Other", "-p", before["refs/heads/main"], f"{head}^{{tree}}")
        far.git("update-ref", "refs/heads/agent/job_1", other)
        with pytest.raises(Refused, match="already exists") as caught:
            await yard.forge.deliver(url, "shop", "job_1", head)
        assert "--delete agent/job_1" in caught.value.hint
        far.git("update-ref", "-d", "refs/heads/agent/job_1")
        far.git("config", "http.receivepack", "false")
        with pytest.raises(Refused, match="rejected agent/"):
            await yard.forge.deliver(url, "shop", "job_1", head)
        with pytest.raises(Refused, match="is remote, so Midwatch cannot merge it"):
            await yard.forge.merge("shop", url, "job_1", head, "main", "Merge")
