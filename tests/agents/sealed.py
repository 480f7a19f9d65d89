"""A network of loopback only, in which agents run: nothing leaves it, and every name asked for is written down.

    with sealed_network() as sealed:
        async with scripted_model(sealed.listen()) as model:     # the socket lives inside, its server out here
            subprocess.run(sealed.at(folder, "claude", ...))     # the program lives inside
        assert sealed.names() == []                              # no DNS question was asked
        assert sealed.strays() == 0                              # no packet had nowhere to go

Needs `unshare` and either root or unprivileged user namespaces; SealingFailed says why it cannot.
"""

import json
import os
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class SealingFailed(Exception):
    """Why no such network can be had here."""


class Sealed:
    """The network; a small process inside keeps it and makes sockets for us."""

    def __init__(self, pid: int, line: socket.socket, dns: socket.socket) -> None:
        self.pid = pid
        self.enter: tuple[str, ...] = ("nsenter", f"--target={pid}", "--net", "--mount")
        if os.geteuid() != 0:
            self.enter = (*self.enter, "--user", "--preserve-credentials")
        self._line = line
        self._dns = dns
        self._asked: list[str] = []
        self._wake_up, self._woken = socket.socketpair()
        self._clerk = threading.Thread(target=self._answer_names, name="sealed-dns")
        self._clerk.start()

    def at(self, folder: Path | str, *argv: str) -> tuple[str, ...]:
        """Give the command line that runs this one inside, in that folder; entering alone would lead to the root."""
        return (*self.enter, "env", "-C", str(folder), *argv)

    def listen(self) -> socket.socket:
        """Give a listening socket on a free port of the network's loopback."""
        return _ask(self._line, "listen")

    def names(self) -> list[str]:
        """Give every name that anyone inside asked for."""
        return list(self._asked)

    def strays(self) -> int:
        """Count the packets that had nowhere to go."""
        lines = Path(f"/proc/{self.pid}/net/snmp").read_text().splitlines()
        heads, numbers = (line.split()[1:] for line in lines if line.startswith("Ip:"))
        found = int(dict(zip(heads, numbers, strict=True))["OutNoRoutes"])
        six = Path(f"/proc/{self.pid}/net/snmp6").read_text().split()
        return found + int(six[six.index("Ip6OutNoRoutes") + 1])

    def _answer_names(self) -> None:
        while self._dns in select.select([self._dns, self._woken], [], [])[0]:
            packet, whom = self._dns.recvfrom(4096)
            labels, at = [], 12
            while packet[at]:
                labels.append(packet[at + 1 : at + 1 + packet[at]].decode("latin1"))
                at += packet[at] + 1
            self._asked.append(".".join(labels))
            no_such_name = packet[:2] + b"\x81\x83" + packet[4:6] + bytes(6) + packet[12 : at + 5]
            self._dns.sendto(no_such_name, whom)

    def close(self) -> None:
        """Stop answering."""
        self._wake_up.close()
        self._clerk.join()
        for end in (self._dns, self._woken, self._line):
            end.close()


def _ask(line: socket.socket, what: str) -> socket.socket:
    line.sendall(what.encode())
    message, handles, _, _ = socket.recv_fds(line, 4096, 1)
    if not handles:
        raise SealingFailed(message.decode() or "the process inside has gone")
    return socket.socket(fileno=handles[0])


@contextmanager
def sealed_network() -> Iterator[Sealed]:
    """Make the network, and take it away."""
    if shutil.which("unshare") is None or shutil.which("nsenter") is None:
        raise SealingFailed("unshare and nsenter are not installed")
    ours, theirs = socket.socketpair()
    who = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    with tempfile.TemporaryDirectory(prefix="midwatch-sealed-") as folder:
        resolv = Path(folder, "resolv.conf")
        resolv.write_text("nameserver 127.0.0.1\n")
        command = [
            "unshare",
            *who,
            "--net",
            "--mount",
            sys.executable,
            "-I",
            __file__,
            str(theirs.fileno()),
            str(resolv),
        ]
        keeper = subprocess.Popen(command, pass_fds=(theirs.fileno(),), stderr=subprocess.PIPE, text=True)
        theirs.close()
        try:
            try:
                dns = _ask(ours, "dns")
            except (OSError, SealingFailed) as problem:
                ours.close()
                raise SealingFailed(keeper.communicate()[1].strip() or str(problem)) from problem
            sealed = Sealed(keeper.pid, ours, dns)
            try:
                yield sealed
            finally:
                sealed.close()
        finally:
            ours.close()
            keeper.kill()
            keeper.communicate()


# The process inside. It is run by its path and imports nothing of ours.


def keep(handle: int, resolv: str) -> None:
    """Bring loopback up, put our list of name servers in place, and make sockets until nobody asks any more."""
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    target = os.path.realpath("/etc/resolv.conf")
    if os.path.exists(target):  # noqa: PTH110 - nothing else here needs pathlib
        subprocess.run(["mount", "--bind", resolv, target], check=True)
    line = socket.socket(fileno=handle)
    while what := line.recv(4096).decode():
        if what == "dns":
            made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            made.bind(("127.0.0.1", 53))
        else:
            made = socket.create_server(("127.0.0.1", 0))
        socket.send_fds(line, [json.dumps(made.getsockname()).encode()], [made.fileno()])
        made.close()


if __name__ == "__main__":
    keep(int(sys.argv[1]), sys.argv[2])
