"""A stranger's repository on this machine: its settings name programs, and none of them ever runs as the server."""

import contextlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from midwatch.errors import MidwatchError, Refused
from midwatch.forges.local import LocalForge
from midwatch.workshop.git.checkouts import Checkouts
from midwatch.workshop.git.mirrors import GitMirrors
from tests.workshop.repository import Repository

Plant = Callable[["Trapped"], None]


class Trapped:
    """A repository with one trap, and a program that leaves a mark where it runs."""

    def __init__(self, repository: Repository, folder: Path, mirror: Path) -> None:
        self.repository, self.mirror = repository, mirror
        self.mark = folder / "ran"
        self.program = folder / "trap"
        self.program.write_text(f"#!/bin/sh\ntouch {self.mark}\nexit 1\n")
        self.program.chmod(0o755)

    def set(self, key: str, value: str = "", *, where: str = "--local") -> None:
        self.repository.git("config", where, key, value or str(self.program))

    def attribute(self, line: str) -> None:
        info = self.repository.path / ".git" / "info"
        info.mkdir(exist_ok=True)
        (info / "attributes").write_text(f"{line}\n")


def _filter(kind: str, name: str = "x") -> Plant:
    def plant(trapped: Trapped) -> None:
        trapped.attribute(f"* filter={name}")
        trapped.set(f"filter.{name}.{kind}")

    return plant


def _included_filter(trapped: Trapped) -> None:
    trapped.attribute("* filter=x")
    (trapped.repository.path / "more").write_text(f'[filter "x"]\n\tclean = {trapped.program}\n')
    trapped.set("include.path", "../more")


def _filter_of_the_worktree(trapped: Trapped) -> None:
    trapped.attribute("* filter=x")
    trapped.set("extensions.worktreeConfig", "true")
    trapped.set("filter.x.clean", where="--worktree")


def _required_filter(trapped: Trapped) -> None:
    _filter("smudge")(trapped)
    trapped.set("filter.x.required", "true")


def _filter_written_large(trapped: Trapped) -> None:
    trapped.attribute("* filter=x")
    with (trapped.repository.path / ".git" / "config").open("a") as config:
        config.write(f'[FiLTER "x"]\n\tCLEAN = {trapped.program}\n')


def _filter_of_a_common_folder(trapped: Trapped) -> None:
    """What a work tree's folder shares with others lies elsewhere, and so do its settings."""
    own, common = trapped.repository.path / ".git", trapped.program.parent / "common"
    shutil.copytree(own, common)
    shared = Repository(common)
    (common / "info").mkdir(exist_ok=True)
    (common / "info" / "attributes").write_text("* filter=x\n")
    shared.git("config", "filter.x.clean", str(trapped.program))
    (own / "commondir").write_text(f"{common}\n")


def _nested_repository(trapped: Trapped) -> None:
    nested = Repository.begin(trapped.repository.path / "nested")
    trapped.repository.git("-c", "advice.addEmbeddedRepo=false", "add", "nested")
    nested_trap = Trapped(nested, trapped.program.parent, trapped.mirror)
    nested_trap.attribute("* filter=n")
    nested_trap.set("filter.n.clean")
    nested.write({"README.md": "jello\n"})


def _merge_driver(trapped: Trapped) -> None:
    trapped.attribute("* merge=x diff=x")
    trapped.set("merge.x.driver")
    trapped.set("diff.x.textconv")
    trapped.set("diff.x.command")
    trapped.set("diff.external")


def _rewritten_address(trapped: Trapped) -> None:
    trapped.set("protocol.ext.allow", "always")
    trapped.set(f"url.ext::{trapped.program} .insteadOf", "/")


def _remote_helper(trapped: Trapped) -> None:
    trapped.set("protocol.ext.allow", "always")
    trapped.set(f"remote.{trapped.mirror}.vcs", "ext")
    trapped.set(f"remote.{trapped.mirror}.url", f"ext::{trapped.program}")
    trapped.set(f"remote.{trapped.mirror}.uploadpack")


def _alternate_refs(trapped: Trapped) -> None:
    other = trapped.program.parent / "other.git"
    trapped.repository.git("clone", "--quiet", "--bare", str(trapped.repository.path), str(other))
    alternates = trapped.repository.path / ".git" / "objects" / "info" / "alternates"
    alternates.write_text(f"{other}/objects\n")
    trapped.set("core.alternateRefsCommand")


def _promisor(trapped: Trapped) -> None:
    blob = trapped.repository.git("rev-parse", "HEAD:README.md")
    trapped.set("extensions.partialClone", "o")
    trapped.set("remote.o.promisor", "true")
    trapped.set("remote.o.url", f"ext::{trapped.program}")
    trapped.set("protocol.ext.allow", "always")
    (trapped.repository.path / ".git" / "objects" / blob[:2] / blob[2:]).unlink()


def _promisor_next_door(trapped: Trapped) -> None:
    _promisor(trapped)
    trapped.set("remote.o.url", str(trapped.program.parent / "person"))
    trapped.set("remote.o.uploadpack")


