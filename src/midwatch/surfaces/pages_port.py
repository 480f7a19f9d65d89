"""The port that the pages are served on.

Its own module: the server opens it, and a change of settings tries it first.
"""

import errno
import socket

from midwatch.errors import Misuse

NEIGHBOURS = 20
"""How many ports are tried, from the configured one: two installations on one machine, or a forgotten server."""


def open_port(host: str, port: int, *, exactly: bool = False) -> socket.socket:
    """Bind the pages' port; if it is taken, the next free one of a few, unless it has to be this one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for candidate in range(port, port + 1 if exactly else min(port + NEIGHBOURS, 65536)):
        listening = socket.socket(family)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((host, candidate))
            listening.listen()  # two servers that start at once may both bind; only one of them can listen
        except OSError as error:
            listening.close()
            if error.errno != errno.EADDRINUSE:
                raise Misuse(
                    f"The pages cannot be served on {host}:{candidate}: {error.strerror}.",
                    hint="Choose another: MIDWATCH_SERVER__HOST=127.0.0.1 MIDWATCH_SERVER__PORT=9000",
                ) from error
        else:
            return listening
    if exactly:
        raise Misuse(
            f"Port {port} is taken.", hint="Name another, or leave --port out: then the next free one is used."
        )
    raise Misuse(
        f"The ports {port} to {port + NEIGHBOURS - 1} are all taken.", hint="Choose another: MIDWATCH_SERVER__PORT=9000"
    )


def refuse_unservable(host: str, port: int) -> None:
    """Raise where the pages could never be served on an address; a port that is only taken is none of that."""
    open_port(host, port).close()
