"""The housekeeper's output: lines of JSON for progress, and one result file."""

import json
import os
import sys
import tempfile
from pathlib import Path

from midwatch.crew.housekeeper.answers import HousekeeperDone, HousekeeperPlan, written


def say(text: str) -> None:
    _speak("message", text)


def mark(text: str) -> None:
    """Report an event worth recording."""
    _speak("milestone", text)


def _speak(kind: str, text: str) -> None:
    sys.stdout.write(json.dumps({"type": kind, "text": text}) + "\n")
    sys.stdout.flush()


def hand_over(result: HousekeeperPlan | HousekeeperDone, out: Path) -> None:
    """Write the result so that a reader sees all of it or nothing."""
    out.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=out.parent, prefix=f".{out.name}.")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(written(result))
        file.flush()
        os.fsync(file.fileno())
    Path(name).replace(out)


def count(number: int, noun: str, plural: str = "") -> str:
    """Write a number with its noun in singular or plural."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def listed(parts: list[str]) -> str:
    """Join phrases as in a sentence."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
