"""The base of every term: frozen, and strict about its fields."""

from pydantic import BaseModel, ConfigDict


class Term(BaseModel):
    """A value that never changes and refuses undeclared fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")
