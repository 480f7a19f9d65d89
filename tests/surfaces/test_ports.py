"""Servers that begin at the same moment have pages on ports of their own."""

import socket

from midwatch.surfaces.pages_port import open_port
from tests.surfaces.person import a_person


def test_a_port_that_somebody_has_bound_and_not_opened_yet_is_left_to_whoever_opens_it_first() -> None:
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        other.bind(("127.0.0.1", 0))
        port = other.getsockname()[1]
        with open_port("127.0.0.1", port) as first, open_port("127.0.0.1", port) as second:
            assert first.getsockname()[1] == port
            assert second.getsockname()[1] != port, "bound alone, both would believe to have it"


def test_a_port_that_another_program_has_is_named_with_the_one_that_is_used_instead() -> None:
    with a_person(up=False) as person, socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        person.settles(f"[server]\nport = {port}\n")
        up = person.types("up", "--detach").out
        assert f"Port {port} is taken by another program, so the pages are at http://127.0.0.1:" in up
        now = person.types("status", "--json").json
        assert (now["port_taken"], now["pages"].endswith(f":{port}")) == (port, False)
        assert f"Port {port} is taken by another program" in person.types("status").out
        person.types("down")
        begun = person.types("up", "--detach", "--json").json
        assert (begun["port_taken"], begun["pages"]) == (port, now["pages"])
        person.types("down")
        refused = person.types("up", "--detach", "--port", str(port), expect=2)
        assert f"Port {port} is taken." in refused.err
        assert person.types("status", "--json").json["server_running"] is False
