"""Gives a stack up when whoever makes it broke, or is gone: the brief must not wait for ever."""

from midwatch.errors import Stale
from midwatch.journal.events.stack import StackMade
from midwatch.night.context import Night
from midwatch.terms.records import StackRow
from midwatch.terms.stack import StackState, StackVerdict


async def give_up(night: Night, stack_id: str, why: str) -> None:
    """Write down that a stack could not be made; one that was made meanwhile stays."""
    row = await night.records.get(StackRow, stack_id)
    if row.state is not StackState.MAKING:
        return
    made = StackMade(stack=row.id, session=row.session, project=row.project, verdict=StackVerdict.FAILED, why=why)
    try:
        await night.journal.record(made, key=f"stack:{row.id}:made")
    except Stale:
        return  # it was made in the same moment
