"""Egress: what is on the list, whatever its spelling, and which addresses nobody may dial."""

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midwatch.errors import Misuse
from midwatch.rules.budget.egress import (
    HostRule,
    RefusalRounds,
    another_refusal,
    canonical,
    clients_in,
    fault_in,
    may_reach,
    only_repeats,
    rules_of,
    same_domain,
    shown,
    why_not_dial,
)

LIST = rules_of(["example.org", "*.Packages.example", "odd.example:8443", "xn--bcher-kva.example"])

label = st.text(alphabet="abz09-", min_size=1, max_size=5).filter(lambda text: text.strip("-") == text)
names = st.lists(label, min_size=1, max_size=3).map(lambda parts: ".".join([*parts, "example"]))
rules = st.tuples(st.sampled_from(["", "*."]), names, st.sampled_from(["", ":443", ":8080"])).map("".join)
spelled = st.one_of(
    st.text(max_size=30),
    names,
    st.tuples(names, st.sampled_from([".", "..", " ", "\t", "%00", "\0", "@", "#", "\u212a", "\u3002", "/"])).map(
        "".join
    ),
)


@pytest.mark.parametrize(
    ("host", "port"),
    [
        ("example.org", 80),
        ("example.org", 443),
        ("EXAMPLE.org", 443),
        ("example.org.", 443),
        ("a.packages.example", 443),
        ("a.b.packages.example", 80),
        ("odd.example", 8443),
        ("xn--bcher-kva.example", 443),
    ],
)
def test_what_is_on_the_list_is_reached(host: str, port: int) -> None:
    answer = may_reach(host, port, LIST)
    assert answer.allowed
    assert answer.name == host.lower().rstrip(".")
    assert answer.rule in {rule.text for rule in LIST}


@pytest.mark.parametrize(
    ("host", "port", "why"),
    [
        ("evil.example", 443, "evil.example is not on the list of this job."),
        ("www.example.org", 443, "www.example.org is not on the list of this job."),
        ("packages.example", 443, "packages.example is not on the list of this job."),
        ("notpackages.example", 443, "notpackages.example is not on the list of this job."),
        ("example.org.evil.example", 443, "example.org.evil.example is not on the list of this job."),
        ("example.org", 22, "example.org is on the list of this job, but not port 22."),
        ("odd.example", 443, "odd.example is on the list of this job, but not port 443."),
        ("127.0.0.1", 80, "an address"),
        ("127.1", 80, "an address"),
        ("0x7f.0.0.1", 80, "an address"),
        ("2130706433", 80, "an address"),
        ("0177.0.0.01", 80, "an address"),
        ("[::1]", 80, "an address"),
        ("::1", 80, "an address"),
        ("1.2.3.4.", 80, "an address"),
        ("user@example.org", 80, "a user or a password"),
        ("example.org@evil.example", 80, "a user or a password"),
        ("b\u00fccher.example", 80, "xn-- form"),
        ("example\uff0eorg", 80, "xn-- form"),
        ("pac\u212aages.example", 80, "xn-- form"),
        ("example.org..", 80, "not a plain host name"),
        (".example.org", 80, "not a plain host name"),
        ("example..org", 80, "not a plain host name"),
        ("example.org\0.evil.example", 80, "not a plain host name"),
        ("example.org\n", 80, "not a plain host name"),
        ("example.org%00", 80, "not a plain host name"),
        ("exa mple.org", 80, "not a plain host name"),
        ("evil.example#.packages.example", 80, "not a plain host name"),
        ("evil.example/.packages.example", 80, "not a plain host name"),
        ("evil.example\\.packages.example", 80, "not a plain host name"),
        ("-a.packages.example", 80, "not a plain host name"),
        ("*.packages.example", 80, "not a plain host name"),
        ("a" * 64 + ".packages.example", 80, "not a plain host name"),
        (".".join(["a"] * 130) + ".packages.example", 80, "not a plain host name"),
        ("", 80, "not a plain host name"),
        ("localhost", 80, "two parts"),
    ],
)
def test_everything_else_is_refused_in_a_plain_sentence(host: str, port: int, why: str) -> None:
    answer = may_reach(host, port, LIST)
    assert not answer.allowed
    assert why in answer.why
    assert answer.why.isascii()
    assert answer.why.isprintable()


@pytest.mark.parametrize(
    "text", ["*", "*.", "*.org", "https://example.org", "a.*.example", "example.org:0", "example.org:", "10.0.0.1", "x"]
)
def test_a_rule_that_means_too_much_or_nothing_is_misuse(text: str) -> None:
    with pytest.raises(Misuse) as problem:
        HostRule.parse(text)
    assert problem.value.hint


@given(spelled, st.integers(0, 70_000), st.lists(rules, max_size=4))
def test_nothing_outside_the_list_is_reached_whatever_the_spelling(host: str, port: int, listed: list[str]) -> None:
    answer = may_reach(host, port, rules_of(listed))
    assert answer.why.endswith(".")
    if not answer.allowed:
        return
    rule, _, named = answer.rule.partition(":")
    assert answer.rule in listed
    assert port in ({int(named)} if named else {80, 443})
    assert host.isascii()
    assert answer.name == host.lower().removesuffix(".")
    assert answer.name.endswith(rule[1:]) if rule.startswith("*.") else answer.name == rule


@given(spelled, st.sampled_from([80, 443, 8080]), st.lists(rules, max_size=4), rules)
def test_adding_a_rule_never_closes_a_door(host: str, port: int, listed: list[str], more: str) -> None:
    before = may_reach(host, port, rules_of(listed))
    after = may_reach(host, port, rules_of([more, *listed]))
    assert after.allowed or not before.allowed


