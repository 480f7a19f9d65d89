"""The night's orders as a person writes and signs them (`orders.toml`)."""

from datetime import datetime, time
from typing import Any, Final

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from midwatch.terms.term import Term, without_unset
from midwatch.terms.trust import Level


class OrderedPart(Term):
    """The settings of one of several repositories, where they differ from the rest."""

    project: str
    checks: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    done_when: tuple[str, ...] = ()

    @model_serializer(mode="wrap")
    def _as_signed(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out an empty list: orders signed before the field existed keep their hash."""
        return without_unset(dump(self), ("done_when",))


class OrderedWork(Term):
    """One piece of work for tonight, in one repository or in several that belong together (X16)."""

    project: str = ""
    projects: tuple[str, ...] = ()
    title: str
    checks: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    agent: str = "housekeeper"
    parts: tuple[OrderedPart, ...] = ()
    usd: float | None = Field(default=None, ge=0, le=1_000_000, allow_inf_nan=False)
    """A separate ceiling for each job; the night's limits apply as well."""
    minutes: int | None = Field(default=None, gt=0, le=100_000)
    tools: tuple[str, ...] = ()
    """The only tools its jobs may use; empty leaves it to the project and the settings."""
    done_when: tuple[str, ...] = ()
    """Commands that pass once it is done: until then nothing counts as done, nor as not needed."""

    @model_serializer(mode="wrap")
    def _as_signed(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out fields that were not set: orders signed before the field existed keep their hash."""
        return without_unset(dump(self), ("projects", "parts", "usd", "minutes", "tools", "done_when"), keep_zero=True)

    @property
    def fault(self) -> str:
        """Say what is wrong with the named projects; empty if nothing is."""
        named = [one.project for one in self.parts]
        if bool(self.project) == bool(self.projects):
            return "name either 'project' or 'projects'"
        if len(set(self.projects)) != len(self.projects):
            return "a project is named twice"
        if set(named) - set(self.projects) or len(set(named)) != len(named):
            return "each of 'parts' is for one of 'projects', once"
        return ""

    @property
    def where(self) -> tuple[str, ...]:
        return self.projects or (self.project,)

    def pieces(self) -> "tuple[OrderedWork, ...]":
        """Split it by project, each part with the settings that apply there."""
        if not self.projects:
            return (self,)
        own = {one.project: one for one in self.parts}
        return tuple(
            self.model_copy(
                update={
                    "project": name,
                    "projects": (),
                    "parts": (),
                    "checks": own[name].checks if name in own else self.checks,
                    "paths": own[name].paths if name in own else self.paths,
                    "done_when": own[name].done_when if name in own else self.done_when,
                }
            )
            for name in self.projects
        )


class Limits(Term):
    """Ceilings for the whole session."""

    usd: float = Field(default=50, ge=0, le=1_000_000, allow_inf_nan=False)
    tokens: int = Field(default=20_000_000, ge=0, le=10**12)
    minutes: int = Field(default=600, gt=0, le=100_000)
    rounds: int = Field(default=500, gt=0, le=1_000_000)
    leave_percent: int = Field(default=0, ge=0, le=100)
    """The share of every provider limit that is reserved for the person."""
    leave_at: time | None = None
    """When that share must be left, on the person's clock; all night when empty."""

    @model_serializer(mode="wrap")
    def _as_signed(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out an unset reserve: orders signed before the field existed keep their hash."""
        return without_unset(dump(self), ("leave_percent", "leave_at"))


class Permissions(Term):
    """What the person allows beyond reading."""

    tools: tuple[str, ...] = ("repo_read", "repo_write_pr")
    domains: tuple[str, ...] = ()
    external: tuple[str, ...] = ("pull_request",)
    silence_approves: bool = False
    """Silence is consent only where a person wrote so."""


LINES: Final = (
    "level",
    *(f"limits.{name}" for name in ("usd", "tokens", "minutes", "rounds")),
    *(f"permissions.{name}" for name in ("tools", "domains", "external", "silence_approves")),
)
"""The lines of a sheet that have a default."""


class Orders(Term):
    """The confirmed briefing snapshot: goals, work, limits, permissions, level."""

    level: Level = Level.CAUTIOUS
    goals: tuple[str, ...] = ()
    success_criteria: tuple[str, ...] = ()
    notes: str = ""
    work: tuple[OrderedWork, ...] = ()
    limits: Limits = Limits()
    permissions: Permissions = Permissions()
    do_not_touch: tuple[str, ...] = ()
    until: datetime | None = None
    unsaid: tuple[str, ...] = ()
    """The lines that no person wrote: their defaults were filled in before signing, and the sheet says so."""

    @model_serializer(mode="wrap")
    def _as_signed(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out an empty list: orders signed before the field existed keep their hash."""
        return {name: value for name, value in dump(self).items() if name != "unsaid" or value}

    def left_unsaid(self) -> tuple[str, ...]:
        """Name the lines that have a default and that no person wrote."""
        said = {name for name in self.model_fields_set if name == "level"}
        said |= {f"limits.{name}" for name in self.limits.model_fields_set if "limits" in self.model_fields_set}
        permitted = self.permissions.model_fields_set if "permissions" in self.model_fields_set else ()
        said |= {f"permissions.{name}" for name in permitted}
        return tuple(one for one in LINES if one not in said or one in self.unsaid)

    def pieces(self) -> tuple[OrderedWork, ...]:
        """Split the work by project, in the order of the night's items."""
        return tuple(piece for work in self.work for piece in work.pieces())

    def groups(self) -> tuple[int, ...]:
        """Map each part to the index of the ordered work it belongs to."""
        return tuple(place for place, work in enumerate(self.work) for _ in work.pieces())
