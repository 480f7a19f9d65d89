"""The brain that needs no model: it goes through the orders, item by item."""

from midwatch.terms.acts import ActKind, BrainAnswer, ItemSense, Proposal, Sense
from midwatch.terms.figures import some

MOST_PROPOSALS = 5
MOST_BOXES = 3
"""The first box and two more: work that is not finished then has another problem."""


class RulesBrain:
    """Starts ordered work, restarts what may be tried again, and otherwise waits."""

    name = "rules"

    async def propose(self, sense: Sense) -> BrainAnswer:
        """Look at every ordered item once, in the order of the orders."""
        wanted = [proposal for item in sense.items if (proposal := _for(item, sense)) is not None]
        busy: set[str] = {item.project for item in sense.items if item.state in {"working", "waiting"}}
        chosen: list[Proposal] = []
        for proposal in wanted:
            if proposal.project not in busy:
                busy.add(proposal.project)
                chosen.append(proposal)
        chosen = chosen[:MOST_PROPOSALS] or [_wait(sense)]
        return BrainAnswer(summary=_summary(sense), proposals=tuple(chosen))

    async def reply(self, sense: Sense, said: str) -> str:  # noqa: ARG002 - rules do not read prose, and say so
        """Say what becomes of a message: the rules pass it on, and read nothing into it."""
        working = sum(item.state in {"working", "waiting"} for item in sense.items)
        coming = sum(item.state in {"todo", "failed", "boxed"} for item in sense.items)
        heard = "Your message is in the prompt of every agent that is started from now on"
        now = f"; {some(working, 'job')} under way {'goes' if working == 1 else 'go'} on as planned" if working else ""
        left = f" {some(coming, 'item')} {'is' if coming == 1 else 'are'} still to be started." if coming else ""
        return f"{heard}{now}.{left} No model plans this night, so the order of the work stays as you signed it."


def _for(item: ItemSense, sense: Sense) -> Proposal | None:
    if item.state == "todo":
        return _start(item, ActKind.START, f"Ordered for tonight: {item.title}")
    if item.state == "failed" and item.may_retry:
        why = f"Failed ({item.cause or 'unknown cause'}); try {item.tries + 1}. {item.advice}"
        return _start(item, ActKind.RESTART, why.strip())
    if item.state == "boxed":
        return _after_the_box(item, sense)
    return None


def _after_the_box(item: ItemSense, sense: Sense) -> Proposal:
    """Continue if the last box made progress and budget is left; else park the job."""
    if item.progress and sense.budget_left and item.boxes < MOST_BOXES and not item.held_back:
        why = f"Its time box {item.boxes} made progress; continue in box {item.boxes + 1} of at most {MOST_BOXES}"
        return _start(item, ActKind.RESTART, why)
    return Proposal(
        kind=ActKind.UPDATE_WORK_ITEM,
        project=item.project,
        target=item.work_item,
        reason=f"Parked after {some(item.boxes, 'time box', 'time boxes')}: {_why_not(item, sense)}",
        message=f"Parked at {item.last_stage}; its work is kept. Continue with: midwatch job resume",
        confidence=0.8,
        tier=3,
        agent=item.agent,
    )


def _why_not(item: ItemSense, sense: Sense) -> str:
    if item.held_back:
        return "continuing was not allowed."
    if not sense.budget_left:
        return "the budget is used up."
    return "it reached the limit." if item.progress else "the last one made no progress."


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
        reason=f"{going} of {len(sense.items)} ordered items are in progress; nothing else to do.",
        confidence=1.0,
        tier=4,
    )


def _summary(sense: Sense) -> str:
    counted: dict[str, int] = {}
    for item in sense.items:
        counted[item.state] = counted.get(item.state, 0) + 1
    stand = ", ".join(f"{count} {state.replace('_', ' ')}" for state, count in sorted(counted.items()))
    return f"{len(sense.items)} ordered: {stand or 'nothing'}."
