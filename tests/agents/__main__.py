"""The whole matrix as a program: a line per agent and case.

usage: python -m tests.agents [--only WORD ...] [--json] [--list]

`--only claude` takes one agent, `--only cut` every case with that word in its name, `--only claude:plan` both.
"""

import argparse
import asyncio
import json
import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from pathlib import Path

from tests.agents.cases import Case, find
from tests.agents.sealed import SealingFailed, sealed_network
from tools.agents import AGENTS, program

MOST_SECONDS = 90


def main(words: Sequence[str]) -> int:
    """Run what was asked for, and end with the count."""
    parser = argparse.ArgumentParser(prog="make agents", description="Run real agents against a scripted model.")
    parser.add_argument(
        "--only", action="append", default=[], metavar="WORD", help="an agent, a word of a case, or A:W"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object per line")
    parser.add_argument("--list", action="store_true", help="say what there is, and run nothing")
    options = parser.parse_args(words)
    chosen = [one for one in find() if not options.only or any(fits(one, word) for word in options.only)]
    if options.list:
        print("\n".join(f"{one.agent}: {one.name}" for one in chosen))
        return 0
    counts = {"passed": 0, "failed": 0}
    for one in chosen:
        began = time.monotonic()
        problem = run(one)
        counts["failed" if problem else "passed"] += 1
        say(one, problem, time.monotonic() - began, as_json=options.json)
    print(json.dumps(counts) if options.json else f"{counts['passed']} passed, {counts['failed']} failed")
    return 1 if counts["failed"] or not counts["passed"] else 0


def fits(one: Case, word: str) -> bool:
    """Say whether a case was asked for."""
    agent, colon, name = word.partition(":")
    if colon:
        return one.agent == agent and name in one.name
    return word in (one.agent, one.name) or word in one.name


def run(one: Case) -> str:
    """Play one case, and say what went wrong."""
    installed = {agent.name for agent in AGENTS}
    if one.agent in installed and not program(one.agent).exists():
        return f"{one.agent} is not at {program(one.agent)}; `python3 tools/agents.py` brings it."
    try:
        with sealed_network() as sealed, tempfile.TemporaryDirectory(prefix="midwatch-agents-") as folder:
            asyncio.run(asyncio.wait_for(one.run(Path(folder), sealed), MOST_SECONDS))
    except SealingFailed as problem:
        return f"No sealed network can be had: {problem}"
    except Exception:  # noqa: BLE001 - the matrix goes on, and says what it was
        return traceback.format_exc()
    return ""


def say(one: Case, problem: str, seconds: float, *, as_json: bool) -> None:
    """Print one line, and below it what went wrong."""
    verdict = "failed" if problem else "passed"
    if as_json:
        told = {"agent": one.agent, "case": one.name, "verdict": verdict, "seconds": round(seconds, 2)}
        print(json.dumps(told | ({"problem": problem} if problem else {})), flush=True)
        return
    print(f"{verdict:7} {one.agent:9} {one.name:50} {seconds:5.1f} s", flush=True)
    if problem:
        print("        " + "\n        ".join(problem.strip().splitlines()), flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
