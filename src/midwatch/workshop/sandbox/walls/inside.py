"""The first process inside the walls: opens the doors, hands them out, waits for the signal, and becomes the command.

`python3 -I -S inside.py CONTROL PORTS PROCESSES -- argv...`, standard library only; CONTROL is a descriptor or -1,
PORTS a list with commas. It leaves nothing running that an agent could stop or inspect.
"""

import _socket  # the additions of `socket` take longer to load than everything else here
import os
import resource
import sys

TYPE_CHECKING = False  # typing's own would have to be imported, and every import here delays every agent
if TYPE_CHECKING:
    import signal
else:
    import _signal as signal  # without the enumerations of `signal`

NOT_LET_IN, NO_COMMAND = 70, 127
BACKLOG = 128


def open_doors(control: int, ports: list[int]) -> bool:
    """Listen on each port, hand the listeners out, and return whether the signal came."""
    listeners = [_listener(port) for port in ports]
    outside = _socket.socket(fileno=control)
    numbers = b"".join(listener.fileno().to_bytes(4, sys.byteorder) for listener in listeners)
    outside.sendmsg([b"L"], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, numbers)])
    word = outside.recv(1)
    outside.close()
    for listener in listeners:
        listener.close()
    return word == b"G"


def _listener(port: int) -> _socket.socket:
    listener = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
    listener.setsockopt(_socket.SOL_SOCKET, _socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    listener.listen(BACKLOG)
    return listener


def _environment() -> dict[bytes, bytes]:
    """Read the original environment; in the C locale Python adds to its own copy."""
    with open("/proc/self/environ", "rb") as file:  # noqa: PTH123 - pathlib would be the slowest thing here
        pairs = (entry.partition(b"=") for entry in file.read().split(b"\0") if entry)
        return {key: value for key, _, value in pairs}


def _come_to_the_front() -> None:
    """On a terminal, lead a foreground group, or the command could not pass the terminal on."""
    if not os.isatty(0):
        return
    before = signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    try:
        os.setpgid(0, 0)
        os.tcsetpgrp(0, os.getpid())
    except OSError:
        return  # it leads a session of its own, or has no terminal to lead
    finally:
        signal.signal(signal.SIGTTOU, before)


def main() -> int:
    """Read the command line, open the doors and become the command."""
    control, ports, processes = sys.argv[1:4]
    argv = sys.argv[5:]
    if int(control) >= 0 and not open_doors(int(control), [int(port) for port in ports.split(",") if port]):
        sys.stderr.write("midwatch: the network proxy is gone; nothing was started\n")
        return NOT_LET_IN
    # Here and not before: in its own user namespace the count holds only what runs inside.
    resource.setrlimit(resource.RLIMIT_NPROC, (int(processes), int(processes)))
    # Python ignores the first two, and on a terminal the walls ignore the others; the command would inherit that.
    for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP):
        signal.signal(number, signal.SIG_DFL)
    _come_to_the_front()
    try:
        os.execvpe(argv[0], argv, _environment())  # noqa: S606 - becoming the command is the point
    except OSError as error:
        sys.stderr.write(f"midwatch: cannot start {argv[0]}: {error.strerror}\n")
        return NO_COMMAND


if __name__ == "__main__":
    sys.exit(main())
