"""What a person's own command allows, in one line."""

from collections.abc import Sequence

from midwatch.terms.contract import RunContract
from midwatch.terms.money import dollars
from midwatch.terms.trust import Level
from midwatch.views.text.plain import clean, counted, listed


def allows(contract: RunContract, projects: Sequence[str], level: Level, *, by_hand: bool = False) -> str:
    """Say what the person who typed the command has allowed."""
    paths = tuple(dict.fromkeys(path for part in contract.parts or (contract,) for path in part.paths))
    inside = f", inside {listed(paths, 5)}" if paths else ""
    bounds = contract.constraints
    most = f"{dollars(bounds.max_usd_micros)} and {counted(bounds.max_runtime_minutes, 'minute')}"
    jobs = " in all" if contract.parts else ""
    plan = "you type, so there is no plan" if by_hand else _plan(contract, level)
    named = listed(tuple(clean(name, 63) for name in projects), 5)
    return (
        f"This lets {clean(contract.agent, 63)} change files in {named}{inside}, spend at most {most}{jobs}, "
        f"and deliver its work on its own branch with a pull request; {plan}. Nothing is merged."
    )


def _plan(contract: RunContract, level: Level) -> str:
    if level is Level.FULL:
        return "a plan that stays inside is not asked about"
    silent = "; silence approves it" if contract.silence_approves and level is not Level.OBSERVE else ""
    return f"you are shown its plan first{silent}"
