"""Work that must not arrive, or not unseen: what agents commit, and bundles no honest git would write."""

import os
import struct
import subprocess
import zlib
from collections.abc import Callable
from hashlib import sha1
from pathlib import Path

from midwatch.terms.contract import ToolScope
from tests.workshop.escapes.lab import SCOPE, WIDE, Escape, Lab
from tests.workshop.repository import ENVIRONMENT

COMMIT = "git add -A; git reset -q x.sh; git commit -qm Work"


def _refused(name: str, script: str, words: str, *, scope: ToolScope = SCOPE, commit: str = COMMIT) -> Escape:
    """Commit something that must be refused, for the reason told."""

    def run(lab: Lab) -> bool:
        lab.agent_does(f"{script}\n{commit}")
        lab.attempt(lambda: lab.hand_in(lab.agent.head, scope))
        return lab.arrived

    return Escape(name=name, run=run, words=words)


def _flagged(name: str, script: str, path: str) -> Escape:
    """Commit something that may arrive, but only marked for the person's eye."""

    def run(lab: Lab) -> bool:
        lab.agent_does(f"{script}\n{COMMIT}")
        lab.attempt(lambda: lab.hand_in(lab.agent.head, WIDE))
        return lab.change is None or path not in lab.change.flagged

    return Escape(name=name, run=run)


def _tree(listing: str) -> str:
    """Write a tree by hand into src/ and commit it."""
    return (
        "b=$(echo evil | git hash-object -w --stdin); "
        f"s=$({listing} | git mktree --missing); "
        "r=$( (git ls-tree HEAD | grep -v src; printf '040000 tree %s\\tsrc\\n' $s) | git mktree); "
        "git reset -q --soft $(git commit-tree -p HEAD -m p $r)"
    )


def _file(name: str) -> str:
    return _tree(f"printf '100644 blob %s\\t{name}\\n' $b")


def _raw_mode(mode: str) -> str:
    """Write a tree with a mode git would never write."""
    return (
        "b=$(echo evil | git hash-object -w --stdin); "
        f"s=$( (printf '{mode} app.py\\0'; printf \"$(echo $b | sed 's/../\\\\x&/g')\") "
        "| git hash-object -t tree -w --stdin --literally); "
        "r=$( (git ls-tree HEAD | grep -v src; printf '040000 tree %s\\tsrc\\n' $s) | git mktree); "
        "git reset -q --soft $(git commit-tree -p HEAD -m p $r)"
    )


ASIS = ":"
BOMB = (
    "t=$(printf '100644 blob %s\\tf\\n' $(echo x | git hash-object -w --stdin) | git mktree); "
    "for level in 1 2 3 4 5 6 7 8; do "
    "t=$(for n in 0 1 2 3 4 5 6 7 8 9; do printf '040000 tree %s\\td%s\\n' $t $n; done | git mktree); done; "
    "r=$( (git ls-tree HEAD | grep -v src; printf '040000 tree %s\\tsrc\\n' $t) | git mktree); "
    "git update-ref HEAD $(git commit-tree -p HEAD -m bomb $r)"
)
LONG = (
    "d=$(printf 'a%.0s' $(seq 200)); p=src; for n in $(seq 20); do p=$p/$d; done; "
    "i=$(echo x | git hash-object -w --stdin); "
)
MANY = (
    "b=$(echo x | git hash-object -w --stdin); "
    "t=$(awk -v b=$b 'BEGIN { for (i = 0; i < 300000; i++) printf \"100644 blob %s\\tf%07d\\n\", b, i }' "
    "| git mktree --missing)"
)

