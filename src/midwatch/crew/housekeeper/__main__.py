"""The housekeeper's own command line: plan, execute, repair."""

import argparse
import sys
from pathlib import Path

from midwatch.crew.housekeeper.answers import HousekeeperDone, HousekeeperPlan, hand_over, planned_files
from midwatch.crew.housekeeper.bounds.commission import Commission
from midwatch.crew.housekeeper.bounds.earlier import EarlierWork, read_work
from midwatch.crew.housekeeper.bounds.mandate import read_mandate
from midwatch.crew.housekeeper.bounds.scope import PathScope
from midwatch.crew.housekeeper.checks import PULSE
from midwatch.crew.housekeeper.executing import Proving, execute
from midwatch.crew.housekeeper.git import Checkout
from midwatch.crew.housekeeper.limits import ChangeLimits
from midwatch.crew.housekeeper.planning import plan
from midwatch.crew.housekeeper.repairing import repair
from midwatch.errors import Broken, MidwatchError, Misuse

PATIENCE = 600.0


def main(arguments: list[str] | None = None) -> int:
    """Run the command; print one clear sentence if that is impossible."""
    asked = _parser().parse_args(arguments)
    try:
        hand_over(_answer(asked), asked.out)
    except MidwatchError as wrong:
        sys.stderr.write(f"{wrong.message} {wrong.hint}".strip() + "\n")
        return wrong.exit_code
    except OSError as wrong:
        sys.stderr.write(f"The housekeeper could not read or write what it needed: {wrong}.\n")
        return Broken.exit_code
    return 0


def _answer(asked: argparse.Namespace) -> HousekeeperPlan | HousekeeperDone:
    checkout = _checkout(asked.checkout)
    paths = PathScope(paths=tuple(asked.path), avoid=tuple(asked.avoid))
    commission = Commission(paths, read_mandate(asked.order), tuple(asked.earlier))
    proving = Proving(commands=tuple(asked.check), seconds=asked.check_seconds, pulse=asked.pulse_seconds)
    limits = ChangeLimits(files=asked.most_files, lines=asked.most_lines)
    if asked.verb == "plan":
        return plan(checkout, commission, proving.commands, limits)
    if asked.verb == "execute":
        return execute(checkout, commission, proving, _approved(asked.plan), limits)
    return repair(checkout, commission, proving, asked.base, _failure(asked.failure), limits)


def _checkout(place: Path) -> Checkout:
    checkout = Checkout(place.resolve())
    if not place.is_dir() or checkout.ask("rev-parse", "--show-toplevel").stdout.strip() != str(checkout.root):
        raise Broken(f"{place} is not the top of a git checkout.", hint="Name the root of a private clone.")
    return checkout


def _approved(place: Path) -> frozenset[str]:
    """Return the files of the approved plan: nothing else may change."""
    try:
        return planned_files(place.read_text(encoding="utf-8"))
    except (OSError, ValueError) as wrong:
        reason = wrong.strerror if isinstance(wrong, OSError) else "it is not a plan"
        raise Misuse(f"{place} cannot be used: {reason}.", hint="Pass the file that `plan` wrote.") from wrong


def _failure(place: Path | None) -> str:
    if place is None:
        return ""
    try:
        return place.read_text(encoding="utf-8", errors="replace")
    except OSError as wrong:
        raise Misuse(f"{place} cannot be read: {wrong.strerror}.", hint="Name the failing check's output.") from wrong


def _limit(text: str) -> int:
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError(f"{text} is below zero; 0 is no limit")
    return number


def _earlier(text: str) -> EarlierWork:
    try:
        return read_work(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not open or rejected, a number and two commits") from None


def _parser() -> argparse.ArgumentParser:
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("--checkout", type=Path, required=True, help="root of a private git checkout")
    shared.add_argument("--out", type=Path, required=True, help="where the result goes")
    shared.add_argument("--check", action="append", default=[], metavar="CMD", help="a command that should pass")
    shared.add_argument("--path", action="append", default=[], metavar="GLOB", help="only these paths")
    shared.add_argument("--avoid", action="append", default=[], metavar="GLOB", help="never these paths")
    shared.add_argument("--order", default="", metavar="WORDS", help="the order; empty: every kind of work")
    shared.add_argument(
        "--earlier",
        action="append",
        default=[],
        type=_earlier,
        metavar="STATE:N:BASE:HEAD",
        help="an open or rejected pull request of the housekeeper",
    )
    shared.add_argument("--check-seconds", type=float, default=PATIENCE, help="how long one check may take")
    shared.add_argument("--pulse-seconds", type=float, default=PULSE, help="how often to say that a check still runs")
    shared.add_argument("--most-files", type=_limit, default=0, metavar="N", help="change no more files; 0: no limit")
    shared.add_argument("--most-lines", type=_limit, default=0, metavar="N", help="change no more lines; 0: no limit")
    parser = argparse.ArgumentParser(prog="midwatch-housekeeper", description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("plan", parents=[shared], help="say what would be done")
    doing = verbs.add_parser("execute", parents=[shared], help="do it")
    doing.add_argument("--plan", type=Path, required=True, help="the approved plan")
    fixing = verbs.add_parser("repair", parents=[shared], help="take back what made checks worse")
    fixing.add_argument("--base", required=True, help="the commit the work started from")
    fixing.add_argument("--failure", type=Path, help="output of the failing check")
    fixing.add_argument("--plan", type=Path, help="the approved plan; unused, because repair only takes back")
    return parser


if __name__ == "__main__":
    sys.exit(main())
