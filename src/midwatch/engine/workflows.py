"""The only workflow: run one short piece of work, given by its journal entry."""

from collections.abc import Awaitable, Callable

from dbos import DBOS
from pydantic import JsonValue

Args = dict[str, JsonValue]
Perform = Callable[[str, Args, int], Awaitable[None]]

WORKFLOW = "midwatch_work"
_here: dict[str, Perform] = {}


def set_performer(perform: Perform) -> None:
    """Set the function that runs the work in this process."""
    _here["perform"] = perform


@DBOS.workflow(name=WORKFLOW, max_recovery_attempts=None)
async def carry_out(name: str, args: Args, seq: int) -> dict[str, JsonValue]:
    """Carry out the work that entry `seq` asked for. No engine steps: the journal remembers what was done."""
    await _here["perform"](name, args, seq)
    return {"done": name}
