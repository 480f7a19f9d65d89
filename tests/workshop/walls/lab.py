"""A throw-away host for attackers: a home with secrets, a mirror with a clone, listeners, and a bystander to harm."""

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from midwatch.terms.trust import Isolation
from midwatch.workshop.sandbox.walls import entry, groups, landlock, threshold
from midwatch.workshop.sandbox.walls.spec import SandboxSpec
from tests.patience import PATIENCE

SECRET = "FAKE-PRIVATE-KEY"
IDENTITIES = ("root", "nobody") if os.geteuid() == 0 else (pwd.getpwuid(os.getuid()).pw_name,)


@dataclass(frozen=True)
class Lab:
    """One host, as one user."""

    folder: Path
    user: str
    host_port: int
    abstract_name: str
    bystander: subprocess.Popen[bytes]

    @property
    def ours(self) -> bool:
        return self.user == pwd.getpwuid(os.getuid()).pw_name

    @property
    def objects(self) -> Path:
        return self.folder / "mirror.git" / "objects"

    def walls(self, **more: Any) -> SandboxSpec:
        """Lay out the usual walls: a clone, the mirror's objects, and what an attacker may know of the host."""
        facts = {
            "HOST_HOME": str(self.folder / "person"),
            "HOST_PORT": str(self.host_port),
            "HOST_SOCKET": str(self.folder / "person" / "daemon.sock"),
            "ABSTRACT": self.abstract_name,
            "OBJECTS": str(self.objects),
            "BYSTANDER": str(self.bystander.pid),
        }
        usual: dict[str, Any] = {"tree": self.folder / "tree", "objects": (self.objects,), "environment": facts}
        return SandboxSpec(**(usual | more))

    def command(
        self, walls: SandboxSpec, argv: Sequence[str], isolation: Isolation = Isolation.BUBBLEWRAP
    ) -> list[str]:
        """Write the note and give the argv, with a Python and a threshold that the lab's user can read."""
        note = self.folder / "notes" / "walls.json"
        command = entry.command(walls, argv, isolation=isolation, note=note)
        if self.ours:
            return command
        shutil.chown(note, self.user)
        return ["/usr/bin/python3", "-I", "-S", str(self.folder / "bin" / "threshold.py"), str(note)]

    def run(
        self,
        argv: Sequence[str],
        *,
        isolation: Isolation = Isolation.BUBBLEWRAP,
        leaving: Sequence[int] = (),
        **more: Any,
    ) -> subprocess.CompletedProcess[str]:
        """Run a command inside and wait for its end."""
        return subprocess.run(
            self.command(self.walls(**more), argv, isolation),
            env={"HOST_SECRET": SECRET, "PATH": "/usr/bin:/bin"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
            pass_fds=tuple(leaving),
            **self.as_user(),
        )

    def as_user(self) -> dict[str, Any]:
        """Arguments that make a process the lab's user's."""
        if self.ours:
            return {}
        person = pwd.getpwnam(self.user)
        return {"user": person.pw_uid, "group": person.pw_gid, "extra_groups": []}

    def shell(self, script: str, **more: Any) -> subprocess.CompletedProcess[str]:
        """Run a shell script inside."""
        return self.run(["bash", "-c", script], **more)


@contextmanager
def open_lab(user: str) -> Iterator[Lab]:
    """Build a host that can be thrown away."""
    with ExitStack() as stack:
        folder = Path(
            stack.enter_context(tempfile.TemporaryDirectory(prefix="midwatch-lab-", ignore_cleanup_errors=True))
        )
        folder.chmod(0o755)
        _furnish(folder)
        if user != pwd.getpwuid(os.getuid()).pw_name:
            subprocess.run(["chown", "-hR", f"{user}:", str(folder)], check=True)
        _leave_a_setuid_program(folder / "tree" / "setuid-bash")
        server = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        abstract = stack.enter_context(socket.socket(socket.AF_UNIX))
        abstract.bind("\0" + folder.name)
        abstract.listen()
        daemon = stack.enter_context(socket.socket(socket.AF_UNIX))
        daemon.bind(str(folder / "person" / "daemon.sock"))
        (folder / "person" / "daemon.sock").chmod(0o666)
        daemon.listen()
        lab = Lab(folder, user, server.getsockname()[1], folder.name, _bystander(user))
        stack.callback(lab.bystander.wait)
        stack.callback(lab.bystander.kill)
        yield lab


def _bystander(user: str) -> subprocess.Popen[bytes]:
    person = pwd.getpwnam(user)
    identity: dict[str, Any] = {} if person.pw_uid == os.getuid() else {"user": person.pw_uid, "group": person.pw_gid}
    return subprocess.Popen(["sleep", "3600"], env={"HOST_SECRET": SECRET}, **identity)


def _furnish(folder: Path) -> None:
    person = folder / "person"
    (person / ".ssh").mkdir(parents=True)
    (person / ".aws").mkdir()
    (person / ".ssh" / "id_rsa").write_text(SECRET)
    (person / ".aws" / "credentials").write_text(f"aws_secret_access_key={SECRET}")
    for name in ("notes", "bin", "home", "tmp", "toolchain"):
        (folder / name).mkdir()
    (folder / "toolchain" / "tool").write_text("#!/bin/sh\necho tool at work\n")
    (folder / "toolchain" / "tool").chmod(0o755)
    for module in (threshold, groups, landlock):
        shutil.copy(str(module.__file__), folder / "bin")
    _repository(folder)


def _leave_a_setuid_program(place: Path) -> None:
    shutil.copy("/bin/bash", place)  # ours, which is root's where there is anything to gain
    place.chmod(0o4755)


def _repository(folder: Path) -> None:
    source, mirror, tree = (str(folder / name) for name in ("source", "mirror.git", "tree"))
    _git("init", "-q", "-b", "main", source)
    for number in range(4):
        (folder / "source" / "app.py").write_text(f"print({number})\n")
        _git("-C", source, "add", "-A")
        _git("-C", source, "commit", "-qm", f"change {number}")
    _git("clone", "-q", "--bare", source, mirror)
    _git("clone", "-q", "--shared", mirror, tree)
    for key, value in {"user.name": "agent", "user.email": "agent@localhost"}.items():
        _git("-C", tree, "config", key, value)
    _git("-C", tree, "remote", "remove", "origin")


def _git(*words: str) -> None:
    who = ("-c", "user.name=Person", "-c", "user.email=person@localhost")
    env = {"PATH": os.defpath, "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", *who, *words], check=True, env=env, capture_output=True)


def python_inside(code: str) -> str:
    """A shell line that runs Python code inside."""
    return f"python3 - <<'EOF'\n{code}\nEOF"
