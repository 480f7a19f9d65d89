"""Which hosts a job may reach: names, ports and addresses, judged as text only."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Final

from midwatch.errors import Misuse

CLIENTS: Final = ("pip", "uv", "npm", "cargo", "go")
"""Package clients: on a list of hosts, a client's name stands for the registries it is set to here, read-only."""
WEB_PORTS: Final = frozenset({80, 443})
LONGEST_NAME: Final = 253
LONGEST_SHOWN: Final = 100
ROUND_APART: Final = 1.0
"""Seconds without a refusal after which the next one is a new try; parallel requests are refused together."""
ROUNDS_OF_REPEATING: Final = 4

_LABEL: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?", re.ASCII)
_PORT: Final = re.compile(r"[1-9][0-9]{0,4}", re.ASCII)

_CLOSED_V4: Final = tuple(
    (IPv4Network(block), what)
    for block, what in (
        ("0.0.0.0/8", "an address of this network"),
        ("10.0.0.0/8", "a private address"),
        ("100.64.0.0/10", "an address shared by a carrier"),
        ("127.0.0.0/8", "this machine itself"),
        ("168.63.129.16/32", "a cloud's own metadata"),  # in the public range, but answered by the host
        ("169.254.0.0/16", "a link-local address"),
        ("172.16.0.0/12", "a private address"),
        ("192.0.0.0/24", "a reserved address"),
        ("192.0.2.0/24", "an address for documentation"),
        ("192.31.196.0/24", "a reserved address"),
        ("192.52.193.0/24", "a reserved address"),
        ("192.88.99.0/24", "a relay into another network"),
        ("192.168.0.0/16", "a private address"),
        ("192.175.48.0/24", "a reserved address"),
        ("198.18.0.0/15", "an address for measurements"),
        ("198.51.100.0/24", "an address for documentation"),
        ("203.0.113.0/24", "an address for documentation"),
        ("224.0.0.0/4", "a multicast address"),
        ("240.0.0.0/4", "a reserved address"),
    )
)
_OPEN_V6: Final = IPv6Network("2000::/3")
_CLOSED_V6: Final = tuple(
    (IPv6Network(block), what)
    for block, what in (
        ("::1/128", "this machine itself"),
        ("::ffff:0:0/96", "another address in disguise"),
        ("::/96", "another address in disguise"),
        ("64:ff9b::/96", "another address in disguise"),
        ("64:ff9b:1::/48", "another address in disguise"),
        ("2001::/23", "a reserved address"),
        ("2001:db8::/32", "an address for documentation"),
        ("2002::/16", "another address in disguise"),
        ("3fff::/20", "an address for documentation"),
        ("fc00::/7", "a private address"),
        ("fe80::/10", "a link-local address"),
        ("ff00::/8", "a multicast address"),
    )
)
_OWN_NETWORKS: Final = tuple(
    IPv4Network(block)
    for block in (
        *("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"),
        *("100.64.0.0/10", "198.18.0.0/15"),  # overlay networks and local gateways
        *("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24"),  # routed nowhere, so only a local gateway answers there
    )
)
_OWN_NETWORKS_V6: Final = IPv6Network("fc00::/7")
_CLOUD_V4: Final = IPv4Network("100.100.100.200/32")
_CLOUD_V6: Final = IPv6Network("fd00:ec2::/32")


@dataclass(frozen=True, slots=True)
class HostRule:
    """One line of the list: a name or everything under it, on the web's ports or on the one it names."""

    name: str
    under: bool = False
    port: int | None = None

    @classmethod
    def parse(cls, text: str) -> "HostRule":
        """Read `example.org`, `*.example.org` or either with `:8443`."""
        hint = "Write example.org, *.example.org or example.org:8443, without a scheme or a path."
        host, colon, digits = text.strip().partition(":")
        port = port_in(digits) if colon else None
        under = host.startswith("*.")
        name = host.removeprefix("*.")
        if fault := fault_in(name) or ("its port is not a number from 1 to 65535" if colon and not port else ""):
            raise Misuse(f"{shown(text)} is not a valid host: {fault}.", hint=hint)
        return cls(canonical(name), under, port)

    @property
    def text(self) -> str:
        return ("*." if self.under else "") + self.name + (f":{self.port}" if self.port else "")

    def names(self, name: str) -> bool:
        """Whether the rule covers a canonical name, on any port."""
        return name.endswith("." + self.name) if self.under else name == self.name

    def opens(self, port: int) -> bool:
        return port == self.port if self.port else port in WEB_PORTS


@dataclass(frozen=True, slots=True)
class HostDecision:
    """Whether a host may be reached, and by which rule or why not."""

    allowed: bool
    why: str
    name: str = ""
    rule: str = ""


@dataclass(frozen=True, slots=True)
class RefusalRounds:
    """How often a program has come back to a host that is refused, while nothing else reached it."""

    rounds: int = 0
    last: float = 0.0


def another_refusal(before: RefusalRounds, at: float) -> RefusalRounds:
    """Count a refusal at a moment, in seconds."""
    new = not before.rounds or at - before.last >= ROUND_APART
    return RefusalRounds(before.rounds + new, at)