def _signatures(trapped: Trapped) -> None:
    for key in ("gpg.program", "gpg.ssh.program", "gpg.ssh.defaultKeyCommand", "core.editor", "core.askPass"):
        trapped.set(key)
    trapped.set("merge.verifySignatures", "true")
    trapped.set("log.showSignature", "true")


def _hook_of_references(trapped: Trapped) -> None:
    for name in ("reference-transaction", "post-index-change", "proc-receive", "pre-merge-commit", "post-rewrite"):
        hook = trapped.repository.path / ".git" / "hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(trapped.program.read_text())
        hook.chmod(0o755)
    trapped.set("receive.procReceiveRefs", "refs/heads/")


TRAPS: dict[str, Plant] = {
    "clean filter": _filter("clean"),
    "clean filter with an equals sign in its name": _filter("clean", "a=b.c"),
    "smudge filter": _filter("smudge"),
    "required smudge filter": _required_filter,
    "filter process": _filter("process"),
    "filter from an included file": _included_filter,
    "filter of one worktree": _filter_of_the_worktree,
    "filter in large letters": _filter_written_large,
    "filter of a common folder": _filter_of_a_common_folder,
    "filter of a nested repository": _nested_repository,
    "merge driver and diff programs": _merge_driver,
    "address rewritten to a command": _rewritten_address,
    "remote with a helper": _remote_helper,
    "command for references of alternates": _alternate_refs,
    "promisor that is a command": _promisor,
    "promisor next door with a command of its own": _promisor_next_door,
    "signature programs, editor and password prompt": _signatures,
    "hooks of references and the index": _hook_of_references,
}


@pytest.fixture
def trapped(person: Repository, mirrors: GitMirrors, tmp_path: Path) -> Trapped:
    return Trapped(person, tmp_path, mirrors.path("shop"))


async def work(trapped: Trapped, mirrors: GitMirrors, checkouts: Checkouts) -> str:
    """Make a commit in the mirror that the person's repository lacks."""
    base = trapped.repository.head
    await mirrors.refresh("shop", trapped.repository.path)
    agent = Repository(await checkouts.private_clone("shop", "job_1", 1, base))
    head = agent.commit("Work", {"src/app.py": "x = 2\n"})
    Repository(trapped.mirror).git("fetch", "--quiet", str(agent.path), f"{head}:refs/midwatch/jobs/job_1/1")
    return head


@pytest.mark.parametrize("plant", TRAPS.values(), ids=[name.replace(" ", "_") for name in TRAPS])
async def test_no_program_of_the_repository_runs(
    trapped: Trapped, mirrors: GitMirrors, checkouts: Checkouts, plant: Plant
) -> None:
    head, path = await work(trapped, mirrors, checkouts), trapped.repository.path
    forge = LocalForge(mirrors.git, mirrors)
    plant(trapped)
    # Git reads a file again, through its filter, where its time is another than the index says.
    os.utime(path / "README.md", (1e9, 1e9))
    trapped.mark.unlink(missing_ok=True)
    for does in (
        lambda: mirrors.inspect(path),
        lambda: mirrors.refresh("shop", path),
        lambda: forge.rehearse(path, "shop"),
        lambda: forge.deliver(path, "shop", "job_1", head),
        lambda: forge.merge("shop", path, "job_1", head, "main", "Merge"),
    ):
        with contextlib.suppress(MidwatchError):
            await does()
        assert not trapped.mark.exists(), does


async def test_a_repository_whose_files_are_in_another_folder_is_refused(
    trapped: Trapped, mirrors: GitMirrors, tmp_path: Path
) -> None:
    private = tmp_path / "private"
    private.mkdir()
    (private / "diary.txt").write_text("mine")
    trapped.set("core.worktree", str(private))
    with pytest.raises(Refused, match=r"say that its files are in"):
        await mirrors.inspect(trapped.repository.path)


async def test_a_folder_named_later_is_not_written(
    trapped: Trapped, mirrors: GitMirrors, checkouts: Checkouts, tmp_path: Path
) -> None:
    head, path = await work(trapped, mirrors, checkouts), trapped.repository.path
    elsewhere = tmp_path / "elsewhere"
    trapped.repository.git("worktree", "list")
    for name in ("README.md", "src/app.py"):
        file = elsewhere / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text((path / name).read_text())
    trapped.set("core.worktree", str(elsewhere))
    with contextlib.suppress(MidwatchError):
        await LocalForge(mirrors.git, mirrors).merge("shop", path, "job_1", head, "main", "Merge")
    assert (elsewhere / "src" / "app.py").read_text() == "x = 1\n"


async def test_a_file_with_a_filter_is_merged_by_hand(
    trapped: Trapped, mirrors: GitMirrors, checkouts: Checkouts
) -> None:
    head, path = await work(trapped, mirrors, checkouts), trapped.repository.path
    old = trapped.repository.head
    _filter("smudge")(trapped)
    with pytest.raises(Refused, match="passes through the filter 'x'") as caught:
        await LocalForge(mirrors.git, mirrors).merge("shop", path, "job_1", head, "main", "Merge")
    assert "merge --ff-only" in (caught.value.hint or "")
    assert trapped.repository.head == old
    assert (path / "src" / "app.py").read_text() == "x = 1\n"
