"""One request whose answer carries descriptors."""

import asyncio
import json
import os
import socket
from pathlib import Path
from typing import Any

from midwatch.workshop.holding import records

LONGEST_ANSWER = 1 << 16
MOST_DOORS = 64


async def borrow(place: Path, request: dict[str, Any]) -> tuple[dict[str, Any], list[socket.socket]]:
    """Ask the holder for its doors; the caller closes them. Without a holder the answer is empty."""
    loop = asyncio.get_running_loop()
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
        line.setblocking(False)  # noqa: FBT003 - the socket's own signature
        try:
            # By the folder's descriptor, because a socket's path may not be longer than 107 bytes.
            folder = os.open(place, os.O_PATH | os.O_DIRECTORY)
            try:
                await loop.sock_connect(line, f"/proc/self/fd/{folder}/{records.SOCKET}")
            finally:
                os.close(folder)
            await loop.sock_sendall(line, json.dumps(request).encode() + b"\n")
            await _readable(line)
            said, descriptors, _, _ = socket.recv_fds(line, LONGEST_ANSWER, MOST_DOORS, socket.MSG_CMSG_CLOEXEC)
        except OSError:
            return {}, []
    doors = [socket.socket(fileno=descriptor) for descriptor in descriptors]
    for door in doors:
        door.setblocking(False)  # noqa: FBT003 - as above
    try:
        return json.loads(said or b"{}"), doors
    except ValueError:
        return {}, doors


async def _readable(line: socket.socket) -> None:
    loop, ready = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(line, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(line)