COMMITS: tuple[Escape, ...] = (
    # The twelve of the proof.
    _refused("path outside the orders", "echo x > setup.py", "setup.py is outside"),
    _refused("link out of the tree", "ln -s ../../../home/.ssh/id_rsa src/k", "src/k is a link that leaves the tree"),
    _refused("write through a linked folder", "ln -s .. src/up; echo x > src/up/.envrc", ".envrc is outside"),
    _refused("submodule", "git init -q src/sub; git -C src/sub commit -q --allow-empty -m x", "src/sub is a submodule"),
    _refused(
        "attribute that hides lines",
        "echo '* -diff' > src/.gitattributes; seq 5000 > src/big.txt",
        "5001 lines are changed",
    ),
    _refused("workflow of the CI", "mkdir -p .github/workflows; echo x > .github/workflows/a.yml", "a.yml is outside"),
    _refused(
        "forbidden file that comes and goes",
        f"echo SECRET > leak.txt; {COMMIT}; git rm -q leak.txt; echo y >> src/app.py",
        "leak.txt is outside",
    ),
    _refused("name that reads backwards", "printf x > $'src/a\\u202egpj.exe'", "invisible characters"),
    _refused("protected file renamed into the orders", "git mv README.md src/README.md", "README.md is outside"),
    _refused(
        ".GIT tree by plumbing",
        _tree("printf '040000 tree %s\\t.GIT\\n' $(printf '100644 blob %s\\tconfig\\n' $b | git mktree)"),
        "hasDotgit",
        commit=ASIS,
    ),
    _refused(
        "rewritten base",
        "git checkout -q --orphan z; git commit -q -m root",
        "does not descend",
        scope=WIDE,
        commit=ASIS,
    ),
    # Spellings of the git folder, and modes.
    *(
        _refused(f"spelling {name!a}", _file(name), "hasDotgit", scope=WIDE, commit=ASIS)
        for name in (".git", ".Git", ".git ", ".git.", "git~1", ".git\u200c", ".g\u200dit", ".git::$INDEX_ALLOCATION")
    ),
    _refused("short name git~2", _file("git~2"), "git folder", scope=WIDE, commit=ASIS),
    _refused("setuid bit", _raw_mode("104755"), "mode", scope=WIDE, commit=ASIS),
    _refused("device as a file", _raw_mode("20666"), "mode", scope=WIDE, commit=ASIS),
    _refused("README and readme", "echo x > readme.md", "only in its spelling", scope=WIDE),
    _refused("SRC beside src", "mkdir SRC; echo x > SRC/new.py", "only in its spelling", scope=WIDE),
    _refused(
        "path of four thousand bytes",
        f"{LONG}git update-index --add --cacheinfo 100644,$i,$p/f; git commit -qm long",
        "longer than file systems",
        scope=WIDE,
        commit=ASIS,
    ),
    _refused("a hundred million files in nine trees", BOMB, "too large to check", scope=WIDE, commit=ASIS),
    _refused(
        "three hundred thousand files in one tree",
        f"{MANY}; git update-ref HEAD $(git commit-tree -p HEAD -m m $t)",
        "far too many entries",
        scope=WIDE,
        commit=ASIS,
    ),
    _refused(
        "blob of 200 MiB that packs to nothing",
        "head -c 209715200 /dev/zero > src/zeros",
        "a file of 200 MiB",
        scope=WIDE,
    ),
    _refused(
        "300 commits",
        "for n in $(seq 201); do git commit -q --allow-empty -m $n; done",
        "201 commits",
        scope=WIDE,
        commit=ASIS,
    ),
    _refused("newline in a name", "printf x > $'src/a\\nb.py'", "invisible characters", scope=WIDE),
    # What may arrive, but not unseen.
    _flagged("executable bit", "chmod +x src/app.py", "src/app.py"),
    _flagged("new executable", "echo x > src/run; chmod +x src/run", "src/run"),
    _flagged("binary", "printf 'a\\0b' > src/data", "src/data"),
    _flagged("large file", "seq 200000 > src/many", "src/many"),
    _flagged("link inside", "ln -s app.py src/other.py", "src/other.py"),
    _flagged(
        "agent settings in another case", "mkdir .Claude; echo x > .Claude/settings.json", ".Claude/settings.json"
    ),
    _flagged("attributes deep down", "mkdir src/a; echo '* -diff' > src/a/.gitattributes", "src/a/.gitattributes"),
    _flagged("hook of a tool", "echo x > lefthook.yml", "lefthook.yml"),
    _flagged("lockfile", "echo x > src/Cargo.lock", "src/Cargo.lock"),
)


def _bundle(name: str, words: str, forge: Callable[[Lab, Path, str], str | None]) -> Escape:
    """Hand in a bundle the agent wrote itself."""

    def run(lab: Lab) -> bool:
        lab.agent_does(f"echo y >> src/app.py; {COMMIT}")
        made = lab.folder / "forged.bundle"
        head = forge(lab, made, lab.agent.head) or lab.agent.head
        lab.attempt(lambda: lab.admit(head, made, WIDE))
        return lab.arrived

    return Escape(name=name, run=run, words=words)


