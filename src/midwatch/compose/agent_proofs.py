"""When each agent's program last answered in its sandbox: a cache in the data folder, for lists and preflights."""

import contextlib
import hashlib
import json
import os
from datetime import datetime, timedelta
from pathlib import Path

from pydantic import ValidationError

from midwatch.crew.roster import Recruit
from midwatch.terms.term import Term

FILE = "proven.json"
FRESH = timedelta(hours=24)


class AgentProof(Term):
    """How an agent's program answered the last time it was tried."""

    at: datetime
    answers: bool
    sentence: str
    of: str
    """What was tried: another file, model or credential needs a proof of its own."""

    def fresh(self, now: datetime) -> bool:
        return self.answers and now - self.at < FRESH


def proof_of(home: Path, one: Recruit) -> AgentProof | None:
    """Return what is known about exactly this program with this model; None if it was never tried. Blocking."""
    known = _read(home).get(one.name)
    return known if known is not None and known.of == _identity(one) else None


def keep_proof(home: Path, one: Recruit, at: datetime, *, answers: bool, sentence: str) -> None:
    """Replace the file in one step; blocking."""
    proof = AgentProof(at=at, answers=answers, sentence=sentence, of=_identity(one))
    known = {name: each.model_dump(mode="json") for name, each in (_read(home) | {one.name: proof}).items()}
    beside = home / f".{FILE}.new"
    with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as out:
        json.dump(known, out)
    beside.replace(home / FILE)


def _read(home: Path) -> dict[str, AgentProof]:
    with contextlib.suppress(OSError, ValueError, ValidationError, AttributeError):
        return {name: AgentProof.model_validate(each) for name, each in json.loads((home / FILE).read_text()).items()}
    return {}


def _identity(one: Recruit) -> str:
    facts = None
    if one.program is not None:
        with contextlib.suppress(OSError):
            facts = one.program.path.stat()
    file = (str(one.program.path), facts.st_mtime_ns, facts.st_size) if one.program and facts else ()
    access = one.access.model_dump(mode="json") if one.access else {}
    return hashlib.sha256(json.dumps([file, access], sort_keys=True).encode()).hexdigest()[:16]
