"""Four voices, each with its own facts, that say what they think of a proposal; none of them needs a model."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from midwatch.rules.gate.act_groups import AGENT_WORK, STARTING, touches_the_world
from midwatch.terms.acts import WAITING, ActKind, Proposal
from midwatch.terms.english import say
from midwatch.terms.facts import CouncilFacts, Facts

MANY_OPEN_ASKS: Final = 3
PRESSING: Final = 2
"""Priorities run from 1, the most pressing, to 5."""
SURE: Final = 0.6


class Voice(StrEnum):
    """Who speaks."""

    STRATEGY = "Polaris"
    EMPATHY = "Aurora"
    ANALYSIS = "Vega"
    ACTION = "Sol"


class Stance(StrEnum):
    """The position of a voice."""

    SUPPORT = "support"
    OBJECT = "object"
    SILENT = "silent"


@dataclass(frozen=True, slots=True)
class VoiceOpinion:
    """What one voice thinks, in a sentence."""

    voice: Voice
    stance: Stance
    words: str


def deliberate(proposal: Proposal, facts: Facts) -> tuple[VoiceOpinion, ...]:
    """Each voice gives one opinion; waiting needs none."""
    if proposal.kind in WAITING:
        return tuple(_silent(voice) for voice in Voice)
    return (_strategy(proposal), _empathy(proposal, facts), _analysis(proposal, facts), _action(proposal, facts))


def tally(opinions: Iterable[VoiceOpinion]) -> CouncilFacts:
    """Count the voices for the gate."""
    stances = [opinion.stance for opinion in opinions]
    return CouncilFacts(
        support=stances.count(Stance.SUPPORT),
        objections=stances.count(Stance.OBJECT),
        silent=stances.count(Stance.SILENT),
    )


def _strategy(proposal: Proposal) -> VoiceOpinion:
    """Does it serve a goal?"""
    if proposal.ordered:
        return _support(Voice.STRATEGY, "council.strategy.ordered")
    if touches_the_world(proposal) and proposal.priority > PRESSING:
        return _object(Voice.STRATEGY, "council.strategy.unordered")
    return _silent(Voice.STRATEGY)


def _empathy(proposal: Proposal, facts: Facts) -> VoiceOpinion:
    """What does it do to the person?"""
    attention = facts.budgets.attention
    if proposal.kind not in {ActKind.ASK_USER, ActKind.NOTIFY}:
        calm = not facts.quiet_hours or proposal.kind is not ActKind.MERGE
        return (
            _support(Voice.EMPATHY, "council.empathy.gentle")
            if calm
            else _object(Voice.EMPATHY, "council.empathy.quiet")
        )
    if not attention.room_for(1):
        return _object(Voice.EMPATHY, "council.empathy.attention_spent")
    if attention.reserved >= MANY_OPEN_ASKS:
        return _object(Voice.EMPATHY, "council.empathy.asks_open", asks=attention.reserved)
    return _object(Voice.EMPATHY, "council.empathy.quiet") if facts.quiet_hours else _silent(Voice.EMPATHY)


def _analysis(proposal: Proposal, facts: Facts) -> VoiceOpinion:
    """Is it likely to work?"""
    in_project = facts.project.retries_in_a_row if facts.project else 0
    tries = max(facts.retries_of_cause, in_project)
    if facts.spin >= facts.limits.spin - 1 and facts.spin > 0:
        return _object(Voice.ANALYSIS, "council.analysis.spinning", spin=facts.spin)
    if proposal.kind in AGENT_WORK and tries >= facts.limits.retries - 1 and tries > 0:
        return _object(Voice.ANALYSIS, "council.analysis.failing", tries=tries)
    if proposal.confidence < facts.limits.min_confidence:
        return _object(Voice.ANALYSIS, "council.analysis.unsure", confidence=proposal.confidence)
    if proposal.confidence >= SURE:
        return _support(Voice.ANALYSIS, "council.analysis.sure", confidence=proposal.confidence)
    return _silent(Voice.ANALYSIS)


def _action(proposal: Proposal, facts: Facts) -> VoiceOpinion:
    """Can it be done now?"""
    if proposal.kind in AGENT_WORK and _short(facts):
        return _object(Voice.ACTION, "council.action.short")
    running = facts.project is not None and facts.project.job is not None and facts.project.job.running
    if proposal.kind is ActKind.STOP and not running:
        return _object(Voice.ACTION, "council.action.nothing_runs")
    if proposal.kind in STARTING and running:
        return _object(Voice.ACTION, "council.action.busy")
    if proposal.kind in STARTING and facts.jobs_running >= facts.limits.jobs_in_all:
        words = {"running": facts.jobs_running, "most": facts.limits.jobs_in_all}
        return _object(Voice.ACTION, "council.action.crowded", **words)
    return _support(Voice.ACTION, "council.action.able") if touches_the_world(proposal) else _silent(Voice.ACTION)


def _short(facts: Facts) -> bool:
    limits = facts.limits
    return facts.free_memory_bytes < limits.free_memory_bytes or facts.free_disk_bytes < limits.free_disk_bytes


def _support(voice: Voice, code: str, **facts: object) -> VoiceOpinion:
    return VoiceOpinion(voice, Stance.SUPPORT, say(code, **facts))


def _object(voice: Voice, code: str, **facts: object) -> VoiceOpinion:
    return VoiceOpinion(voice, Stance.OBJECT, say(code, **facts))


def _silent(voice: Voice) -> VoiceOpinion:
    return VoiceOpinion(voice, Stance.SILENT, say("council.silent"))
