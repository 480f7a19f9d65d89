"""The review queue: each recommendation with its evidence, its checks, and what was decided for the person."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from midwatch.journal.entry import Entry
from midwatch.journal.events.jobs import JobExecuted, JobVerified
from midwatch.journal.events.session import ActJudged, AskExpired
from midwatch.terms import records as rec
from midwatch.terms.forges import LOCAL
from midwatch.terms.jobs import CheckResult, Proof
from midwatch.terms.report import ITEM_DONE, Recommendation, ReviewOutcome, WorkTally
from midwatch.terms.stack import StackState
from midwatch.terms.term import Term
from midwatch.views.entries.describe import describe
from midwatch.views.text.names import Names, pull_request_called
from midwatch.views.text.plain import spaced
from midwatch.views.text.proof import PROVEN, ProofLine, proof_lines
from midwatch.views.text.states import ITEM_BECAME


@dataclass(frozen=True, slots=True)
class NightRows:
    """All rows of one night."""

    session: rec.SessionRow
    report: rec.ReportRow
    projects: tuple[rec.ProjectRow, ...] = ()
    runs: tuple[rec.RunRow, ...] = ()
    jobs: tuple[rec.JobRow, ...] = ()
    acts: tuple[rec.ActRow, ...] = ()
    asks: tuple[rec.AskRow, ...] = ()
    pull_requests: tuple[rec.PullRequestRow, ...] = ()
    evidence: tuple[rec.EvidenceRow, ...] = ()
    assumptions: tuple[rec.AssumptionRow, ...] = ()
    evaluations: tuple[rec.EvaluationRow, ...] = ()
    outcomes: tuple[rec.OutcomeRow, ...] = ()
    stacks: tuple[rec.StackRow, ...] = ()
    stacked: tuple[rec.PullRequestRow, ...] = ()
    """The pull requests in them, which may be of an earlier night."""
    numbers: Mapping[str, int] = field(default_factory=dict)
    """By job with a branch in a stack or left out of one: its number."""
    tally: WorkTally = field(default_factory=WorkTally)
    verdicts: Mapping[str, ReviewOutcome] = field(default_factory=dict)
    """By pull request in a stack."""


class EvidenceShown(Term):
    """One piece of evidence with its place."""

    citation: str
    place: str
    """Path and line, where it has them."""
    commit: str
    excerpt: str
    notes: str


class CheckShown(Term):
    """One check before and after; `fine` is None where it says nothing."""

    command: str
    before: str
    after: str
    fine: bool | None
    tail: str


class DecisionMade(Term):
    """Something decided while no person could be asked."""

    seq: int
    text: str


class PullShown(Term):
    """The pull request of an item."""

    number: int
    job: int
    state: str
    branch: str
    into: str
    undo: tuple[str, ...]
    merged_sha: str
    standing: str = "open"
    """Its state, and the state of its checks on the forge."""
    undoable: bool = False
    """It was merged here and by itself, so that one press takes it back."""
    rejected: bool = False
    """The person's review said no to it, so it is not merged while that stands."""
    link: str = ""


class Item(Term):
    """One thing to judge."""

    id: str
    place: int
    title: str
    text: str
    ordered: str
    """The work as it was ordered; empty for a finding beside it."""
    became: str
    """What became of the ordered item, in words; empty for a finding beside it."""
    missing: bool
    """It was ordered and not delivered."""
    tried: tuple[str, ...]
    advice: str
    sure: int
    hypothesis: bool
    tradeoffs: tuple[str, ...]
    ask: str
    project: str
    job: int
    """Its number, 0 where there is none."""
    proven: str
    files: int
    added: int
    removed: int
    flagged: tuple[str, ...]
    evidence: tuple[EvidenceShown, ...]
    checks: tuple[CheckShown, ...]
    proof: tuple[ProofLine, ...]
    """What supports and what weakens the proof, beside its checks."""
    decisions: tuple[DecisionMade, ...]
    pull: PullShown | None
    diff_blob: str
    outcome: ReviewOutcome
    reason: str


