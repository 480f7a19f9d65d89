"""Stacks: begun, made, merged or posted elsewhere, undone."""

import sqlalchemy as sa

from midwatch.journal.entry import Entry
from midwatch.journal.events import stack as ev
from midwatch.store.projectors.rows import change, clear_timer, insert, next_number, on, set_timer
from midwatch.store.schema.tables import pull_requests, stacks
from midwatch.terms.stack import StackState


def _timer(stack: str) -> str:
    return f"stack:{stack}"


@on(ev.StackBegun)
def stack_begun(c: sa.Connection, entry: Entry, event: ev.StackBegun) -> None:
    """A timer ends it, even if its maker dies."""
    fields = event.model_dump(exclude={"kind", "stack"})
    insert(
        c,
        stacks,
        **fields,
        id=event.stack,
        number=next_number(c, stacks),
        state=StackState.MAKING,
        base="",
        tip="",
        order=(),
        left_out=(),
        checks=(),
        check_runs=0,
        why="",
        settled_by="",
        undo=(),
        created_at=entry.at,
    )
    set_timer(c, _timer(event.stack), "stack", event.stack, event.due_at)


@on(ev.StackMade)
def stack_made(c: sa.Connection, entry: Entry, event: ev.StackMade) -> None:
    """Once: a later result, or one after the time-out, is refused."""
    fields = event.model_dump(mode="json", exclude={"kind", "stack", "session", "project"})
    where = {"id": event.stack, "state": StackState.MAKING}
    change(c, stacks, where, **fields, state=StackState.MADE, made_at=entry.at)
    clear_timer(c, _timer(event.stack))


@on(ev.StackMerged)
def stack_merged(c: sa.Connection, entry: Entry, event: ev.StackMerged) -> None:
    """A person's act; the pull requests in it are recorded beside it, each by its own entry."""
    change(
        c,
        stacks,
        {"id": event.stack, "state": StackState.MADE},
        state=StackState.MERGED,
        settled_by=event.by,
        undo=event.undo,
        settled_at=entry.at,
    )


@on(ev.StackCommented)
def stack_commented(c: sa.Connection, entry: Entry, event: ev.StackCommented) -> None:
    """A person's act; what follows from it happens elsewhere."""
    where = {"id": event.stack, "state": StackState.MADE}
    change(c, stacks, where, state=StackState.COMMENTED, settled_by=event.by, settled_at=entry.at)


@on(ev.StackUndone)
def stack_undone(c: sa.Connection, _: Entry, event: ev.StackUndone) -> None:
    """The order is offered again, and so is every pull request in it."""
    where = {"id": event.stack, "state": StackState.MERGED}
    change(c, stacks, where, state=StackState.MADE, settled_by="", undo=(), settled_at=None)
    for name in event.pull_requests:
        gone = {"id": name, "state": "merged"}
        change(c, pull_requests, gone, state="open", merged_sha="", undo=(), closed_at=None)
