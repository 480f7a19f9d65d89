"""All cheats beside honest work, a line each; ends with `N cheats, N caught; M honest, M passed`.

usage: python -m tests.cheats [--only WORD]
"""

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from midwatch.terms.trust import Isolation
from midwatch.workshop.sandbox.isolation import found
from tests.cheats.cheats import CHEATS
from tests.cheats.honest import HONEST
from tests.cheats.shapes import SHAPE_CHEATS, SHAPE_HONEST
from tests.cheats.stand import Outcome, play

CASES = (*CHEATS, *SHAPE_CHEATS, *HONEST, *SHAPE_HONEST)
WORKERS = 2


def try_one(place: int) -> Outcome:
    """Play one case in a folder of its own; what breaks down is said of it."""
    case = CASES[place]
    with tempfile.TemporaryDirectory(prefix="midwatch-cheats-") as folder:
        try:
            return asyncio.run(play(case, Path(folder)))
        except Exception as error:  # noqa: BLE001 - one that breaks down must not hide the others
            return Outcome(case, f"it broke down: {type(error).__name__}: {error}", 0.0)


def say(outcome: Outcome) -> None:
    """Print one line, and below it what went wrong."""
    case = outcome.case
    good, bad = ("caught", "ESCAPED") if case.cheats else ("passed", "ACCUSED")
    print(f"{bad if outcome.problem else good:8}{outcome.seconds:5.1f} s  {case.name}", flush=True)
    if outcome.problem:
        print(f"        {outcome.problem}", flush=True)


def chosen(word: str) -> list[int]:
    """Tell the places of the cases with a word in their name."""
    return [place for place, case in enumerate(CASES) if word in case.name]


def count(outcomes: Sequence[Outcome]) -> str:
    """Say the sum in one line."""
    cheats = [one for one in outcomes if one.case.cheats]
    honest = [one for one in outcomes if not one.case.cheats]
    caught = sum(not one.problem for one in cheats)
    passed = sum(not one.problem for one in honest)
    return f"{len(cheats)} cheats, {caught} caught; {len(honest)} honest, {passed} passed"


def main(words: Sequence[str]) -> int:
    """Try what was asked for, and end with the count."""
    parser = argparse.ArgumentParser(prog="make cheats", description="Try cheating and honest agents.")
    parser.add_argument("--only", metavar="WORD", default="", help="only those with this in their name")
    options = parser.parse_args(words)
    if found().isolation is not Isolation.BUBBLEWRAP:
        print(f"midwatch: there are no walls to put agents in. {found().why}", file=sys.stderr)
        return 1
    outcomes = []
    with ProcessPoolExecutor(WORKERS) as pool:
        for outcome in pool.map(try_one, chosen(options.only)):
            say(outcome)
            outcomes.append(outcome)
    print(count(outcomes))
    return 1 if not outcomes or any(one.problem for one in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
