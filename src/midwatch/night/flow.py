"""The night's loop. Read this file first: sense, plan, act, repeat."""

from datetime import timedelta

from midwatch.errors import Stale
from midwatch.journal.events import Event
from midwatch.journal.events import session as ev
from midwatch.night.notify.notice import notice
from midwatch.night.rounds import acts, alarms, check_ins
from midwatch.night.rounds.world import World, look
from midwatch.ports.books import Books
from midwatch.ports.brain import Brain
from midwatch.ports.workspace import Rooms
from midwatch.rules.budget.limits import Pace, next_round_after
from midwatch.rules.gate import council
from midwatch.rules.gate.gate import judge
from midwatch.settings import Settings
from midwatch.settings.night import RoundsSettings
from midwatch.terms.asks import Tier
from midwatch.terms.records import ActRow, SessionRow
from midwatch.terms.trust import GateOutcome, Verdict


async def run_round(books: Books, brain: Brain, rooms: Rooms, session_id: str, number: int) -> None:
    """One pass: look at the world, let the brain propose, judge each proposal, act, and schedule the next round."""
    session = await books.records.get(SessionRow, session_id)
    if session.rounds != number or not session.round_active:
        return  # the engine ran it twice, and the round is over
    world = await look(books, session)
    plan = await _plan(books, brain, world)
    for proposed in plan.proposals:
        if (await books.records.get(SessionRow, session_id)).paused:
            break  # a person paused the loop: proposals not judged yet are made again later
        await _consider(books, rooms, session_id, number, proposed)
    await _finish(books, session_id, plan)


async def _plan(books: Books, brain: Brain, world: World) -> ev.RoundPlanned:
    """Ask the brain once per round; after a crash its recorded answer is used."""
    session = world.session
    key = f"round:{session.id}:{session.rounds}:planned"
    known = await books.journal.known(key)
    if known is not None and isinstance(known.event, ev.RoundPlanned):
        return known.event
    answer = await brain.propose(world.sense())
    rounds = world.settings.rounds
    wish = None if answer.next_in_seconds is None else timedelta(seconds=answer.next_in_seconds)
    ranked = sorted(answer.proposals, key=lambda one: one.priority)  # 1 is the most pressing
    planned = ev.RoundPlanned(
        session=session.id,
        number=session.rounds,
        brain=brain.name,
        summary=answer.summary,
        sensed=world.counts(),
        proposals=tuple(ev.Proposed(act=books.ids.new("act"), proposal=one) for one in ranked[: rounds.max_proposals]),
        next_in_seconds=int(next_round_after(wish, _pace(rounds)).total_seconds()),
    )
    await books.journal.record(planned, key=key)
    return planned


async def _consider(books: Books, rooms: Rooms, session_id: str, number: int, proposed: ev.Proposed) -> None:
    """Council, gate, door: the brain has proposed, now the rules decide."""
    act = next(iter(await books.records.find(ActRow, id=proposed.act)), None)
    if act is None:
        verdict = await _judge(books, session_id, number, proposed)
    elif act.state != "judged":
        return  # it ended before a crash
    else:
        verdict = act.verdict
    if verdict.outcome.acts:
        await acts.carry_out(books, rooms, proposed.act)
    elif verdict.outcome is GateOutcome.ASK_FIRST:
        await acts.ask_first(books, proposed.act)


async def _judge(books: Books, session_id: str, number: int, proposed: ev.Proposed) -> Verdict:
    """Judge with fresh facts and record the verdict with them."""
    proposal = proposed.proposal
    world = await look(books, await books.records.get(SessionRow, session_id))
    proposal = proposal.model_copy(update={"by": world.on_whose_word(proposal)})
    facts = world.facts_for(proposal)
    opinions = council.deliberate(proposal, facts)
    facts = facts.model_copy(update={"council": council.tally(opinions)})
    verdict = judge(proposal, facts)
    events: list[Event] = [
        ev.CouncilSpoke(
            session=session_id,
            number=number,
            act=proposed.act,
            opinions=tuple(
                ev.Opinion.model_validate({"voice": one.voice.value, "stance": one.stance.value, "words": one.words})
                for one in opinions
            ),
            decision=verdict.first.text,
        ),
        ev.ActJudged(
            act=proposed.act, session=session_id, number=number, proposal=proposal, facts=facts, verdict=verdict
        ),
    ]
    if verdict.outcome is GateOutcome.REFUSE:
        events.append(ev.ActEnded(act=proposed.act, end="refused", text=verdict.first.text))
        events += acts.pause_on_spin(books.ids, world, verdict)
    if verdict.outcome is GateOutcome.SAY_ONLY:
        words = acts.in_words(proposal, world.name_of(proposal.project))
        events.append(ev.ActEnded(act=proposed.act, end="said", text=f"Would {words}: {verdict.first.text}"))
        events.append(notice(books.ids, session_id, Tier.SUMMARY, f"Would {words}.", subject=proposed.act))
    await books.journal.record(*events, key=f"act:{proposed.act}:judged")
    return verdict


async def _finish(books: Books, session_id: str, plan: ev.RoundPlanned) -> None:
    """Report progress, end the session if it is over, else schedule the next round."""
    world = await look(books, await books.records.get(SessionRow, session_id))
    ended = ev.RoundEnded(session=session_id, number=plan.number, next_at=check_ins.next_round_at(world, plan))
    reported, over = await check_ins.check_in(books, world)
    events = (
        *reported,
        *await alarms.alarms(books.ids, books.records, world),
        *check_ins.stop_wasted(books.ids, world),
        ended,
        *over,
    )
    try:
        await books.journal.record(*events, key=f"round:{session_id}:{plan.number}:ended")
    except Stale:
        # The session was stopped in the meantime: only the end of the round is recorded.
        await books.journal.record(ended, key=f"round:{session_id}:{plan.number}:ended")


def interval(settings: Settings) -> timedelta:
    """Return the usual time until the next round."""
    return next_round_after(None, _pace(settings.rounds))


def _pace(rounds: RoundsSettings) -> Pace:
    return Pace(
        usual=timedelta(seconds=rounds.interval_seconds),
        soonest=timedelta(seconds=rounds.min_interval_seconds),
        latest=timedelta(seconds=rounds.max_interval_seconds),
    )
