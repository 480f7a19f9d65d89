"""A person's shells in a job's checkout, and the program a person types into: what the command line attaches to."""

from midwatch.workshop.holding.ending import Ending
from midwatch.workshop.holding.held import HeldProgram
from midwatch.workshop.rooms.shells import (
    Visit,
    branch_of,
    enter,
    interactive_program,
    living,
    refuse_while_entered,
    since,
    usual,
)

__all__ = [
    "Ending",
    "HeldProgram",
    "Visit",
    "branch_of",
    "enter",
    "interactive_program",
    "living",
    "refuse_while_entered",
    "since",
    "usual",
]
