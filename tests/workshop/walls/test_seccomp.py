"""The filter, run step by step as the kernel would, answers each call as meant on both machines."""

import errno
import struct

import pytest

from midwatch.errors import Broken
from midwatch.workshop.sandbox.walls import seccomp
from midwatch.workshop.sandbox.walls.seccomp import ALLOW, CALLS, ERRNO, KILL_PROCESS, MACHINES, Net

EPERM, ENOSYS, NO_FAMILY = ERRNO | errno.EPERM, ERRNO | errno.ENOSYS, ERRNO | errno.EAFNOSUPPORT
LONGEST = 4096  # the kernel's own limit on steps


def answer(program: bytes, audit: int, number: int, *arguments: int) -> int:
    """Run a program of the kinds of steps we use; anything else, and any jump past the end, is an error."""
    padded = [*arguments, *[0] * (6 - len(arguments))]
    data = struct.pack("=IIQ6Q", number, audit, 0, *padded)
    steps = list(struct.iter_unpack("=HBBI", program))
    at, held = 0, 0
    while True:
        code, yes, no, value = steps[at]
        at += 1
        match code:
            case 0x20:
                held = int(struct.unpack_from("=I", data, value)[0])
            case 0x54:
                held &= value
            case 0x15 | 0x35 | 0x45:
                met = {0x15: held == value, 0x35: held >= value, 0x45: bool(held & value)}[code]
                at += yes if met else no
            case 0x06:
                return int(value)
            case _:
                raise AssertionError(f"step {code:#x} is not one of ours")


@pytest.fixture(params=sorted(MACHINES))
def machine(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


def ask(machine: str, number: int, *arguments: int, net: Net = Net.OWN) -> int:
    return answer(seccomp.program(machine, net), MACHINES[machine].audit, number, *arguments)


@pytest.mark.parametrize("name", CALLS)
def test_a_listed_call_is_refused(machine: str, name: str) -> None:
    number = CALLS[name][MACHINES[machine].column]
    assert number is None or ask(machine, number) == EPERM


def test_everything_else_is_allowed(machine: str) -> None:
    kind = MACHINES[machine]
    special = {kind.clone3, kind.socket, *(pair[kind.column] for pair in CALLS.values())}
    assert {ask(machine, number) for number in range(500) if number not in special} == {ALLOW}


def test_another_instruction_set_ends_the_process(machine: str) -> None:
    program = seccomp.program(machine)
    for audit in (0x40000003, 0x40000028, *(one.audit for name, one in MACHINES.items() if name != machine)):
        assert answer(program, audit, 1) == KILL_PROCESS
    assert ask(machine, 0x40000000 + 1) == ENOSYS


@pytest.mark.parametrize("flag", [0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000, 0x00020000])
def test_clone_makes_threads_but_no_namespace(machine: str, flag: int) -> None:
    clone = MACHINES[machine].clone
    assert ask(machine, clone, flag | 17) == EPERM
    assert ask(machine, clone, 0x003D0F00) == ALLOW  # what the C library asks for a thread
    assert ask(machine, MACHINES[machine].clone3) == ENOSYS


def test_ioctl_cannot_type_into_a_terminal_whatever_the_upper_half_says(machine: str) -> None:
    ioctl = MACHINES[machine].ioctl
    for command in (0x5412, 0x541C, 0xFFFFFFFF00005412):
        assert ask(machine, ioctl, 0, command) == EPERM
    assert ask(machine, ioctl, 0, 0x5413) == ALLOW  # the size of a window


@pytest.mark.parametrize(
    ("net", "allowed"),
    [
        (Net.OWN, {(1, 1, 0), (2, 1, 0), (2, 1, 6), (2, 2, 0), (2, 1, 262), (10, 1, 0), (16, 3, 0)}),
        (Net.TCP, {(2, 1, 0), (2, 1, 6), (10, 1, 0), (2, 1 | 0o2004000, 6), (16, 3, 0)}),
        (Net.NONE, {(16, 3, 0)}),
    ],
)
def test_sockets_are_of_the_families_meant(machine: str, net: Net, allowed: set[tuple[int, int, int]]) -> None:
    tried = {(1, 1, 0), (2, 1, 0), (2, 1, 6), (2, 2, 0), (2, 1, 262), (2, 3, 1), (10, 1, 0), (10, 2, 0), (16, 3, 0)}
    tried |= {(16, 3, 16), (17, 3, 0), (38, 5, 0), (40, 1, 0), (44, 3, 0), (2, 1 | 0o2004000, 6)}
    answers = {facts: ask(machine, MACHINES[machine].socket, *facts, net=net) for facts in tried}
    met = {facts for facts, said in answers.items() if said == ALLOW}
    if net is Net.OWN:
        allowed = allowed | {(2, 3, 1), (10, 2, 0), (2, 1 | 0o2004000, 6)}
    assert met == allowed
    assert set(answers.values()) - {ALLOW} <= {EPERM, NO_FAMILY}


def test_the_program_is_one_the_kernel_takes(machine: str) -> None:
    for net in Net:
        program = seccomp.program(machine, net)
        assert len(program) % 8 == 0
        assert len(program) // 8 < LONGEST


def test_an_unknown_machine_is_told() -> None:
    with pytest.raises(Broken, match="riscv64"):
        seccomp.program("riscv64")
