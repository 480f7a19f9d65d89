"""A listener from an empty network namespace, handed out by its descriptor, is served from outside."""

import asyncio
import os
import shutil
import socket
import sys

from midwatch.gateway.egress import ConnectionRecord, EgressPolicy, EgressProxy
from midwatch.rules.budget.egress import rules_of
from tests.conftest import missing
from tests.gateway.egress.lab import FarEnd, far_end
from tests.patience import PATIENCE

INSIDE = """
import fcntl, socket, struct, sys
with socket.socket() as probe:
    fcntl.ioctl(probe, 0x8914, struct.pack("16sh", b"lo", 0x49))  # SIOCSIFFLAGS: up, loopback, running
outside = socket.socket(fileno=int(sys.argv[1]))
listener = socket.create_server(("127.0.0.1", 8118))
socket.send_fds(outside, [b"x"], [listener.fileno()])
listener.close()
def ask(host):
    with socket.create_connection(("127.0.0.1", 8118), 20) as line:
        line.sendall(f"GET http://{host}/ HTTP/1.1\\r\\n\\r\\n".encode())
        heard = b""
        while data := line.recv(65536):
            heard += data
    return heard.splitlines()[-1].decode()
print(ask("files.example"))
print(ask("evil.example"))
try:
    socket.create_connection(("127.0.0.1", int(sys.argv[2])), 5)
    print("reached the far end without the proxy")
except OSError:
    print("no other way out")
"""


async def test_the_only_way_out_of_an_empty_namespace_is_the_proxy() -> None:
    if shutil.which("unshare") is None:
        missing("namespaces", "there is no unshare")
    ours, theirs = socket.socketpair()
    records: list[ConnectionRecord] = []
    async with far_end(FarEnd()) as end:
        command = ("unshare", "-rn", sys.executable, "-c", INSIDE, str(theirs.fileno()), str(end.port))
        pipe = asyncio.subprocess.PIPE
        child = await asyncio.create_subprocess_exec(
            *command, pass_fds=[theirs.fileno()], stdout=pipe, stderr=pipe, env={"PATH": os.environ["PATH"]}
        )
        theirs.close()
        with ours:
            _, handed, _, _ = await asyncio.to_thread(socket.recv_fds, ours, 1, 1)
        if not handed:
            missing("namespaces", (await child.communicate())[1].decode())

        async def resolve(_: str, __: int) -> list[tuple[str, int]]:
            return [("127.0.0.1", end.port)]

        egress = EgressProxy(
            EgressPolicy(rules_of(["files.example"])), records.append, resolve=resolve, exempt={("127.0.0.1", end.port)}
        )
        serving = asyncio.create_task(egress.serve(socket.socket(fileno=handed[0])))
        async with asyncio.timeout(PATIENCE):
            out, _ = await child.communicate()
        await egress.close()
        await serving
    assert out.decode().splitlines() == ["hello", "evil.example is not on the list of this job.", "no other way out"]
    assert [record.verdict for record in records] == ["allowed", "refused"]