def items_of(rows: NightRows, entries: Sequence[Entry], names: Names) -> tuple[Item, ...]:
    """Make one item of each recommendation, in the report's order."""
    return tuple(_item(rows, one, place, (entries, names)) for place, one in enumerate(rows.report.recommendations, 1))


def _item(rows: NightRows, one: Recommendation, place: int, history: tuple[Sequence[Entry], Names]) -> Item:
    job = next((job for job in rows.jobs if one.why == f"trace:{job.id}"), None)
    # A recommendation to look at a finding has a job too, but its change is judged with the one to merge it.
    about_change = job is not None and (one.became is not None or _names_job(one, job))
    pulls = [row for row in rows.pull_requests if job and row.job == job.id and about_change]
    pull = pulls[-1] if pulls else None
    change = job.change if job and about_change else None
    given = next((row for row in rows.outcomes if row.id == one.id), None)
    given_on = ReviewOutcome(given.outcome) if given else ReviewOutcome.PENDING
    project = next((row.name for row in rows.projects if job and row.id == job.project), "")
    words = text_now(one, pull, rows.jobs, rows.projects).removesuffix(one.advice).rstrip()  # it is shown by itself
    return Item(
        id=one.id,
        place=place,
        title=pull.title if pull else job.title if job and about_change else words,
        text=words,
        ordered=_ordered(rows.session, one.work_item) if one.became else "",
        became=ITEM_BECAME[one.became] if one.became else "",
        missing=one.became is not None and one.became not in ITEM_DONE,
        tried=one.tried,
        advice=one.advice,
        sure=round(one.confidence * 100),
        hypothesis=one.hypothesis,
        tradeoffs=one.tradeoffs,
        ask=one.ask,
        project=project,
        job=job.number if job else 0,
        proven=_proven(job) if about_change else "",
        files=len(change.files) if change else 0,
        added=change.insertions if change else 0,
        removed=change.deletions if change else 0,
        flagged=change.flagged if change else (),
        evidence=_evidence(rows, one),
        checks=checks(job.proof) if job and job.proof and about_change else (),
        proof=proof_lines(job.proof) if job and job.proof and about_change else (),
        decisions=decisions(job, rows.asks, *history) if job and about_change else (),
        pull=pull_of(pull, job, rows.stacks, given_on) if pull and job else None,
        diff_blob=job.diff_blob if job and about_change else "",
        outcome=given_on,
        reason=given.reason if given else "",
    )


def text_now(
    one: Recommendation,
    pull: rec.PullRequestRow | None,
    jobs: Iterable[rec.JobRow],
    projects: Iterable[rec.ProjectRow],
) -> str:
    """What is recommended now: the brief's words, unless the pull request was merged or closed since."""
    if pull is None or pull.state == "open":
        return one.text
    return f"P{_called(pull, jobs, projects)[1:]}, {pull.title}, is {pull.state} already."


def _called(pull: rec.PullRequestRow, jobs: Iterable[rec.JobRow], projects: Iterable[rec.ProjectRow]) -> str:
    job = next((one.number for one in jobs if one.id == pull.job), 0)
    return pull_request_called(pull.number, job, next((one.name for one in projects if one.id == pull.project), ""))


def since_then(
    report: rec.ReportRow,
    pulls: Iterable[rec.PullRequestRow],
    jobs: Sequence[rec.JobRow],
    projects: Sequence[rec.ProjectRow],
) -> tuple[str, ...]:
    """Say what became of pull requests after the brief was written: its own words stay as they were."""
    return tuple(
        f"P{_called(pull, jobs, projects)[1:]} was {pull.state} after this brief was written."
        for pull in pulls
        if pull.state != "open" and pull.closed_at is not None and pull.closed_at >= report.created_at
    )


def _ordered(session: rec.SessionRow, work_item: str) -> str:
    return next((item["title"] for item in session.items if item["work_item"] == work_item), "")


def _names_job(one: Recommendation, job: rec.JobRow) -> bool:
    """Whether an older recommendation, which says nothing of its item, is about the job's change."""
    return one.ask in {f"midwatch job {verb} {job.number}" for verb in ("merge", "show")}


