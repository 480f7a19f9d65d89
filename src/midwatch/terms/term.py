"""What every noun of the house has in common: frozen, and strict about its fields."""

from pydantic import BaseModel, ConfigDict


class Term(BaseModel):
    """A value that never changes and never carries a field nobody declared."""

    model_config = ConfigDict(frozen=True, extra="forbid")