def _write(lab: Lab, file: Path, *revisions: str) -> None:
    command = ["git", "-C", str(lab.agent.path), "bundle", "create", "--quiet", "--version=2", str(file), *revisions]
    subprocess.run(command, env=ENVIRONMENT, check=True)


def _needs_more(lab: Lab, file: Path, head: str) -> str:
    second = lab.agent.commit("Second", {"src/app.py": "x = 7\n"})
    _write(lab, file, f"^{head}", "agent/job_1")
    return second


def _two_heads(lab: Lab, file: Path, _: str) -> None:
    lab.agent.git("branch", "more")
    _write(lab, file, f"^{lab.base}", "agent/job_1", "more")


def _cut(lab: Lab, file: Path, _: str) -> None:
    _write(lab, file, f"^{lab.base}", "agent/job_1")
    file.write_bytes(file.read_bytes()[:-25])


def _garbage(_lab: Lab, file: Path, _: str) -> None:
    file.write_bytes(os.urandom(3000))


def _huge(lab: Lab, file: Path, _: str) -> None:
    _write(lab, file, f"^{lab.base}", "agent/job_1")
    os.truncate(file, 2 << 30)


def _link(lab: Lab, file: Path, _: str) -> None:
    _write(lab, file.with_name("real"), f"^{lab.base}", "agent/job_1")
    file.symlink_to("real")


def _pipe(_lab: Lab, file: Path, _: str) -> None:
    os.mkfifo(file)


def _header(lab: Lab, head: str) -> bytes:
    return f"# v2 git bundle\n-{lab.base} base\n{head} refs/heads/delivery\n\n".encode()


def _many_objects(lab: Lab, file: Path, head: str) -> None:
    file.write_bytes(_header(lab, head) + b"PACK" + struct.pack(">II", 2, 4_000_000_000) + b"x" * 40)


def _delta_bomb(lab: Lab, file: Path, head: str) -> None:
    """One small blob, and a delta that copies it until four gigabytes have come out."""
    blob = b"A" * 65536
    copy = bytes([0x80 | 0x20, 0xFF])  # from 0, 0xff00 bytes
    count = (4 << 30) // 0xFF00
    delta = _varint(len(blob)) + _varint(count * 0xFF00) + copy * count
    name = sha1(b"blob %d\0" % len(blob) + blob, usedforsecurity=False).digest()
    body = b"PACK" + struct.pack(">II", 2, 2) + _entry(3, len(blob), b"", blob) + _entry(7, len(delta), name, delta)
    file.write_bytes(_header(lab, head) + body + sha1(body, usedforsecurity=False).digest())


def _varint(number: int) -> bytes:
    out = bytearray()
    while True:
        out.append((number & 0x7F) | (0x80 if number > 0x7F else 0))
        number >>= 7
        if not number:
            return bytes(out)


def _entry(kind: int, size: int, reference: bytes, content: bytes) -> bytes:
    first, rest = size & 0xF, size >> 4
    head = bytes([(0x80 if rest else 0) | kind << 4 | first]) + (_varint(rest) if rest else b"")
    return head + reference + zlib.compress(content, 9)


BUNDLES: tuple[Escape, ...] = (
    _bundle("bundle that needs an unknown commit", "not in the mirror", _needs_more),
    _bundle("bundle with two heads", "another commit", _two_heads),
    _bundle("bundle cut short", "cannot be accepted", _cut),
    _bundle("random bytes", "not a git bundle", _garbage),
    _bundle("bundle of two gigabytes", "larger than 128 MiB", _huge),
    _bundle("link in place of a bundle", "cannot be opened", _link),
    _bundle("pipe in place of a bundle", "not a plain file", _pipe),
    _bundle("pack that claims four thousand million objects", "more than 200000", _many_objects),
    _bundle("delta that unpacks to four gigabytes", "far more time or memory", _delta_bomb),
)

EXPORT_ESCAPES: tuple[Escape, ...] = (*COMMITS, *BUNDLES)
