"""Committed files that a check rewrites while it runs: what judges the work may then be the work's own.

Its own module: it compares runs of checks, the other doubts read the files of a change.
"""

import re
from collections.abc import Iterable, Iterator, Mapping

from midwatch.terms.jobs import CheckResult, Doubt

MOST_NAMED = 3
ALL_NAMED = 200
"""So many files are named of one check; a check with more may have rewritten any file."""
_RECORDS = re.compile(
    r"(?:\.lock|[-.]lock\.(?:json|ya?ml)|\.lockb|\.sum|npm-shrinkwrap\.json|\.lockfile|Package\.resolved)$|"
    r"\.(?:log|db|sqlite3?|coverage|pid)$"
)
"""What tools write whenever the packages or the data change; nothing is judged by it."""


def rewriting_doubts(
    before: Iterable[CheckResult], runs: Mapping[str, Iterable[CheckResult]], changed: Mapping[str, frozenset[str]]
) -> Iterator[Doubt]:
    """Compare what each check rewrote on the base with what it rewrote on the work.

    `changed` names, for each kind of run, the files that are not as on the base. A formatter rewrites what the work
    changed; that a check rewrites what is as on the base, and did not there, is the work's doing.
    """
    earlier = {one.command: one for one in before}
    said: set[tuple[str, str, bool]] = set()
    for kind, results in runs.items():
        for one in results:
            base = earlier.get(one.command)
            if not one.rewrote and not one.touched:
                continue
            usual = {*base.rewrote, *base.touched} if base is not None else set[str]()
            any_file = base is None or len(base.rewrote) >= ALL_NAMED
            rewrote = [path for path in one.rewrote if path not in usual]
            # A red base may have ended before it came as far.
            put_back = [path for path in one.touched if path not in usual and base is not None and base.green]
            foreign = [] if any_file else [path for path in (*rewrote, *put_back) if _judges(path, changed[kind])]
            rest = [path for path in rewrote if path not in foreign]
            for grave, paths in ((True, foreign), (False, rest)):
                key = (one.command, ", ".join(paths), grave)
                if paths and key not in said:
                    said.add(key)
                    yield _doubt(one.command, paths, grave=grave)


def _judges(path: str, changed: frozenset[str]) -> bool:
    return path not in changed and not _RECORDS.search(path)


def _doubt(command: str, paths: list[str], *, grave: bool) -> Doubt:
    more = f" and {len(paths) - MOST_NAMED} more" if len(paths) > MOST_NAMED else ""
    text = f"`{command}` rewrote {', '.join(paths[:MOST_NAMED])}{more} while it ran"
    why = "; the work did not change that, and on the base it stayed as it was." if grave else "."
    return Doubt(kind="rewrites_files", text=text + why, path=paths[0], grave=grave)
