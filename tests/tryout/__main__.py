"""Real agents on real source trees, for one night at cautious: a line per pair, and what a person saw of it.

usage: python -m tests.tryout [--only AGENT ...] [--tree NAME ...] [--keep FOLDER] [--no-preflight] [--list]
"""

import argparse
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from midwatch.terms.trust import Isolation
from midwatch.workshop.sandbox.isolation import found
from tests.tryout.outcomes import Outcome, count, outcomes, person_saw, said
from tests.tryout.sources import CannotFetch, repository
from tests.tryout.stand import Pair, Stand, StandFailed, orders, stand, wait_for_morning
from tests.tryout.trees import TREES
from tools.agents import AGENTS, program

MOST_MINUTES = 120


def main(words: Sequence[str]) -> int:
    """Try what was asked for, and end with the count."""
    parser = argparse.ArgumentParser(prog="make tryout", description="Let real agents work on real source trees.")
    parser.add_argument("--only", action="append", default=[], metavar="AGENT", help="claude, codex or opencode")
    parser.add_argument("--tree", action="append", default=[], metavar="NAME", help="only this source tree")
    parser.add_argument("--keep", metavar="FOLDER", help="work in this new folder, and keep it")
    parser.add_argument("--no-preflight", action="store_true", help="sign at once; setups then run beside each other")
    parser.add_argument("--list", action="store_true", help="say which pairs there are, and run nothing")
    options = parser.parse_args(words)
    pairs = chosen(options.only, options.tree)
    if options.list:
        print("\n".join(f"{pair.agent} {pair.tree.name}" for pair in pairs))
        return 0
    if not pairs:
        print("midwatch: no pair has that agent and that tree; see --list.", file=sys.stderr)
        return 2
    if found().isolation is not Isolation.BUBBLEWRAP:
        print(f"midwatch: there are no walls to put agents in. {found().why}", file=sys.stderr)
        return 1
    return tried(pairs, options.keep, preflight=not options.no_preflight)


def chosen(agents: Sequence[str], trees: Sequence[str]) -> list[Pair]:
    """Give the pairs that were asked for, agent by agent."""
    return [
        Pair(agent.name, tree)
        for agent in AGENTS
        for tree in TREES
        if (not agents or agent.name in agents) and (not trees or tree.name in trees)
    ]


def tried(pairs: Sequence[Pair], keep: str | None, *, preflight: bool) -> int:
    """Play the night in a folder of its own, and say what became of each pair."""
    folder = Path(keep) if keep else Path(tempfile.mkdtemp(prefix="midwatch-tryout-"))
    folder.mkdir(parents=True, exist_ok=True)
    try:
        fit, unfit = sorted_out(pairs)
        results = [*unfit, *(night(folder, fit, preflight=preflight) if fit else ())]
        print(count(results), flush=True)
        return 0 if all(one.delivered for one in results) else 1
    except StandFailed as problem:
        print(f"midwatch: {problem}", file=sys.stderr)
        return 1
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)


def sorted_out(pairs: Sequence[Pair]) -> tuple[list[Pair], list[Outcome]]:
    """Say at once which pairs cannot be tried here."""
    fit, unfit = [], []
    for pair in pairs:
        missing = ""
        if not program(pair.agent).exists():
            missing = f"{pair.agent} is not here: python3 tools/agents.py"
        elif pair.tree.toolchain and not shutil.which(pair.tree.toolchain):
            missing = f"{pair.tree.toolchain} is not installed here"
        if missing:
            unfit.append(Outcome(pair, why=f"not tried: {missing}"))
            print(said(unfit[-1]), flush=True)
        else:
            fit.append(pair)
    return fit, unfit


def night(folder: Path, pairs: Sequence[Pair], *, preflight: bool) -> list[Outcome]:
    """Set everything up through the command line, sign, wait for the morning, and read what became of it."""
    print(f"midwatch: {len(pairs)} jobs in {folder}", flush=True)
    with stand(folder, pairs) as one:
        add_projects(one, pairs)
        (folder / "orders.toml").write_text(orders(pairs))
        one.midwatch("brief", "--file", "orders.toml", log="sheet.txt")
        one.midwatch("start", *(() if preflight else ("--no-preflight",)), log="start.txt")
        wait_for_morning(one, MOST_MINUTES)
        results = outcomes(one, pairs)
        for result in results:
            print(said(result), flush=True)
        print(person_saw(one, pairs, results), flush=True)
    return results


def add_projects(one: Stand, pairs: Sequence[Pair]) -> None:
    """Register each pair's own repository, as its developer would."""
    for pair in pairs:
        try:
            place = repository(pair.tree, one.folder / "code" / pair.project)
        except CannotFetch as problem:
            raise StandFailed(f"{pair.tree.name}: {problem}") from problem
        checks = [word for check in pair.tree.checks for word in ("--check", check)]
        setup = ["--setup", pair.tree.setup] if pair.tree.setup else []
        one.midwatch("project", "add", str(place), "--name", pair.project, *checks, *setup)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
