"""Entries about connections, setup, leftovers and checkouts in words."""

from typing import assert_never

from midwatch.journal.events.workshop import (
    CheckoutRemoved,
    ConnectionSeen,
    ProcessOrphaned,
    SetupFinished,
    WorkshopEvent,
)
from midwatch.views.text.names import Names
from midwatch.views.text.plain import clean

MIB = 1024**2


def told(event: WorkshopEvent, names: Names) -> str:
    """Describe what happened around a job."""
    called = names.of(event.job, "the job")
    name = called[0].upper() + called[1:]
    match event:
        case ConnectionSeen():
            return f"{name} {_reached(event)}"
        case SetupFinished(reused=True):
            return f"{name} reuses the setup of {names.project(event.project)}."
        case SetupFinished():
            return f"{name} had {names.project(event.project)} set up in {event.seconds:.0f} s: {clean(event.command)}"
        case ProcessOrphaned():
            end = "It was ended." if event.ended else "It could not be ended; look at the machine."
            return f"A process of {called} was still running: {clean(event.why)} {end}"
        case CheckoutRemoved():
            return f"The checkouts of {called} were removed, {_size(event.freed_bytes)} freed: {clean(event.why)}"
    assert_never(event)


def _reached(event: ConnectionSeen) -> str:
    place = f"{clean(event.host) or 'nowhere'}:{event.port}"
    match event.verdict:
        case "allowed":
            return f"reached {place} ({_size(event.bytes_out)} out, {_size(event.bytes_in)} in)."
        case "refused":
            return f"was refused {place}: {clean(event.why)}"
        case "cut":
            return f"was cut off from {place}: {clean(event.why)}"
        case "failed":
            return f"could not reach {place}: {clean(event.why)}"
    assert_never(event.verdict)


def _size(count: int) -> str:
    if count >= MIB:
        return f"{count / MIB:.1f} MiB"
    return f"{count / 1024:.0f} KiB" if count >= 1024 else f"{count} bytes"
