"""Brains that propose what a test wants, round by round."""

from collections.abc import Callable, Sequence

from midwatch.brains.rules_brain import RulesBrain
from midwatch.terms.acts import ActKind, BrainAnswer, Proposal, Sense

Turn = Callable[[Sense], Sequence[Proposal]]
WAIT = Proposal(kind=ActKind.WAIT, reason="Nothing to do.", confidence=1.0)


class TurnsBrain(RulesBrain):
    """Takes one turn a round, then waits; a round that was paused or stopped takes its turn all the same."""

    name = "turns"

    def __init__(self, *turns: Turn) -> None:
        self._turns = list(turns)

    async def propose(self, sense: Sense) -> BrainAnswer:
        proposals = tuple(self._turns.pop(0)(sense)) if self._turns else (WAIT,)
        return BrainAnswer(summary="As the test says.", proposals=proposals)


def waits(_: Sense) -> Sequence[Proposal]:
    return (WAIT,)


def starts(place: int = 0, **more: object) -> Turn:
    """Start one of the ordered items."""
    return lambda sense: (about(sense, ActKind.START, place, **more),)


def about(sense: Sense, kind: ActKind, place: int = 0, **more: object) -> Proposal:
    """Propose an act about one of the ordered items, as a brain would that is sure of itself."""
    item = sense.items[place]
    works = kind in {ActKind.START, ActKind.RESTART}
    given = {
        "kind": kind,
        "project": item.project,
        "target": item.work_item,
        "reason": f"{kind.value} it",
        "confidence": 0.9,
        "agent": item.agent,
        "tool": "repo_write_pr" if works else "",
        "writes": works,
    }
    return Proposal.model_validate({**given, **more})
