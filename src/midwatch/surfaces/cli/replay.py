"""`replay`, `why`, `rehearse`."""

from typing import Any

import typer

from midwatch.surfaces.cli import client
from midwatch.surfaces.cli.main import verbs
from midwatch.surfaces.cli.screen import JSON_FLAG, clock, head, show_json, table


def replay(
    night: str = typer.Option("", help="A night's number; everything by default."),
    tag: str = typer.Option("", help="Only: writes, errors, assumptions, evidence or decisions."),
    *,
    as_json: bool = JSON_FLAG,
) -> None:
    """Go through the night, entry by entry.

    Example: midwatch replay --night 1 --tag decisions
    """
    rows = client.get("/replay", night=night, tag=tag)
    if as_json:
        show_json(rows)
        return
    for row in rows:
        if "seconds" in row:
            typer.echo(typer.style(f"          ... {row['seconds'] / 60:.0f} quiet minutes", dim=True))
        else:
            typer.echo(f"{clock(row['at'])}  {row['seq']:>5}  {row['phase']:<8} {row['text']}")


def why(
    name: str = typer.Argument(
        ..., help="A recommendation's place in the brief (1, 2, 3) or id, or an entry's number."
    ),
    *,
    as_json: bool = JSON_FLAG,
) -> None:
    """Ask why something happened, or why we recommend it.

    Example: midwatch why 42
    """
    if name.isdigit() and int(name) <= 3:
        known = client.get("/morning")["recommendations"]
        if int(name) <= len(known):
            name = known[int(name) - 1]["id"]
    told = client.get(f"/why/{client.part(name)}")
    if as_json:
        show_json(told)
    elif "causes" in told:
        _show_entry(told)
    else:
        _show_advice(told)


def _show_entry(told: dict[str, Any]) -> None:
    head(f"{told['seq']}  {told['text']}")
    for step in told["causes"]:
        typer.echo(f"  because {step['seq']:>5}  {step['text']}")
    for step in told["consequences"]:
        typer.echo(f"  led to  {step['seq']:>5}  {step['text']}")


def _show_advice(told: dict[str, Any]) -> None:
    head(told["text"])
    typer.echo(f"  {told['confidence']:.0%} sure{' (hypothesis)' if told['hypothesis'] else ''}: {told['rests_on']}")
    for one in told["evidence"]:
        typer.echo(f"  evidence   {one['citation']} {one['notes']}".rstrip())
    for one in told["tradeoffs"]:
        typer.echo(f"  tradeoff   {one}")
    typer.echo(f"  work item  {told['work_item']}")
    for goal in told["goals"]:
        typer.echo(f"  goal       {goal}")
    for part in ("plan", "approved", "signed"):
        typer.echo(f"  {part:<9}  {told[part]}")
    for reason in told["reasons"]:
        typer.echo(f"  gate       {told['outcome']}: {reason}")


def rehearse(
    level: str = typer.Option(..., help="observe, cautious, moderate or full"),
    night: str = typer.Option("", help="A night's number; all nights by default."),
    *,
    as_json: bool = JSON_FLAG,
) -> None:
    """See what another level would have done with the recorded proposals.

    Example: midwatch rehearse --level full
    """
    told = client.get("/rehearse", level=level, night=night)
    if as_json:
        show_json(told)
        return
    head(f"{len(told['rows'])} recorded proposals at level {level}")
    lines = [
        (row["kind"], f"{row['then']['outcome']} at {row['level']}", row["would"]["outcome"], row["would"]["reason"])
        for row in told["rows"]
    ]
    table(lines, "act", "then", "would", "because")
    typer.echo(f"{told['more']} would go further, {told['less']} less far.")


VERBS = verbs(replay=replay, why=why, rehearse=rehearse)
