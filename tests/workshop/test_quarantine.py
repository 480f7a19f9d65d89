"""Quarantine: attacks are refused by name, honest work arrives once, and nothing else reaches the mirror."""

from collections.abc import Callable
from pathlib import Path

import pytest

from midwatch.errors import Refused
from midwatch.terms.contract import ToolScope
from midwatch.terms.jobs import Change
from midwatch.workshop.git.checkouts import Checkouts
from midwatch.workshop.git.mirrors import GitMirrors
from midwatch.workshop.quarantine.quarantine import PackedWork, admit
from tests.workshop.repository import Repository

REF = "refs/midwatch/jobs/job_1/1"
SOURCES = ToolScope(allowed_paths=("src/**",))


class Desk:
    """An agent's clone on one side, the quarantine on the other."""

    def __init__(self, home: Path, checkouts: Checkouts, agent: Repository) -> None:
        self.home, self.checkouts, self.agent = home, checkouts, agent
        self.base = agent.head

    async def hand_in(
        self, head: str = "", *, scope: ToolScope = SOURCES, do_not_touch: tuple[str, ...] = ()
    ) -> Change:
        head = head or self.agent.head
        bundle = await self.checkouts.bundle("job_1", 1, self.base, head)
        return await self.admit(PackedWork("shop", "job_1", 1, self.base, head, bundle), scope, do_not_touch)

    async def admit(
        self, delivery: PackedWork, scope: ToolScope = SOURCES, do_not_touch: tuple[str, ...] = ()
    ) -> Change:
        return await admit(self.home, self.checkouts.mirrors, delivery, scope=scope, do_not_touch=do_not_touch)

    @property
    def arrived(self) -> str:
        return Repository(self.checkouts.mirrors.path("shop")).refs().get(REF, "")

    async def refused(self, head: str = "", *, words: str, scope: ToolScope = SOURCES) -> Refused:
        with pytest.raises(Refused, match=words) as caught:
            await self.hand_in(head, scope=scope)
        assert self.arrived == ""
        assert caught.value.hint
        assert list((self.home / "quarantine").glob("*.git")) == []
        return caught.value


@pytest.fixture
async def git_sandbox(person: Repository, home: Path, mirrors: GitMirrors, checkouts: Checkouts) -> Desk:
    await mirrors.refresh("shop", person.path)
    return Desk(home, checkouts, Repository(await checkouts.private_clone("shop", "job_1", 1, person.head)))


async def test_honest_work_arrives_counted_and_only_under_its_own_ref(git_sandbox: Desk, mirrors: GitMirrors) -> None:
    before = Repository(mirrors.path("shop")).refs()
    git_sandbox.agent.commit("One", {"src/app.py": "x = 2\n"})
    head = git_sandbox.agent.commit("Two", {"src/new.py": "a\nb\n"})
    change = await git_sandbox.hand_in()
    assert (change.base, change.head, git_sandbox.arrived) == (git_sandbox.base, head, head)
    assert [commit.subject for commit in change.commits] == ["One", "Two"]
    assert [(file.path, file.status, file.insertions, file.deletions) for file in change.files] == [
        ("src/app.py", "M", 1, 1),
        ("src/new.py", "A", 2, 0),
    ]
    assert change.flagged == ()
    assert Repository(mirrors.path("shop")).refs() == {**before, REF: head}


async def test_admitting_twice_is_admitting_once(git_sandbox: Desk) -> None:
    git_sandbox.agent.commit("One", {"src/app.py": "x = 2\n"})
    assert await git_sandbox.hand_in() == await git_sandbox.hand_in()


async def test_a_path_outside_the_orders_is_refused_even_if_it_went_away_again(git_sandbox: Desk) -> None:
    git_sandbox.agent.commit("Sneak", {"deploy.sh": "rm -rf /\n", "src/app.py": "x = 2\n"})
    (git_sandbox.agent.path / "deploy.sh").unlink()
    git_sandbox.agent.commit("Cover")
    error = await git_sandbox.refused(words="deploy.sh is outside the allowed paths")
    assert len(error.because) == 1


async def test_every_violation_is_listed(git_sandbox: Desk) -> None:
    git_sandbox.agent.commit("Much", {"one.txt": "", "two.txt": "", "src/ok.py": ""})
    error = await git_sandbox.refused(words="one.txt .*and 1 more")
    assert [reason.split()[0] for reason in error.because] == ["one.txt", "two.txt"]


