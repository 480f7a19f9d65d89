"""Which lists of tools bind a job: those that a person wrote, and without walls the settings' own."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from midwatch.errors import Misuse

_ENTRY: Final = re.compile(r"[A-Za-z][\w.:-]{0,99}(?:\([^\n]{1,200}\))?")


@dataclass(frozen=True, slots=True)
class ToolLists:
    """The lists there are, from the widest to the narrowest."""

    settings: tuple[str, ...]
    chosen: bool = False
    """Whether a person set the settings' list; the one that comes with Midwatch does not bind inside walls."""
    project: tuple[str, ...] = ()
    work: tuple[str, ...] = ()
    always: tuple[str, ...] = ()
    """What a person always allows in this project; it counts as named by each list."""

    @property
    def written(self) -> tuple[tuple[str, ...], ...]:
        """The lists that a person wrote: a call must be on each of them."""
        own = ((self.settings,) if self.chosen else ()) + tuple(one for one in (self.project, self.work) if one)
        return tuple((*one, *self.always) for one in own)

    @property
    def without_walls(self) -> tuple[str, ...]:
        """The list that binds where walls are weak: what a person wrote, else the one that comes with Midwatch."""
        return self.written[0] if self.written else (*self.settings, *self.always)

    def told(self, *, walled: bool) -> tuple[str, ...]:
        """What an agent's prompt says that it may use; nothing where everything runs."""
        if self.written:
            return self.written[-1]
        return () if walled else self.without_walls


def require_tools(tools: Iterable[str]) -> None:
    """Refuse what is no entry of a list of tools when a person writes it."""
    for tool in tools:
        if not _ENTRY.fullmatch(tool):
            raise Misuse(f"{tool!r} is not a tool.", hint="Write it as Read, Edit(src/**) or Bash(npm run *).")
