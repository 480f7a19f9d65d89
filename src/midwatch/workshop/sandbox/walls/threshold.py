"""The step into the walls: sets limits, provides what the walls need, and becomes the command.

`python -I -S threshold.py NOTE`, standard library only, and one process from start to end: its starter stays
the parent of what it becomes, which is what `--die-with-parent` checks. `entry.py` writes the note. A holder takes
the step in the process it has forked, because starting another Python takes longer than bubblewrap.
"""

import _socket  # the additions of `socket` take longer to load than everything else here
import binascii
import os
import resource
import sys
from _json import make_scanner  # the one of `json`, which loads regular expressions

TYPE_CHECKING = False  # typing's own would have to be imported, and every import here delays every agent
if TYPE_CHECKING:
    import signal
    from typing import Any
else:
    import _signal as signal  # without the enumerations of `signal`

NOT_LET_IN, NO_COMMAND = 70, 127
MARK = "MIDWATCH_HELD"


class JsonOptions:
    """What `json.loads` gives its scanner."""

    strict = True
    object_hook = object_pairs_hook = parse_constant = None
    parse_float, parse_int = float, int


def enter(place: str, mark: dict[str, str]) -> int:
    """Become the command of a note; the holder's mark stays in its environment: lost processes are found by it."""
    with open(place, encoding="utf-8") as file:  # noqa: PTH123 - pathlib is slow to load
        note: dict[str, Any] = make_scanner(JsonOptions)(file.read(), 0)[0]  # type: ignore[arg-type]
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    try:
        _bring(note)
        _limit(note["limits"])
        os.chdir(note["cwd"])
        if note["landlock"]:
            _confine(note["landlock"])
        if note["terminal"]:
            # bwrap is between terminal and command; a Ctrl-C meant for the command would end the walls with it.
            for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP):
                signal.signal(number, signal.SIG_IGN)
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    except OSError as error:
        sys.stderr.write(f"midwatch: the walls could not be built: {error}\n")
        return NOT_LET_IN
    try:
        os.execvpe(note["argv"][0], note["argv"], note["environment"] | mark)  # noqa: S606 - becoming it is the point
    except OSError as error:
        sys.stderr.write(f"midwatch: cannot start {note['argv'][0]}: {error.strerror}\n")
        return NO_COMMAND


def _bring(note: "dict[str, Any]") -> None:
    """Put the contents and the control connection on the descriptors that the command line names."""
    for number, content in note["files"].items():
        file = os.memfd_create("midwatch", os.MFD_CLOEXEC)
        os.write(file, binascii.a2b_base64(content))
        os.lseek(file, 0, os.SEEK_SET)
        os.dup2(file, int(number), inheritable=True)
        os.close(file)
    if note["control"]:
        place, _, name = note["control"].rpartition("/")
        # Through the folder's descriptor, because the path of a socket may be only 107 bytes long.
        folder = os.open(place, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        control = _socket.socket(_socket.AF_UNIX)
        control.connect(f"/proc/self/fd/{folder}/{name}")
        os.dup2(control.fileno(), note["control_fd"], inheritable=True)
        control.close()
        os.close(folder)


def _limit(limits: dict[str, int]) -> None:
    _sibling("groups").join(limits["processes"], limits["memory_bytes"])
    if limits["count_host_processes"]:
        _lower(resource.RLIMIT_NPROC, limits["processes"] + _mine())
    _lower(resource.RLIMIT_NOFILE, limits["open_files"])
    _lower(resource.RLIMIT_FSIZE, limits["file_bytes"])
    _lower(resource.RLIMIT_DATA, limits["data_bytes"])
    _lower(resource.RLIMIT_CORE, 0)
    os.nice(limits["nice"])


def _lower(which: int, value: int) -> None:
    hard = resource.getrlimit(which)[1]
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(which, (value, value))


def _mine() -> int:
    """Count our user's threads: in the host's own namespace the limit covers all of them."""
    count = 0
    for entry in os.listdir("/proc"):  # noqa: PTH208 - names only, and thousands of them
        try:
            if entry.isdigit() and os.stat(f"/proc/{entry}").st_uid == os.getuid():  # noqa: PTH116
                count += len(os.listdir(f"/proc/{entry}/task"))  # noqa: PTH208
        except OSError:  # it has ended
            continue
    return count


def _sibling(name: str) -> "Any":
    """Load a file beside this one; its folder is searched last, so that it replaces no module of Python's own."""
    known = sys.modules.get(f"{__package__}.{name}")
    if known is not None:
        return known
    place = os.path.dirname(__file__)  # noqa: PTH120
    if place not in sys.path:
        sys.path.append(place)
    return __import__(name)


def _confine(plan: "dict[str, Any]") -> None:
    import warnings  # noqa: F401, PLC0415 - os.execvpe loads it, and could not read it once confined

    _sibling("landlock").confine(plan["read"], plan["write"], plan["ports"], binascii.a2b_base64(plan["filter"]))


if __name__ == "__main__":
    sys.exit(enter(sys.argv[1], {name: value for name, value in os.environ.items() if name == MARK}))
