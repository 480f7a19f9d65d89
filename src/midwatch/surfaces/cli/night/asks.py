"""`asks`: what needs you, and your answers."""

import sys
from typing import Any

import typer

from midwatch.errors import Refused
from midwatch.surfaces.cli.main import verbs
from midwatch.surfaces.cli.shell import asks_shown, client
from midwatch.surfaces.cli.shell.screen import JSON_FLAG, answered, bad, clock, exactly, head, line, show_json, wanted

LIST = "list"
"""Every noun has it; an ask is named by its number, so that the word is free."""


def asks(
    number: str = typer.Argument("", help="Show this one; list, or nothing, lists them all."),
    answer: str = typer.Argument("", help="Answer it."),
    text: str = typer.Option("", help="A comment with the answer."),
    *,
    all_of_them: bool = typer.Option(False, "--all", help="Include settled ones."),
    as_json: bool = JSON_FLAG,
) -> None:
    """List what needs you, show one, or answer it.

    Example: midwatch asks 3 approve
    """
    if answer and number != LIST:
        row = _answered(number, answer, text)
        show_json(row) if as_json else typer.echo(f"Ask {row['number']}: {row['answer']}. Thank you.")
    elif number and number != LIST:
        row = client.get(f"/asks/{client.part(number)}")
        show_json(row) if as_json else show_ask(row)
        asks_shown.remember([row])
    else:
        rows = client.get("/asks", all=str(all_of_them).lower())
        asks_shown.remember(rows)
        if as_json:
            show_json(rows)
            return
        for row in rows:
            where = f" · {row['project_name']}" if row["project_name"] else ""
            typer.echo(wanted(f"Ask {row['number']}") + f"{where} · {_plain(row['kind'])} · {row['state']}")
            show_question(row)
        if not rows:
            typer.echo("Nothing needs you.")


def _answered(number: str, answer: str, text: str) -> Any:
    """Send an answer, for exactly what this terminal printed: what it did not print, or not so, is printed first."""
    row = client.get(f"/asks/{client.part(number)}")
    if row["state"] == "open" and not asks_shown.was_shown(row):
        show_ask(row)
        asks_shown.remember([row])
        if not sys.stdin.isatty():
            why = f"Ask {row['number']} was not shown here as it is now. It is shown above."
            raise Refused(why, hint=f"Read it, then: midwatch asks {row['number']} {answer}")
        if answered(f"  Answer {answer}? [y/N] ").lower() not in {"y", "yes"}:
            raise Refused(f"Ask {row['number']} is not answered.", hint=f"Later: midwatch asks {row['number']}")
    body = {"answer": answer, "text": text, "shown_hash": row["shown_hash"]}
    return client.send("POST", f"/asks/{client.part(number)}/answer", body)


def show_ask(row: dict[str, Any]) -> None:
    """Print one ask with everything needed for an answer."""
    head(f"Ask {row['number']} · {_plain(row['kind'])} · {row['state']}")
    show_question(row, indent="")
    if row["outside"]:
        line(f"This plan goes outside your orders. {row['outside']}", first=bad("  ✕ "))
    plan = row.get("plan")
    if plan:
        _show_plan(plan)
    elif row["rationale"]:
        line(row["rationale"], first="  why: ")
    if row["state"] == "open":
        line(row["silence_said"])
        due = f" until {clock(row['due_at'])}" if row["due_at"] else ""
        typer.echo(f"  recommended: {row['recommendation']}; answer {' or '.join(row['options'])}{due}")
        if "edit" in row["options"]:
            line(f'midwatch asks {row["number"]} edit --text "..." returns it with the changes you want')
    else:
        typer.echo(f"  {_plain(row['answer'])} by {row['answered_by'] or 'silence'} {row['answer_text']}".rstrip())


def show_question(row: dict[str, Any], *, indent: str = "  ") -> None:
    """Print the question and, in full and line by line, what would run: an answer covers all of it."""
    line(row["what"], indent=indent)
    exactly(row["exactly"], indent=indent + "  | ")


def _show_plan(plan: dict[str, Any]) -> None:
    for step in plan["approach"]:
        line(step, first="  plan: ")
    more = f" and {len(plan['files']) - 10} more" if len(plan["files"]) > 10 else ""
    line(f"{', '.join(plan['files'][:10])}{more}", first="  files: ")
    for risk in plan["risks"]:
        line(risk, first="  risk: ")
    for name in ("blast_radius", "undo"):
        if plan[name]:
            line(plan[name], first=f"  {_plain(name)}: ")


def _plain(word: str) -> str:
    return word.replace("_", " ")


VERBS = verbs(asks=asks)
