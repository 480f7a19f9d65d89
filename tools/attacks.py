"""Run every attack on walls, door, budget, quarantine, clean-up and server, and every need of honest work; count.

usage: python -m tools.attacks [--json] [--only NAME]

As root, all but the server once more as an ordinary user, and each attack also where no walls stand: one that cannot
succeed there proves nothing by failing. Ends with 1 if an attack succeeded, a need was unmet, or something could not be
tried.
"""

import argparse
import asyncio
import json
import os
import pwd
import subprocess
import sys
import tempfile
import threading
import xml.etree.ElementTree as Xml
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from midwatch.terms.trust import Isolation
from midwatch.workshop.sandbox.walls.probe import probe
from tests.gateway.metering.money_attacks import HONEST, SPENDING, prepare, tried
from tests.workshop.escapes.escapes import ESCAPES
from tests.workshop.escapes.lab import Escape
from tests.workshop.escapes.lab import Lab as Host
from tests.workshop.escapes.litter import LITTER, left_by
from tests.workshop.walls.attacks import ATTACKS, NEEDS, WORK_OUTSIDE
from tests.workshop.walls.lab import IDENTITIES, Lab, open_lab
from tests.workshop.walls.reaching import REACHABLE, REACHING, reach
from tests.workshop.walls.throw_away import IN_THE_MACHINE, NOT_EVERYWHERE, attack
from tools.ordinary import ROOT, as_ordinary_user

WORDS = {
    "attack": ("blocked", "SUCCEEDED"),
    "need": ("met", "UNMET"),
    "proof": ("works without walls", "PROVES NOTHING"),
}
SAID = 300
AS_TESTS = (
    *("tests/surfaces/test_odd_clients.py", "tests/surfaces/test_owner_token.py", "tests/surfaces/test_next_start.py"),
    *("tests/surfaces/test_once.py", "tests/workshop/test_strangers_repository.py", "tests/rules/test_law_fuzz.py"),
)
"""Attacks that are written as tests: on the server, on roles and settings, by a stranger's repository, on the law."""


@dataclass(frozen=True)
class Outcome:
    """What came of one attack, one need, or one look at whether an attack can succeed at all."""

    kind: str
    name: str
    who: str
    good: bool
    said: str = ""

    def line(self) -> str:
        """Say it in one line, and why only where it is bad or odd."""
        why = f"  ({' '.join(self.said.split())[-SAID:]})" if self.said else ""
        return f"{self.kind:<7} {self.who:<7} {WORDS[self.kind][not self.good]:<20} {self.name}{why}"


@dataclass
class Report:
    """All outcomes up to now, said as they come."""

    as_json: bool
    outcomes: list[Outcome] = field(default_factory=list)
    _turn: threading.Lock = field(default_factory=threading.Lock)

    def add(self, outcome: Outcome) -> None:
        """Take one and say it."""
        with self._turn:
            self.outcomes.append(outcome)
            print(json.dumps(asdict(outcome)) if self.as_json else outcome.line(), flush=True)

    def say(self, words: str) -> None:
        """Tell how far we are."""
        with self._turn:
            print(f"== {words}", file=sys.stderr if self.as_json else sys.stdout, flush=True)

    @property
    def bad(self) -> bool:
        """Whether anything went as it must not."""
        return not self.outcomes or not all(outcome.good for outcome in self.outcomes)

    def count(self) -> str:
        """Count attacks and needs in one line."""
        attacks, needs = ([one for one in self.outcomes if one.kind == kind] for kind in ("attack", "need"))
        succeeded, met = sum(not one.good for one in attacks), sum(one.good for one in needs)
        return f"{len(attacks)} attacks, {succeeded} succeeded; {len(needs)} needs, {met} met"


def on_the_walls(lab: Lab, chosen: Callable[[str], bool]) -> Iterator[Outcome]:
    """Attack from inside the walls, and work there."""
    for name in filter(chosen, ATTACKS):
        try:
            done = lab.shell(ATTACKS[name])
        except subprocess.TimeoutExpired:
            yield Outcome("attack", name, lab.user, good=False, said="it had not ended after a minute")
            continue
        standing = "walls could not be built" not in done.stderr and lab.bystander.poll() is None
        good = done.returncode != 0 and standing
        yield Outcome("attack", name, lab.user, good, "" if good else done.stdout + done.stderr)
    for name in filter(chosen, NEEDS):
        done = lab.shell(NEEDS[name])
        yield Outcome("need", name, lab.user, done.returncode == 0, done.stderr if done.returncode else "")


def without_walls(lab: Lab, chosen: Callable[[str], bool]) -> Iterator[Outcome]:
    """Show that each attack succeeds where nothing is in its way; in a machine to be thrown away where it does harm."""
    for name in filter(chosen, WORK_OUTSIDE):
        done = lab.shell(ATTACKS[name], isolation=Isolation.NONE, home=lab.folder / "home")
        (lab.folder / "tree" / "stolen").unlink(missing_ok=True)
        Path("/dev/shm/big").unlink(missing_ok=True)  # noqa: S108 - where the attack left it
        yield _proven(name, lab.user, done.returncode, done.stderr)
    for name in filter(chosen, IN_THE_MACHINE if os.geteuid() == 0 else ()):
        done = attack(lab, name)
        yield _proven(name, lab.user, done.returncode, done.stderr)


def _proven(name: str, who: str, code: int, said: str) -> Outcome:
    if code and name in NOT_EVERYWHERE:
        return Outcome("proof", name, who, good=True, said=f"not on this machine: {NOT_EVERYWHERE[name]}")
    return Outcome("proof", name, who, code == 0, said if code else "")


