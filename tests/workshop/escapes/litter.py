"""Attacks on clean-up: what an agent leaves in its tree and home so that it, or the work of others, stays for ever."""

import asyncio
import os
from collections.abc import Awaitable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from midwatch.errors import MidwatchError
from midwatch.terms.trust import Isolation
from midwatch.workshop.sandbox.deep_folders import remove
from midwatch.workshop.sandbox.disk import weigh
from tests.workshop.escapes.lab import Lab

MIB = 1024**2
LATER = timedelta(days=99)


def _python(script: str) -> str:
    return f"python3 - <<'EOF'\nimport os\nos.makedirs('litter'); os.chdir('litter')\n{script}\nEOF"


def _nested(levels: int, name: str) -> str:
    return f"""
for _ in range({levels}): os.mkdir({name}); os.chdir({name})
open('last', 'wb').write(bytes(1 << 20))
"""


LITTER = {
    "litter 5,000 folders inside each other": _python(_nested(5_000, "'d'")),
    "litter folders below the longest path": _python(_nested(2_000, "'n' * 255")),
    "litter folders that nobody may open": _python("""
os.makedirs('a/b/c'); open('a/b/c/file', 'wb').write(bytes(1 << 20))
for name in ('a/b/c', 'a/b', 'a'): os.chmod(name, 0)
"""),
    "litter names that are no text": _python("""
for name in (b'\\xff\\xfe', b'new\\nline', b'-rf', b'\\x1b[2J'): os.makedirs(os.path.join(name, name))
open('file', 'wb').write(bytes(1 << 20))
"""),
    "litter pipes, sockets and loops of links": _python("""
import socket
os.mkfifo('pipe'); os.symlink('loop', 'loop'); os.symlink('..', 'up'); os.symlink('/', 'root')
socket.socket(socket.AF_UNIX).bind('socket')
open('file', 'wb').write(bytes(1 << 20))
for number in range(1000): os.link('file', f'hard-{number}')
"""),
    "litter 30,000 files": _python("""
open('file', 'wb').write(bytes(1 << 20))
for number in range(30_000): open(str(number), 'w').close()
"""),
    "litter read-only folders": _python("""
os.makedirs('a/b'); open('a/b/file', 'wb').write(bytes(1 << 20))
for name in ('a/b/file', 'a/b', 'a', '.'): os.chmod(name, 0o555 if os.path.isdir(name) else 0)
"""),
}
"""What the agent does; each leaves a file of a mebibyte somewhere."""


def left_by(name: str, folder: Path) -> str:
    """Let an agent litter, then clean up; tell what stayed or was not seen, and nothing where all is well."""
    lab = Lab(folder / "lab", Isolation.BUBBLEWRAP)
    try:
        lab.agent_does(LITTER[name])
        return asyncio.run(_cleaned(lab, readable=os.geteuid() == 0 or "nobody" not in name))
    finally:
        remove(folder / "lab")


async def _cleaned(lab: Lab, *, readable: bool) -> str:
    checkouts, before = lab.checkouts, _open_files()
    litter = lab.agent.path / "litter"
    if not await asyncio.to_thread(litter.is_dir):
        return "the agent could not litter"
    if readable and weigh(litter).bytes < MIB:
        return "its disk space is not counted"
    other = await checkouts.private_clone("shop", "job_2", 1, lab.base)
    found = await _told(checkouts.collect((), timedelta(days=1), 0, datetime.now(UTC) + LATER))
    if not isinstance(found, tuple) or any(one.failed for one in found):
        return f"collecting ended with {found}"
    if error := await _told(checkouts.discard("job_1", force=True)):
        return f"a person cannot remove it: {error}"
    stays = [place.name for place in (other, lab.agent.path) if await asyncio.to_thread(place.exists)]
    return f"{stays} stays" if stays else "" if _open_files() == before else "descriptors stay open"


async def _told(act: Awaitable[object]) -> object:
    try:
        return await act
    except (MidwatchError, OSError, RecursionError) as error:
        return repr(error)


def _open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))
