"""Clocks: the system's, and a faster one for demo nights."""

import json
from datetime import UTC, datetime
from pathlib import Path


class SystemClock:
    """The wall clock, in UTC."""

    def now(self) -> datetime:
        return datetime.now(UTC)  # noqa: TID251  the one place that may

    def real_seconds(self, house_seconds: float) -> float:
        return house_seconds


class ScaledClock:
    """A clock that runs `scale` times as fast as the wall, from an anchor kept on disk so that restarts agree."""

    def __init__(self, anchor: datetime, house_start: datetime, scale: float) -> None:
        self._anchor = anchor
        self._house_start = house_start
        self._scale = scale
        self._wall = SystemClock()

    @classmethod
    def kept(cls, file: Path, *, scale: float) -> "ScaledClock":
        """Start a faster clock now, or continue the one this folder already has."""
        if not file.exists():
            now = SystemClock().now().isoformat()
            draft = file.with_name(f"{file.name}.part")  # whole or not at all: half a file would stop every later start
            draft.write_text(json.dumps({"anchor": now, "house_start": now, "scale": scale}))
            draft.replace(file)
        kept = json.loads(file.read_text())
        return cls(
            datetime.fromisoformat(kept["anchor"]), datetime.fromisoformat(kept["house_start"]), float(kept["scale"])
        )

    def now(self) -> datetime:
        return self._house_start + (self._wall.now() - self._anchor) * self._scale

    def real_seconds(self, house_seconds: float) -> float:
        return house_seconds / self._scale
