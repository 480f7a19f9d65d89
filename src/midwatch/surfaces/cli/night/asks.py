"""`asks`: what needs you, and your answers."""

import sys
from typing import Any

import typer

from midwatch.errors import Refused
from midwatch.surfaces.cli.main import verbs
from midwatch.surfaces.cli.shell import asks_shown, client
from midwatch.surfaces.cli.shell.screen import JSON_FLAG, answered, bad, clock, exactly, head, line, show_json, wanted
from midwatch.views.text.plain import spaced

SILENCE = "If you do not answer"
LIST = "list"
"""Every noun has it; an ask is named by its number, so that the word is free."""


def asks(
    number: str = typer.Argument("", help="Show this one; list, or nothing, lists them all."),
    answer: list[str] = typer.Argument(None, help="Answer it."),
    text: str = typer.Option("", help="A comment with the answer."),
    *,
    all_of_them: bool = typer.Option(False, "--all", help="Include settled ones."),
    as_json: bool = JSON_FLAG,
) -> None:
    """List what needs you, show one, or answer it.

    Example: midwatch asks 3 approve
    """
    if answer and number != LIST:
        row = _answered(number, " ".join(answer), text)
        show_json(row) if as_json else typer.echo(f"Ask {row['number']}: {row['answer']}. Thank you.")
    elif number and number != LIST:
        row = client.get(f"/asks/{client.part(number)}")
        show_json(row) if as_json else show_ask(row)
        asks_shown.remember([row])
    else:
        rows = client.get("/asks", all=str(all_of_them).lower())
        show_json(rows) if as_json else show_asks(rows)
        if not (rows or as_json):
            typer.echo("Nothing needs you.")


def _answered(number: str, answer: str, text: str) -> Any:
    """Send an answer, for exactly what this terminal printed: what it did not print, or not so, is printed first."""
    row = client.get(f"/asks/{client.part(number)}")
    if row["state"] == "open" and not asks_shown.was_shown(row):
        show_ask(row)
        asks_shown.remember([row])
        if not asks_shown.was_shown(row):  # printed into a file or another program
            why = f"This terminal has not shown ask {row['number']} as it is now."
            raise Refused(why, hint=f"Read it: midwatch asks {row['number']}")
        if not sys.stdin.isatty():
            why = f"Ask {row['number']} was not shown here as it is now. It is shown above."
            raise Refused(why, hint=f"Read it, then: midwatch asks {row['number']} {answer}")
        if answered(f"  Answer {answer}? [y/N] ").lower() not in {"y", "yes"}:
            raise Refused(f"Ask {row['number']} is not answered.", hint=f"Later: midwatch asks {row['number']}")
    body = {"answer": answer, "text": text, "shown_hash": row["shown_hash"]}
    return client.send("POST", f"/asks/{client.part(number)}/answer", body)


def show_asks(rows: list[dict[str, Any]]) -> None:
    """Print one ask with all that an answer covers; of several, what each asks and what silence means.

    Only what was printed whole counts as shown here, so `midwatch asks N yes` prints a shortened one first.
    """
    if len(rows) == 1:
        whole = client.get(f"/asks/{rows[0]['number']}")
        show_ask(whole)
        asks_shown.remember([whole])
        return
    for row in rows:
        typer.echo(wanted(f"Ask {row['number']}") + f"{_where(row)} · {spaced(row['kind'])} · {row['state']}")
        show_question(row)
        if row["state"] == "open":
            _show_silence(row)
            line(answers(row))
    if any(row["state"] == "open" for row in rows):
        typer.echo("All of one, before you answer: midwatch asks NUMBER")


def answers(row: dict[str, Any]) -> str:
    """Write the command that answers, with each answer there is."""
    return f"answer: midwatch asks {row['number']} {' | '.join(row['options']) or '...'}"


def _show_silence(row: dict[str, Any]) -> None:
    """Say what silence means, unless the question did."""
    if SILENCE not in row["what"] and not row["what"].endswith(row["silence_said"]):
        line(row["silence_said"])


def _where(row: dict[str, Any]) -> str:
    return f" · {row['project_name']}" if row["project_name"] else ""


def show_ask(row: dict[str, Any]) -> None:
    """Print one ask with everything needed for an answer."""
    head(f"Ask {row['number']}{_where(row)} · {spaced(row['kind'])} · {row['state']}")
    show_question(row, indent="")
    plan = row.get("plan")
    if plan:
        _show_plan(plan)
    elif row["rationale"]:
        line(row["rationale"], first="  why: ")
    if row["undo"]:
        line(row["undo"], first="  undo: ")
    if row["state"] == "open":
        _show_silence(row)
        best = f"recommended: {row['recommendation']}" if row["recommendation"] else ""
        due = f"open until {clock(row['due_at'])}" if row["due_at"] else ""
        if said := "; ".join(one for one in (best, due) if one):
            line(said)
        line(answers(row))
        if "edit" in row["options"]:
            line(f'midwatch asks {row["number"]} edit --text "..." returns it with the changes you want')
    else:
        typer.echo(f"  {spaced(row['answer'])} by {row['answered_by'] or 'silence'} {row['answer_text']}".rstrip())


def show_question(row: dict[str, Any], *, indent: str = "  ") -> None:
    """Print the question and, in full and line by line, what would run: an answer covers all of it."""
    line(row["what"], indent=indent)
    exactly(row["exactly"], indent=indent + "  | ")
    if row["outside"]:
        line(f"This plan goes outside your orders. {row['outside']}", first=bad("  ✕ "))


def _show_plan(plan: dict[str, Any]) -> None:
    for step in plan["approach"]:
        line(step, first="  plan: ")
    line(", ".join(plan["files"]), first="  files: ")  # all of them: an approval covers all of them
    for risk in plan["risks"]:
        line(risk, first="  risk: ")
    if plan["blast_radius"]:
        line(plan["blast_radius"], first="  blast radius: ")
    if plan["undo"]:
        line(plan["undo"], first="  undo, in the agent's words: ")


VERBS = verbs(asks=asks)
