"""`replay`, `why`, `rehearse`."""

from collections.abc import Iterator
from typing import Any

import typer

from midwatch.errors import Unknown
from midwatch.surfaces.cli.main import verbs
from midwatch.surfaces.cli.morning.review import JOB, session_of
from midwatch.surfaces.cli.shell import client
from midwatch.surfaces.cli.shell.screen import (
    JSON_FLAG,
    clock,
    day,
    exactly,
    head,
    line,
    show_json,
    show_json_list,
    table,
)
from midwatch.terms.figures import some
from midwatch.views.text.states import DECIDED

PAGE = 200
"""Rows of one answer; the first screen waits for no more."""
USUAL = 1000
FOLDED = 3
"""How many lines of a prompt are shown without --prompts."""
TOLD = " " * 17


def replay(  # noqa: PLR0913  each is a flag a person may type
    night: str = typer.Option("", help="A night's number; everything by default."),
    job: str = JOB,
    tag: str = typer.Option("", help="Only: writes, errors, assumptions, evidence or decisions."),
    *,
    after: int = typer.Option(0, min=0, help="Begin after this entry."),
    limit: int = typer.Option(USUAL, min=1, help="Stop after this many rows."),
    every: bool = typer.Option(False, "--all", help="Do not stop before the end."),
    prompts: bool = typer.Option(False, "--prompts", help="With the full prompts of the agents."),
    as_json: bool = JSON_FLAG,
) -> None:
    """Go through the night, entry by entry.

    Example: midwatch replay --night 1 --tag decisions
    """
    rows = _rows(session_of(night, job), tag, after, limit=None if every else limit)
    if as_json:
        show_json_list(rows)
        return
    today, seq = "", 0
    for row in rows:
        today = _show_row(row, today, prompts=prompts)
        seq = row.get("seq", seq)
    if not seq:
        typer.echo("Nothing to show.")


def _rows(night: str, tag: str, after: int, *, limit: int | None) -> Iterator[dict[str, Any]]:
    """Yield row after row as pages come, and say at the end where to continue."""
    shown = seq = 0
    for page in client.pages("/replay", night=night, tag=tag, after=after, limit=min(PAGE, limit or PAGE)):
        for row in page:
            if limit is not None and shown == limit:
                typer.echo(f"More: midwatch replay --after {seq}, or --all", err=True)
                return
            seq = row.get("seq", seq)
            shown += "seq" in row
            yield row


def _show_row(row: dict[str, Any], today: str, *, prompts: bool) -> str:
    """Print one row, and the day where a new one begins."""
    if "seconds" in row:
        quiet = some(round(row["seconds"] / 60), "quiet minute")
        typer.echo(typer.style(f"          ... {quiet}", dim=True))
        return today
    if day(row["at"]) != today:
        today = day(row["at"])
        head(today)
    line(row["text"], first=f"{clock(row['at'])}  {row['seq']:>5}  {row['phase']:<8} ")
    if row["prompt"]:
        _show_answer(row["prompt"], prompts=prompts)
    return today


def _show_answer(answer: dict[str, Any], *, prompts: bool) -> None:
    """Print the prompt of an agent: its first lines, or all of it."""
    lines = answer["text"].splitlines()
    line(f"prompt: template {answer['template']} ({answer['version']}):", indent=TOLD)
    exactly("\n".join(lines if prompts else lines[:FOLDED]), indent=f"{TOLD}| ")
    if not prompts and len(lines) > FOLDED:
        line(f"{some(len(lines) - FOLDED, 'more line')}: midwatch replay --prompts", indent=TOLD)


def why(
    name: str = typer.Argument(
        ..., help="A recommendation's place in the brief (1, 2, 3) or id, or an entry's number."
    ),
    *,
    as_json: bool = JSON_FLAG,
) -> None:
    """Explain why something happened, or why Midwatch recommends it.

    Example: midwatch why 42
    """
    answer = client.get(f"/why/{client.part(_meant(name))}")
    if as_json:
        show_json(answer)
    elif "causes" in answer:
        _show_entry(answer)
    else:
        _show_advice(answer)


def _meant(name: str) -> str:
    """Read 1, 2 and 3 as the newest brief's recommendations, if there are that many; else as entries."""
    if not name.isdigit() or not 1 <= int(name) <= 3:
        return name
    try:
        known = client.get("/morning")["recommendations"]
    except Unknown:
        return name
    return str(known[int(name) - 1]["id"]) if int(name) <= len(known) else name


def _show_entry(answer: dict[str, Any]) -> None:
    head(f"{answer['seq']}  {answer['text']}")
    for step in answer["causes"]:
        line(step["text"], first=f"  because {step['seq']:>5}  ")
    for step in answer["consequences"]:
        line(step["text"], first=f"  led to  {step['seq']:>5}  ")


def _show_advice(answer: dict[str, Any]) -> None:
    head(answer["text"])
    typer.echo(f"  {'Untested, ' if answer['hypothesis'] else ''}{answer['confidence']:.0%} sure: {answer['rests_on']}")
    for one in answer["evidence"]:
        line(f"{one['citation']} {one['notes']}".rstrip(), first="  evidence   ")
    for one in answer["tradeoffs"]:
        line(one, first="  tradeoff   ")
    line(answer["work_item"], first="  work item  ")
    for goal in answer["goals"]:
        line(goal, first="  goal       ")
    for part in ("plan", "approved", "signed"):
        line(answer[part], first=f"  {part:<9}  ")
    for reason in answer["reasons"]:
        line(f"{answer['outcome']}: {reason}", first="  gate       ")


def rehearse(
    level: str = typer.Option(..., help="observe, cautious, moderate or full"),
    night: str = typer.Option("", help="A night's number; all nights by default."),
    *,
    as_json: bool = JSON_FLAG,
) -> None:
    """See what another level would have done with the recorded proposals.

    Example: midwatch rehearse --level full
    """
    answer = client.get("/rehearse", level=level, night=night)
    if as_json:
        show_json(answer)
        return
    head(f"{some(len(answer['rows']), 'recorded proposal')} at level {level}")
    if not answer["rows"]:
        return
    lines = [
        (
            row["kind"],
            f"at {row['level']}: {DECIDED[row['then']['outcome']]}",
            DECIDED[row["would"]["outcome"]],
            row["would"]["reason"],
        )
        for row in answer["rows"]
    ]
    table(lines, "act", "then", "would", "because")
    typer.echo(f"{answer['more']} would go further, {answer['less']} less far.")


VERBS = verbs(replay=replay, why=why, rehearse=rehearse)
