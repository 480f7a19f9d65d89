"""Servers that begin at the same moment have pages on ports of their own."""

import socket

from midwatch.surfaces.server import open_port


def test_a_port_that_somebody_has_bound_and_not_opened_yet_is_left_to_whoever_opens_it_first() -> None:
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        other.bind(("127.0.0.1", 0))
        port = other.getsockname()[1]
        with open_port("127.0.0.1", port) as first, open_port("127.0.0.1", port) as second:
            assert first.getsockname()[1] == port
            assert second.getsockname()[1] != port, "bound alone, both would believe to have it"
