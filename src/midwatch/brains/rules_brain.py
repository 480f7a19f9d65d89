"""The brain that needs no model: it goes through the orders, item by item."""

from midwatch.terms.acts import ActKind, Proposal
from midwatch.terms.sense import Answer, ItemSense, Sense

MOST_PROPOSALS = 5


class RulesBrain:
    """Starts what was ordered and not begun, restarts what may be tried again, and otherwise waits."""

    name = "rules"

    async def propose(self, sense: Sense) -> Answer:
        """Look at every ordered item once, in the order it was written down."""
        wanted = [proposal for item in sense.items if (proposal := _for(item)) is not None]
        busy: set[str] = {item.project for item in sense.items if item.state in {"working", "waiting"}}
        chosen: list[Proposal] = []
        for proposal in wanted:
            if proposal.project not in busy:
                busy.add(proposal.project)
                chosen.append(proposal)
        chosen = chosen[:MOST_PROPOSALS] or [_wait(sense)]
        return Answer(summary=_summary(sense), proposals=tuple(chosen))


def _for(item: ItemSense) -> Proposal | None:
    if item.state == "todo":
        return _start(item, ActKind.START, f"Ordered for tonight: {item.title}")
    if item.state == "failed" and item.may_retry:
        return _start(item, ActKind.RESTART, f"Failed ({item.cause or 'unknown cause'}); try {item.tries + 1}")
    return None


def _start(item: ItemSense, kind: ActKind, reason: str) -> Proposal:
    return Proposal(
        kind=kind,
        project=item.project,
        target=item.work_item,
        reason=reason,
        priority=2,
        prompt=item.title,
        confidence=0.8 if kind is ActKind.START else 0.6,
        tier=2,
        agent=item.agent,
        tool="repo_write_pr",
        writes=True,
        ordered=True,
    )


def _wait(sense: Sense) -> Proposal:
    going = sum(item.state in {"working", "waiting"} for item in sense.items)
    return Proposal(
        kind=ActKind.WAIT,
        reason=f"{going} of {len(sense.items)} ordered items are under way; nothing else to do.",
        confidence=1.0,
        tier=4,
    )


def _summary(sense: Sense) -> str:
    counted: dict[str, int] = {}
    for item in sense.items:
        counted[item.state] = counted.get(item.state, 0) + 1
    stand = ", ".join(f"{count} {state.replace('_', ' ')}" for state, count in sorted(counted.items()))
    return f"{len(sense.items)} ordered: {stand or 'nothing'}."