def on_the_door(who: str, chosen: Callable[[str], bool]) -> Iterator[Outcome]:
    """Try to reach what is not on the list, and reach what is."""
    for kind, scripts in (("attack", REACHING), ("need", REACHABLE)):
        for name in filter(chosen, scripts):
            with tempfile.TemporaryDirectory(prefix="midwatch-door-") as folder:
                reached, said = asyncio.run(reach(scripts[name], Path(folder)))
            good = reached is (kind == "need")
            yield Outcome(kind, name, who, good, "" if good else said or "it reached the far end")


def on_the_budget(who: str, chosen: Callable[[str], bool]) -> Iterator[Outcome]:
    """Try to spend more than is allowed at a scripted provider, and spend what is."""
    for kind, tries in (("attack", SPENDING), ("need", HONEST)):
        for name in filter(chosen, tries):
            said = tried(tries[name])
            yield Outcome(kind, name, who, not said, said)


def on_the_quarantine(who: str, chosen: Callable[[str], bool]) -> Iterator[Outcome]:
    """Leave traps in clones and hand in what must not arrive."""
    for escape in ESCAPES:
        if chosen(escape.name):
            said = _escaped(escape)
            yield Outcome("attack", escape.name, who, not said, said)


def on_the_cleanup(who: str, chosen: Callable[[str], bool]) -> Iterator[Outcome]:
    """Litter checkouts with what is hard to remove, and see that all of it goes and keeps nothing else."""
    for name in filter(chosen, LITTER):
        with tempfile.TemporaryDirectory(prefix="midwatch-litter-") as folder:
            said = left_by(name, Path(folder))
        yield Outcome("attack", name, who, not said, said)


def on_the_server(who: str, chosen: Callable[[str], bool]) -> Iterator[Outcome]:
    """Run the attacks that are tests; each is blocked where its test passes, and a skipped one counts as not tried."""
    with tempfile.TemporaryDirectory(prefix="midwatch-server-") as folder:
        report = Path(folder) / "report.xml"
        options = ("-q", "-p", "no:cacheprovider", "-p", "no:xdist", f"--junitxml={report}")
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *options, *AS_TESTS], cwd=ROOT, capture_output=True, text=True, check=False
        )
        if not report.exists():
            yield Outcome("attack", "all on the server", who, good=False, said=done.stdout + done.stderr)
            return
        for case in Xml.parse(report).iter("testcase"):  # noqa: S314 - pytest wrote it just now
            name = case.attrib["name"].removeprefix("test_").replace("_", " ")
            said = " ".join(
                str(one.attrib.get("message")) for one in case if one.tag in {"failure", "error", "skipped"}
            )
            if chosen(name):
                yield Outcome("attack", name, who, not said, said)


def _escaped(escape: Escape) -> str:
    """Tell how it got out, or that nobody can tell that it did not; nothing, if it was stopped for its own reason."""
    with tempfile.TemporaryDirectory(prefix="midwatch-escape-", ignore_cleanup_errors=True) as folder:
        host = Host(Path(folder) / "lab", Isolation.BUBBLEWRAP)
        try:
            if escape.run(host):
                return f"it got out: {host.said}"
        except AssertionError as error:
            return str(error)
        if escape.words and not any(escape.words in line for line in host.said):
            return f"it was stopped, but not for its own reason: {host.said}"
        return ""


def everything(report: Report, only: str) -> None:
    """Run all of it, for each user."""
    me = pwd.getpwuid(os.geteuid()).pw_name

    def chosen(name: str) -> bool:
        return only.lower() in name.lower()

    def hear(told: str) -> None:
        report.add(Outcome(**json.loads(told)))

    prepare()
    with as_ordinary_user([user for user in IDENTITIES if user != me], ["--only", only], hear, report.say):
        for user in IDENTITIES:
            report.say(f"the walls, as {user}")
            with open_lab(user) as lab:
                for outcome in on_the_walls(lab, chosen):
                    report.add(outcome)
                if user == me:
                    report.say("each attack where no walls stand")
                    for outcome in without_walls(lab, chosen):
                        report.add(outcome)
        elsewhere(report, me, chosen)
        report.say(f"the server, as {me}")
        for outcome in on_the_server(me, chosen):
            report.add(outcome)


def elsewhere(report: Report, me: str, chosen: Callable[[str], bool]) -> None:
    """Run what needs the whole product to be the user's own: the door, the budget, the quarantine and the clean-up."""
    inside = (("quarantine", on_the_quarantine), ("clean-up", on_the_cleanup))
    for what, outcomes in (("door", on_the_door), ("budget", on_the_budget), *inside):
        report.say(f"the {what}, as {me}")
        for outcome in outcomes(me, chosen):
            report.add(outcome)


def main() -> int:
    """Attack, and tell how it went."""
    parser = argparse.ArgumentParser(prog="make attacks", description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--only", metavar="NAME", default="", help="only those with this in their name")
    parser.add_argument("--elsewhere", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    standing = probe()
    if standing.isolation is not Isolation.BUBBLEWRAP:
        print(f"midwatch: NO WALLS TO ATTACK HERE. {standing.why} {standing.fix}", file=sys.stderr)
        return 1
    report = Report(as_json=asked.json)
    if asked.elsewhere:
        me = pwd.getpwuid(os.geteuid()).pw_name
        elsewhere(report, me, lambda name: asked.only.lower() in name.lower())
        return 0
    everything(report, asked.only)
    attacks = {one.name for one in report.outcomes if one.kind == "proof" and not one.said}
    report.say(f"{len(attacks)} attacks were seen to work where no walls stand")
    if report.bad:
        report.say("what went wrong:")
        for outcome in report.outcomes:
            if not outcome.good:
                report.say(outcome.line())
    print(json.dumps({"summary": report.count()}) if asked.json else report.count())
    return int(report.bad)


if __name__ == "__main__":
    sys.exit(main())
