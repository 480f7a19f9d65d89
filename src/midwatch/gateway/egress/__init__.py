"""The way from a sandbox to the network: one proxy per job epoch, bound by its contract's list of hosts."""

from midwatch.gateway.egress.connection import Connection, Counts
from midwatch.gateway.egress.dialer import Resolver
from midwatch.gateway.egress.policy import Caps, Deadlines, HeaderSource, Policy, Route
from midwatch.gateway.egress.proxy import Egress, Seen

__all__ = ["Caps", "Connection", "Counts", "Deadlines", "Egress", "HeaderSource", "Policy", "Resolver", "Route", "Seen"]