def only_repeats(refused: RefusalRounds) -> bool:
    """Whether a program does nothing but try a refused host again; one with another way out goes it by then."""
    return refused.rounds >= ROUNDS_OF_REPEATING


def rules_of(domains: Iterable[str]) -> tuple[HostRule, ...]:
    """Read the hosts of a list; names of package clients are read by `clients_in`."""
    return tuple(HostRule.parse(text) for text in domains if text not in CLIENTS)


def clients_in(domains: Iterable[str]) -> tuple[str, ...]:
    """Return the package clients on a list of hosts, each once."""
    named = set(domains)
    return tuple(name for name in CLIENTS if name in named)


def setup_clients(domains: Iterable[str], registries: Iterable[str]) -> tuple[str, ...]:
    """Return the package clients whose registries setups may read, by their name or by an address in the settings."""
    return (*clients_in(domains), *(text.partition("=")[0] for text in registries))


def may_reach(host: str, port: int, rules: Iterable[HostRule]) -> HostDecision:
    """Judge a host as the job spelled it; only a plain name can be on the list."""
    if fault := fault_in(host):
        return HostDecision(allowed=False, why=f"{shown(host) or 'The host'} cannot be reached: {fault}.")
    name = canonical(host)
    listed = [rule for rule in rules if rule.names(name)]
    if not listed:
        return HostDecision(allowed=False, why=f"{name} is not on the list of this job.", name=name)
    for rule in listed:
        if rule.opens(port):
            return HostDecision(allowed=True, why=f"{name} is on the list by {rule.text}.", name=name, rule=rule.text)
    return HostDecision(allowed=False, why=f"{name} is on the list of this job, but not port {port}.", name=name)


def canonical(host: str) -> str:
    """Give the canonical spelling of a valid name."""
    return host.lower().removesuffix(".")


def same_domain(host: str, registry: str) -> bool:
    """Whether a host belongs to the domain of a registry: files.example.org to packages.example.org."""
    name, known = canonical(host), canonical(registry)
    above = known.split(".")[1:]
    # Nobody owns co.uk alone: there the registry's own name is the domain.
    shared = len(above) < 2 or (len(above) == 2 and len(above[0]) <= 3 and len(above[1]) == 2)
    domain = known if shared else ".".join(above)
    return name == domain or name.endswith("." + domain)


def fault_in(host: str) -> str:
    """Say what keeps a text from being a plain host name; empty when nothing does."""
    if "@" in host:
        return "a name may not carry a user or a password"
    # Before lower(): a Kelvin sign becomes a plain k there.
    if not host.isascii():
        return "names beyond ASCII must be given in their xn-- form"
    name = canonical(host)
    if _is_address(name):
        return "it is an address, and only names can be on the list"
    labels = name.split(".")
    if len(name) > LONGEST_NAME or not all(_LABEL.fullmatch(label) for label in labels):
        return "it is not a plain host name"
    return "a name needs at least two parts" if len(labels) < 2 else ""


def port_in(text: str) -> int | None:
    """Read a port as plain digits, or nothing."""
    return int(text) if _PORT.fullmatch(text) and int(text) <= 65535 else None


def why_not_dial(address: str, *, own_network: bool = False) -> str:
    """Say why a job may not connect to an address; empty when it may.

    With own_network the ranges of local networks are open too, for a registry that this machine itself is set to.
    """
    try:
        found = ip_address(address)
    except ValueError:
        return "not an address at all"
    if isinstance(found, IPv4Address):
        return _why_not_v4(found, own_network=own_network)
    return _why_not_v6(found, own_network=own_network)


def shown(text: str) -> str:
    """Make untrusted text safe to repeat: short, and plain ASCII."""
    plain = text.encode("ascii", "backslashreplace").decode("ascii")
    cut = "".join(letter if letter.isprintable() else f"\\x{ord(letter):02x}" for letter in plain[:LONGEST_SHOWN])
    return cut + ("..." if len(plain) > LONGEST_SHOWN else "")


def _is_address(name: str) -> bool:
    """Also 127.1, 0x7f.1 and 2130706433, which old libraries take for addresses."""
    return ":" in name or "[" in name or name.rpartition(".")[2][:1].isdigit()


def _why_not_v4(address: IPv4Address, *, own_network: bool) -> str:
    if own_network and address not in _CLOUD_V4 and any(address in block for block in _OWN_NETWORKS):
        return ""
    return next((what for block, what in _CLOSED_V4 if address in block), "")


def _why_not_v6(address: IPv6Address, *, own_network: bool) -> str:
    if address.scope_id:
        return "a link-local address"
    if own_network and address in _OWN_NETWORKS_V6 and address not in _CLOUD_V6:
        return ""
    if what := next((what for block, what in _CLOSED_V6 if address in block), ""):
        return what
    # ISATAP writes an IPv4 address into the lower half, after 0:5efe or 200:5efe.
    if int(address) >> 32 & 0xFDFFFFFF == 0x5EFE:
        return "another address in disguise"
    return "" if address in _OPEN_V6 else "a reserved address"
