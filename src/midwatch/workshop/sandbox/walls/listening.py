"""A socket in the file system that only its owner can reach; standard library only, because the holder uses it too."""

import os
import socket
from pathlib import Path


def listen_at(place: Path, backlog: int = 1) -> socket.socket:
    """Listen at a path, replacing what was there; the socket never blocks."""
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    place.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    # Through the folder's descriptor, because the path of a socket may be only 107 bytes long.
    folder = os.open(place.parent, os.O_PATH | os.O_DIRECTORY)
    try:
        listener.settimeout(0)
        listener.bind(f"/proc/self/fd/{folder}/{place.name}")
        place.chmod(0o600)  # before a client can connect: it does not listen yet
        listener.listen(backlog)
    except OSError:
        listener.close()
        raise
    finally:
        os.close(folder)
    return listener
