"""The way from a sandbox to the network: one proxy per job epoch, limited to the hosts of its contract."""

from midwatch.gateway.egress.authority import RegistryAuthority
from midwatch.gateway.egress.connection import ConnectionRecord, EgressCounts
from midwatch.gateway.egress.dialer import Resolver
from midwatch.gateway.egress.policy import (
    EgressCaps,
    EgressDeadlines,
    EgressPolicy,
    HeaderSource,
    RegistryHost,
    RegistryRoute,
)
from midwatch.gateway.egress.proxy import EgressProxy, Seen

__all__ = [
    "ConnectionRecord",
    "EgressCaps",
    "EgressCounts",
    "EgressDeadlines",
    "EgressPolicy",
    "EgressProxy",
    "HeaderSource",
    "RegistryAuthority",
    "RegistryHost",
    "RegistryRoute",
    "Resolver",
    "Seen",
]
