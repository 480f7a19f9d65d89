"""What the workshop is asked to prove, whoever asks."""

import asyncio
from datetime import timedelta
from typing import Protocol

from midwatch.terms.jobs import Proof
from midwatch.workshop.rooms.workplace import Spot


class Question(Protocol):
    """What is to be proven."""

    @property
    def place(self) -> Spot: ...  # noqa: D102
    @property
    def base(self) -> str: ...  # noqa: D102
    @property
    def head(self) -> str: ...  # noqa: D102
    @property
    def checks(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def project_checks(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def finds_checks(self) -> bool: ...  # noqa: D102
    @property
    def reruns(self) -> int: ...  # noqa: D102
    @property
    def claims(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def wall(self) -> timedelta: ...  # noqa: D102
    @property
    def paths(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def setup_key(self) -> str: ...  # noqa: D102
    @property
    def earlier(self) -> Proof | None: ...  # noqa: D102
    @property
    def stop(self) -> asyncio.Event: ...  # noqa: D102
