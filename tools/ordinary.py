"""Runs this checkout's attacks once more as an ordinary user, from a copy that such a user can read."""

import contextlib
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
LEFT_OUT = shutil.ignore_patterns("__pycache__", "*.pyc")


@contextmanager
def as_ordinary_user(
    users: Sequence[str], words: Sequence[str], hear: Callable[[str], None], say: Callable[[str], None]
) -> Iterator[None]:
    """Run them beside what is done meanwhile, and hear each outcome; nobody to run them as is fine."""
    if not users:
        yield
        return
    user = users[0]
    with tempfile.TemporaryDirectory(prefix="midwatch-attacks-") as name:
        folder = Path(name)
        say(f"copying what {user} needs to run the product")
        child = subprocess.Popen(
            [_python(user), "-m", "tools.attacks", "--json", "--elsewhere", *words],
            cwd=_copied(folder, user),
            env={
                "PATH": "/usr/local/bin:/usr/bin:/bin",
                "HOME": str(folder / "home"),
                "TMPDIR": str(folder / "tmp"),
                "PYTHONPATH": os.pathsep.join(str(folder / part) for part in ("src", ".", "packages")),
                "PYTHONDONTWRITEBYTECODE": "1",
            },
            stdout=subprocess.PIPE,
            text=True,
            **_identity(user),
        )
        listener = threading.Thread(target=_listen, args=(child, hear))
        listener.start()
        try:
            yield
            say(f"waiting for {user}")
        except BaseException:
            child.terminate()
            raise
        finally:
            code = child.wait()
            listener.join()
        if code:
            raise SystemExit(f"midwatch: the attacks could not be run as {user}; see above.")


def _listen(child: "subprocess.Popen[str]", hear: Callable[[str], None]) -> None:
    for line in child.stdout or ():
        hear(line)


def _copied(folder: Path, user: str) -> Path:
    """Copy the code and the packages it has loaded: the virtual environment may lie where only we can look."""
    folder.chmod(0o755)
    for part in ("src", "tests", "tools"):
        shutil.copytree(ROOT / part, folder / part, ignore=LEFT_OUT)
    (folder / "packages").mkdir()
    for place in _loaded():
        copy = shutil.copytree if place.is_dir() else shutil.copy2
        copy(place, folder / "packages" / place.name)
    for part in ("home", "tmp"):
        (folder / part).mkdir()
        shutil.chown(folder / part, user)
    return folder


def _loaded() -> set[Path]:
    """List what is loaded from outside the standard library and this checkout, and what packages say of themselves."""
    found: set[Path] = set()
    for module in list(sys.modules.values()):
        file = Path(getattr(module, "__file__", None) or "/")
        if "site-packages" in file.parts:
            at = file.parts.index("site-packages")
            found.add(Path(*file.parts[: at + 2]))
    return found | {said for folder in {one.parent for one in found} for said in folder.glob("*.dist-info")}


def _identity(user: str) -> dict[str, Any]:
    person = pwd.getpwnam(user)
    return {"user": person.pw_uid, "group": person.pw_gid, "extra_groups": []}


def _python(user: str) -> str:
    """Find a Python of our version that the user may run."""
    for python in (sys.executable, "/usr/bin/python3"):
        look = [python, "-c", "import sys; print(sys.version_info[:2])"]
        with contextlib.suppress(OSError):
            done = subprocess.run(look, cwd="/", env={}, capture_output=True, text=True, check=False, **_identity(user))
            if done.returncode == 0 and done.stdout.strip() == str(sys.version_info[:2]):
                return python
    raise SystemExit(f"midwatch: {user} can run no Python like this one, so the attacks cannot be run as {user}.")
