"""Words about people: who may enter, and what a role or a token lets them do."""

from enum import StrEnum
from typing import Final


class Scope(StrEnum):
    """One kind of thing a caller may do; a token carries some of its person's."""

    READ = "read"
    ANSWER = "answer"
    """Answer asks, say something to the night, give the morning's verdicts."""
    OPERATE = "operate"
    """Put projects, work and orders down; start, pause, stop; merge."""
    GOVERN = "govern"
    """People, tokens, settings, the level."""


class Role(StrEnum):
    """What a person is in this house, from least to most."""

    VIEWER = "viewer"
    APPROVER = "approver"
    OPERATOR = "operator"
    OWNER = "owner"

    @property
    def scopes(self) -> frozenset[Scope]:
        """Tell what this role may do: each may do all that the ones before it may."""
        return frozenset(list(Scope)[: list(Role).index(self) + 1])


LOWEST_ROLE: Final[dict[Scope, Role]] = {scope: next(role for role in Role if scope in role.scopes) for scope in Scope}
"""Who at least one must be."""