async def test_what_must_not_be_touched_wins_over_what_is_allowed_in_any_case(git_sandbox: Desk) -> None:
    git_sandbox.agent.commit("Touch", {"src/Secrets/key.py": "k = 1\n"})
    with pytest.raises(Refused, match="not to be touched"):
        await git_sandbox.hand_in(do_not_touch=("src/secrets/**",))


async def test_deleting_a_file_outside_the_scope_is_refused(git_sandbox: Desk) -> None:
    (git_sandbox.agent.path / "README.md").unlink()
    git_sandbox.agent.commit("Delete")
    await git_sandbox.refused(words=r"README\.md is outside")


async def test_renaming_a_file_into_the_scope_is_seen_from_both_ends(git_sandbox: Desk) -> None:
    git_sandbox.agent.git("mv", "README.md", "src/README.md")
    git_sandbox.agent.commit("Move")
    await git_sandbox.refused(words=r"README\.md is outside")


def a_tree(lines: Callable[[Repository], str]) -> Callable[[Repository], str]:
    """Commit a hand-written tree inside src/."""

    def make(agent: Repository) -> str:
        inner = agent.git("mktree", "--missing", stdin=(lines(agent) + "\n").encode())
        return agent.commit_tree("Attack", mktree=f"040000 tree {inner}\tsrc\n", parent=agent.head)

    return make


DOT_DOT = a_tree(
    lambda agent: f"040000 tree {agent.git('mktree', stdin=_file(agent, 'x').encode())}\t..",
)


def _file(agent: Repository, name: str) -> str:
    return f"100644 blob {agent.blob('evil')}\t{name}\n"


@pytest.mark.parametrize(
    ("make", "words"),
    [
        pytest.param(DOT_DOT, "hasDotdot", id="src/../x"),
        pytest.param(a_tree(lambda agent: _file(agent, ".GIT").strip()), "hasDotgit", id=".GIT"),
        pytest.param(a_tree(lambda agent: _file(agent, ".git").strip()), "hasDotgit", id=".git"),
        pytest.param(a_tree(lambda agent: _file(agent, "git~1").strip()), "hasDotgit", id="git~1"),
        pytest.param(a_tree(lambda agent: _file(agent, ".g\u200cit").strip()), "hasDotgit", id="zero-width"),
        pytest.param(
            a_tree(lambda agent: f"160000 commit {agent.head}\tlib"), "src/lib is a submodule", id="submodule"
        ),
        pytest.param(
            a_tree(lambda agent: f"120000 blob {agent.blob('/etc/passwd')}\tlink"),
            "src/link is a link",
            id="absolute link",
        ),
        pytest.param(
            a_tree(lambda agent: f"120000 blob {agent.blob('../../x')}\tlink"), "src/link is a link", id="link out"
        ),
        pytest.param(
            a_tree(lambda agent: f"120000 blob {agent.blob('../.git/config')}\tlink"),
            "src/link is a link",
            id="link to .git",
        ),
    ],
)
async def test_a_tree_no_honest_git_would_make_is_refused(
    git_sandbox: Desk, make: Callable[[Repository], str], words: str
) -> None:
    await git_sandbox.refused(make(git_sandbox.agent), words=words, scope=ToolScope())


async def test_a_link_inside_the_tree_is_fine(git_sandbox: Desk) -> None:
    (git_sandbox.agent.path / "src" / "link.py").symlink_to("app.py")
    git_sandbox.agent.commit("Link")
    assert (await git_sandbox.hand_in()).files[0].path == "src/link.py"


@pytest.mark.parametrize("line", ["x\n", "x\0\n"], ids=["plain", "with a zero byte"])
async def test_neither_an_attribute_nor_a_zero_byte_hides_lines_from_the_count(git_sandbox: Desk, line: str) -> None:
    git_sandbox.agent.commit("Hide", {"src/.gitattributes": "* -diff binary\n", "src/big.py": line * 500})
    scope = SOURCES.model_copy(update={"max_diff_lines": 100})
    await git_sandbox.refused(words="501 lines are changed, more than the 100 allowed .*big.py", scope=scope)


