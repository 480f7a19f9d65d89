"""How long a program in a sandbox may take for its part of a connection, where nothing else is set."""

from midwatch.gateway.egress import EgressDeadlines
from midwatch.gateway.metering.limits import ProxyTimeouts


def test_a_program_that_a_busy_machine_keeps_waiting_has_a_minute_for_its_part() -> None:
    """Seen at a load of 20 on two processors: npm began TLS after more than ten seconds, and its install failed."""
    assert min(EgressDeadlines().head, EgressDeadlines().hello, ProxyTimeouts().head) >= 60
