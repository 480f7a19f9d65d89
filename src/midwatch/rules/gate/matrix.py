"""What each level makes of each act (SPEC 8), as data; `terms/trust.LEVEL_MEANS` says it in words."""

from typing import Final

from midwatch.rules.gate.act_groups import LOOKING
from midwatch.terms.acts import ActKind, Proposal, Source
from midwatch.terms.trust import GateOutcome, Level

_SIGN: Final = {
    "X": GateOutcome.EXECUTE,
    "T": GateOutcome.EXECUTE_AND_TELL,
    "A": GateOutcome.ASK_FIRST,
    "S": GateOutcome.SAY_ONLY,
    "-": GateOutcome.REFUSE,
}

# One letter per level: observe, cautious, moderate, full.
_ROWS: Final = {
    ActKind.SKIP: "XXXX",
    ActKind.REFLECT: "XXXX",
    ActKind.WAIT: "XXXX",
    ActKind.SLEEP: "XXXX",
    ActKind.REPORT: "XXXX",
    ActKind.NOTE: "XXXX",
    ActKind.ASK_USER: "XXXX",
    ActKind.NOTIFY: "XXXX",
    ActKind.SEARCH: "XXXX",
    ActKind.RESEARCH: "XXXX",
    ActKind.UPDATE_WORK_ITEM: "STXX",
    ActKind.START: "STXX",
    ActKind.START_RUN: "STXX",
    ActKind.STOP: "SATX",
    ActKind.RESTART: "SAXX",
    ActKind.RESOLVE: "SATX",
    ActKind.DELEGATE: "SATX",
    ActKind.SCHEDULE: "SATX",
    ActKind.CREATE_PROJECT: "SAAT",
    ActKind.MERGE: "AAAA",
    ActKind.PUSH_PROTECTED: "----",
    ActKind.DEPLOY: "----",
    ActKind.PAY: "----",
    ActKind.MAIL_STRANGERS: "----",
}
_WEB_ROW: Final = "SXXX"

MATRIX: Final[dict[tuple[ActKind, Level], GateOutcome]] = {
    (kind, level): _SIGN[sign] for kind, row in _ROWS.items() for level, sign in zip(Level, row, strict=True)
}
"""What each act becomes at each level. Notices at observe are held to tiers 3 and 4 by a condition of the gate."""

WEB: Final[dict[Level, GateOutcome]] = {level: _SIGN[sign] for level, sign in zip(Level, _WEB_ROW, strict=True)}
"""Searching and researching the web, which read untrusted text."""


def outcome_at(proposal: Proposal, level: Level) -> GateOutcome:
    """Look an act up; a search that does not say where it looks counts as one of the web."""
    if proposal.kind in LOOKING and proposal.source in {Source.WEB, None}:
        return WEB[level]
    return MATRIX[proposal.kind, level]