async def test_too_many_files_are_refused(git_sandbox: Desk) -> None:
    git_sandbox.agent.commit("Many", {f"src/f{number}.py": "" for number in range(4)})
    scope = SOURCES.model_copy(update={"max_files_changed": 3})
    await git_sandbox.refused(words="4 files are changed, more than the 3 allowed", scope=scope)


async def test_what_steers_other_machines_is_flagged(git_sandbox: Desk) -> None:
    names = (".github/workflows/ci.yml", ".githooks/pre-commit", "CLAUDE.md", "src/.gitattributes", "uv.lock")
    git_sandbox.agent.commit("Steer", dict.fromkeys((*names, "src/ok.py"), "x\n"))
    assert set((await git_sandbox.hand_in(scope=ToolScope())).flagged) == set(names)


async def test_garbage_is_not_a_bundle(git_sandbox: Desk, tmp_path: Path) -> None:
    head = git_sandbox.agent.commit("One", {"src/app.py": "x = 2\n"})
    good = await git_sandbox.checkouts.bundle("job_1", 1, git_sandbox.base, head)
    whole = good.read_bytes()
    header, _, pack = whole.partition(b"\n\n")
    damaged = pack[:-30] + bytes(byte ^ 0xFF for byte in pack[-30:])
    for number, content in enumerate((b"", b"garbage", whole[:-40], header + b"\n\n" + damaged, header + b"\n\n")):
        bad = tmp_path / f"bad{number}"
        bad.write_bytes(content)
        with pytest.raises(Refused, match="cannot be accepted"):
            await git_sandbox.admit(PackedWork("shop", "job_1", 1, git_sandbox.base, head, bad))
    assert git_sandbox.arrived == ""


async def test_a_bundle_with_another_commit_than_promised_is_refused(git_sandbox: Desk) -> None:
    first = git_sandbox.agent.commit("One", {"src/app.py": "x = 2\n"})
    second = git_sandbox.agent.commit("Two", {"src/app.py": "x = 3\n"})
    bundle = await git_sandbox.checkouts.bundle("job_1", 1, git_sandbox.base, second)
    with pytest.raises(Refused, match="another commit"):
        await git_sandbox.admit(PackedWork("shop", "job_1", 1, git_sandbox.base, first, bundle))


async def test_work_that_does_not_build_on_the_base_is_refused(git_sandbox: Desk) -> None:
    git_sandbox.agent.git("switch", "--quiet", "--orphan", "elsewhere")
    git_sandbox.agent.commit("Elsewhere", {"src/app.py": "x = 9\n"})
    await git_sandbox.refused(words="does not descend", scope=ToolScope())


async def test_a_merged_in_stranger_history_is_checked_in_full(git_sandbox: Desk) -> None:
    git_sandbox.agent.git("checkout", "--quiet", "--orphan", "strange")
    git_sandbox.agent.git("rm", "-rq", "--cached", ".")
    git_sandbox.agent.commit("Strange", {"payload.sh": "x\n"})
    git_sandbox.agent.git("checkout", "--quiet", "--force", "agent/job_1")
    git_sandbox.agent.git(
        "merge", "--quiet", "--strategy=ours", "--allow-unrelated-histories", "-m", "Merge", "strange"
    )
    await git_sandbox.refused(words="payload.sh is outside")


async def test_the_value_of_a_known_secret_is_found_wherever_the_work_holds_it(git_sandbox: Desk, home: Path) -> None:
    def reveals(patch: bytes) -> tuple[str, ...]:
        return tuple(name for name in ("TOKEN", "KEY") if f"{name.lower()}-value".encode() in patch)

    git_sandbox.agent.commit("Put in", {"src/a.bin": "\0token-value\n"})
    git_sandbox.agent.commit("Take out again", {"src/a.bin": "\0nothing\n"})
    head = git_sandbox.agent.commit("Say key-value aloud", {"src/app.py": "x = 2\n"})
    bundle = await git_sandbox.checkouts.bundle("job_1", 1, git_sandbox.base, head)
    delivery = PackedWork("shop", "job_1", 1, git_sandbox.base, head, bundle)
    with pytest.raises(Refused) as caught:
        await admit(home, git_sandbox.checkouts.mirrors, delivery, scope=SOURCES, do_not_touch=(), reveals=reveals)
    assert set(caught.value.because) == {
        f"the work contains the value of the secret {name}" for name in ("TOKEN", "KEY")
    }
    assert git_sandbox.arrived == ""
    assert "token-value" not in str(caught.value)


