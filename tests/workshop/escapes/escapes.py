"""All escapes in one list, so that they can be run and counted without pytest."""

from tests.workshop.escapes.exports import EXPORT_ESCAPES
from tests.workshop.escapes.lab import Escape, Lab
from tests.workshop.escapes.traps import GIT_ESCAPES

__all__ = ["ESCAPES", "Escape", "Lab"]

ESCAPES: tuple[Escape, ...] = (*GIT_ESCAPES, *EXPORT_ESCAPES)
"""Each is run in a lab of its own: `escape.run(Lab(folder, isolation))` tells whether it succeeded."""