def _proven(job: rec.JobRow | None) -> str:
    if job is None or job.proof is None:
        return "It was not checked."
    said = PROVEN.get(job.proof.verdict, spaced(job.proof.verdict))
    return f"{said[0].upper()}{said[1:]}."


def pull_of(
    row: rec.PullRequestRow,
    job: rec.JobRow,
    stacks: Iterable[rec.StackRow] = (),
    verdict: ReviewOutcome = ReviewOutcome.PENDING,
) -> PullShown:
    """Show a pull request, and whether a person may merge it or take its merge back."""
    together = {step.pull_request for one in stacks if one.state is StackState.MERGED for step in one.order}
    return PullShown(
        number=row.number,
        job=job.number,
        state=row.state,
        branch=row.branch,
        into=row.into,
        undo=row.undo,
        merged_sha=row.merged_sha,
        standing=standing(row),
        undoable=row.state == "merged" and row.forge == LOCAL and bool(row.undo) and row.id not in together,
        rejected=verdict is ReviewOutcome.REJECTED,
        link=row.url if row.url.startswith(("https://", "http://")) else "",
    )


def standing(row: rec.PullRequestRow) -> str:
    """Describe the state of a pull request, in a word or two."""
    if row.state != "open":
        return row.state
    checks = f", checks {row.checks}" if row.checks != "none" else ""
    return f"{'a draft' if row.draft else 'open'}{checks}"


def _evidence(rows: NightRows, one: Recommendation) -> tuple[EvidenceShown, ...]:
    found = {row.id: row for row in rows.evidence}
    return tuple(_piece(found[name]) for name in one.evidence if name in found)


def _piece(row: rec.EvidenceRow) -> EvidenceShown:
    place, at, commit = row.citation.rpartition("@")
    located = bool(at) and ":" in place and " " not in commit
    return EvidenceShown(
        citation=row.citation,
        place=place if located else "",
        commit=commit if located else "",
        excerpt=row.excerpt,
        notes=row.notes,
    )


def checks(proof: Proof) -> tuple[CheckShown, ...]:
    """Put each check's end before and after the change side by side."""
    before = {one.command: one for one in proof.before}
    restored = {one.command: one for one in proof.restored}
    return tuple(_check(one, before.get(one.command), restored.get(one.command)) for one in proof.delivered)


def _check(after: CheckResult, before: CheckResult | None, restored: CheckResult | None) -> CheckShown:
    fooled = after.green and restored is not None and not restored.green
    text = f"{_ended(after)}, but {_ended(restored)} with the old check files" if fooled and restored else _ended(after)
    fine = None if not after.green and before is not None and not before.green else after.green and not fooled
    return CheckShown(
        command=after.command,
        before=_ended(before) if before else "not run",
        after=text,
        fine=fine,
        tail="" if fine else (restored.shown if fooled and restored else after.shown),
    )


def _ended(check: CheckResult) -> str:
    if check.green:
        return "green"
    if check.flaky:
        return "flaky"
    failures = f", {check.failures} failed" if check.failures else ""
    return f"red (exit {check.exit_code}{failures})"


def decisions(
    job: rec.JobRow, asks: Sequence[rec.AskRow], entries: Sequence[Entry], names: Names
) -> tuple[DecisionMade, ...]:
    """List what the night decided for the person about one job, with the entry that says why."""
    mine = {ask.id for ask in asks if ask.subject == job.id}
    made: list[DecisionMade] = []
    for entry in entries:
        event = entry.event
        if isinstance(event, JobExecuted) and event.job == job.id:
            made += [
                DecisionMade(seq=entry.seq, text=f"Took back “{one.subject}”: {one.why}") for one in event.done.dropped
            ]
        elif _decides(entry, job, mine):
            made.append(DecisionMade(seq=entry.seq, text=describe(event, names)))
    return tuple(made)


def _decides(entry: Entry, job: rec.JobRow, asks: set[str]) -> bool:
    event = entry.event
    if isinstance(event, ActJudged):
        return event.act == job.act
    if isinstance(event, AskExpired):
        return event.ask in asks
    return isinstance(event, JobVerified) and event.job == job.id and event.proof.verdict != "green"