@given(st.text(max_size=300))
def test_a_name_without_fault_has_one_spelling_and_any_text_can_be_shown(text: str) -> None:
    assert shown(text).isascii()
    assert len(shown(text)) <= 500
    if not fault_in(text):
        assert canonical(canonical(text)) == canonical(text)
        assert not fault_in(canonical(text))


def test_a_package_client_on_a_list_is_no_host_and_its_registries_are_asked_from_it() -> None:
    assert clients_in(["npm", "example.org", "pip", "npm"]) == ("pip", "npm")
    assert [rule.text for rule in rules_of(["npm", "example.org"])] == ["example.org"]
    assert not may_reach("npm", 443, rules_of(["npm"])).allowed


@pytest.mark.parametrize("address", ["10.1.2.3", "100.64.0.9", "198.18.0.1", "203.0.113.80", "fd12::1"])
def test_a_registry_that_this_machine_is_set_to_may_be_on_its_own_network(address: str) -> None:
    assert why_not_dial(address)
    assert not why_not_dial(address, own_network=True)


@pytest.mark.parametrize(
    "address", ["127.0.0.1", "169.254.169.254", "100.100.100.200", "168.63.129.16", "fd00:ec2::254", "224.0.0.1", "::1"]
)
def test_this_machine_and_the_metadata_of_clouds_stay_closed_for_registries_too(address: str) -> None:
    assert why_not_dial(address, own_network=True)


@pytest.mark.parametrize("address", ["93.184.215.14", "1.1.1.1", "2606:4700:4700::1111", "2a00:1450:4001:80f::200e"])
def test_addresses_of_the_open_world_may_be_dialled(address: str) -> None:
    assert not why_not_dial(address)


@pytest.mark.parametrize(
    "address",
    [
        "0.0.0.0",  # noqa: S104 - nobody binds it
        *("127.0.0.1", "127.8.8.8", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.1"),
        *("169.254.169.254", "168.63.129.16", "100.100.100.200", "192.0.0.192", "100.64.0.1", "224.0.0.1"),
        *("255.255.255.255", "240.0.0.1", "198.18.0.1", "192.88.99.1", "203.0.113.9"),
        *("::1", "::", "::ffff:127.0.0.1", "::ffff:8.8.8.8", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::808:808"),
        *("64:ff9b:1::a00:1", "2002:7f00:1::", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "fe80::1", "fe80::1%eth0"),
        *("fc00::1", "fd00:ec2::254", "ff02::1", "2001:db8::1", "3fff::1", "fec0::1", "100::1", "5f00::1"),
        *("2a00::5efe:10.0.0.1", "2a00::200:5efe:a00:1", "8.8.8", "", "example.org", "08.8.8.8"),
    ],
)
def test_no_address_of_our_own_is_dialled(address: str) -> None:
    assert why_not_dial(address)


@given(st.one_of(st.ip_addresses(v=4), st.ip_addresses(v=6)))
def test_what_may_be_dialled_is_never_what_python_calls_local(
    address: ipaddress.IPv4Address | ipaddress.IPv6Address,
) -> None:
    if not why_not_dial(str(address)):
        assert not (address.is_private)
        assert not (address.is_loopback)
        assert not (address.is_link_local)
        assert not (address.is_multicast)
        assert not (address.is_reserved)
        assert not (address.is_unspecified)


@pytest.mark.parametrize(
    ("address", "open_to_the_house"),
    [("10.1.2.3", True), ("192.168.1.1", True), ("fd12::1", True)]
    + [(closed, False) for closed in ("127.0.0.1", "169.254.169.254", "fd00:ec2::254", "::ffff:10.0.0.1", "fe80::1")],
)
def test_a_named_registry_may_lie_in_the_own_network_but_not_at_metadata(address: str, open_to_the_house: bool) -> None:
    assert (not why_not_dial(address, own_network=True)) is open_to_the_house


SAME_DOMAIN = {
    ("files.corp.example", "packages.corp.example"): True,
    ("corp.example", "packages.corp.example"): True,
    ("a.npm.example", "npm.example"): True,
    ("files.example", "npm.example"): False,
    ("evilcorp.example", "packages.corp.example"): False,
    ("shop.co.uk", "npm.co.uk"): False,
    ("files.npm.co.uk", "npm.co.uk"): True,
}


@pytest.mark.parametrize("pair", SAME_DOMAIN)
def test_a_host_belongs_to_a_registrys_domain_or_not(pair: tuple[str, str]) -> None:
    assert same_domain(*pair) is SAME_DOMAIN[pair]


def after(*moments: float) -> RefusalRounds:
    """Refuse a host at each of these seconds."""
    refused = RefusalRounds()
    for moment in moments:
        refused = another_refusal(refused, moment)
    return refused


@pytest.mark.parametrize(
    ("moments", "repeats"),
    [
        ((0, 1, 3, 7), True),  # what a client does that waits longer each time
        ((0, 0, 0, 1, 1, 1, 2, 2, 2, 3), True),  # and one that asks for several things at once
        ((0, 1, 3), False),
        (tuple(number / 10 for number in range(100)), False),  # a hundred things, each asked for once
    ],
)
def test_a_program_that_comes_back_to_a_refused_host_again_and_again_only_repeats(
    moments: tuple[float, ...], repeats: bool
) -> None:
    assert only_repeats(after(*moments)) is repeats