async def test_hostile_names_subjects_and_encodings_break_nothing(git_sandbox: Desk) -> None:
    tree = git_sandbox.agent.git("rev-parse", "HEAD^{tree}")
    subjects = ("\x01\x02 fake\x1b[2J", "\u202egnp.exe", "s" * 5000, "", "%H%x00%s", "\t1\t2\tx")
    tip = git_sandbox.base
    for subject in subjects:
        raw = (
            f"tree {tree}\nparent {tip}\nauthor $(touch /tmp/x) `x` <a@b\x01> 9999999999 +1400\n"
            f"committer \x1b]0;x\x07 <> 0 -1200\nencoding UTF-7\n\n{subject}"
        )
        tip = git_sandbox.agent.git("hash-object", "-t", "commit", "-w", "--stdin", "--literally", stdin=raw.encode())
    change = await git_sandbox.hand_in(tip)
    assert len(change.commits) == len(subjects)
    assert all(commit.subject.isprintable() and len(commit.subject) <= 300 for commit in change.commits)
    assert len(await git_sandbox.checkouts.mirrors.log("shop", git_sandbox.base, tip)) == len(subjects)


async def test_what_runs_looks_different_or_weighs_much_is_flagged(git_sandbox: Desk) -> None:
    (git_sandbox.agent.path / "src" / "data").write_bytes(b"a\0b")
    (git_sandbox.agent.path / "src" / "many").write_text("x\n" * 600_000)
    git_sandbox.agent.write({"src/run": "#!/bin/sh\n", "src/plain.py": "x\n"})
    (git_sandbox.agent.path / "src" / "run").chmod(0o755)
    (git_sandbox.agent.path / "src" / "app.py").chmod(0o755)
    (git_sandbox.agent.path / "src" / "link").symlink_to("app.py")
    git_sandbox.agent.commit("Look twice")
    change = await git_sandbox.hand_in()
    assert set(change.flagged) == {"src/data", "src/many", "src/run", "src/app.py", "src/link"}


async def test_work_that_cannot_be_looked_at_within_bounds_is_refused(git_sandbox: Desk) -> None:
    (git_sandbox.agent.path / "src" / "lines").write_bytes(b"\n" * (40 << 20))
    git_sandbox.agent.commit("Forty million lines")
    await git_sandbox.refused(words="too large to check")


@pytest.mark.parametrize(
    "path", [".midwatch/needs-input.json", ".orchestrator/completed.json", ".midwatch/answer.json"]
)
async def test_a_signal_is_no_part_of_the_work(git_sandbox: Desk, path: str) -> None:
    """O16: what is written beside the work stays out by itself; what was put in by force is refused."""
    for folder in (".midwatch", ".orchestrator"):
        (git_sandbox.agent.path / folder).mkdir()
        (git_sandbox.agent.path / folder / "error.json").write_text("{}")
    (git_sandbox.agent.path / "src" / "left.py").write_text("x = 1\n")
    assert await git_sandbox.checkouts.commit_leftovers("job_1", 1, "Left")
    assert [file.path for file in (await git_sandbox.hand_in(scope=ToolScope(allowed_paths=("**",)))).files] == [
        "src/left.py"
    ]
    git_sandbox.agent.git("checkout", "-q", "-b", "forced")
    (git_sandbox.agent.path / path).write_text("{}")
    git_sandbox.agent.git("add", "--force", path)
    git_sandbox.agent.git("commit", "-q", "-m", "Signal")
    with pytest.raises(Refused, match="is a signal to Midwatch and not part of the work"):
        await git_sandbox.hand_in(scope=ToolScope(allowed_paths=("**",)))


async def test_issues_that_the_body_of_a_commit_would_close_are_kept(git_sandbox: Desk) -> None:
    git_sandbox.agent.commit("One\n\nFixes #12.\n\nCloses: ada/shop#3\n", {"src/app.py": "x = 2\n"})
    git_sandbox.agent.commit("Two", {"src/app.py": "x = 3\n"})
    one, two = (await git_sandbox.hand_in()).commits
    assert (one.subject, one.closes, one.insertions) == ("One", ("#12", "ada/shop#3"), 1)
    assert (two.subject, two.closes, two.insertions) == ("Two", (), 1)
