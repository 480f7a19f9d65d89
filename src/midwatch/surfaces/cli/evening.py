"""`brief` and `start`: the evening's two verbs."""

import sys
from pathlib import Path
from typing import Any

import typer

from midwatch.surfaces.cli import client
from midwatch.surfaces.cli.main import verbs
from midwatch.surfaces.cli.screen import JSON_FLAG, head, show_json, wanted

REFUSED = "push to a protected branch, deploy, pay, mail strangers, merge without you"


def brief(
    *,
    file: Path | None = typer.Option(None, "--file", "-f", help="Orders to put down as tonight's draft; - for stdin."),
    example: bool = typer.Option(False, "--example", help="Print a file to begin with."),
    as_json: bool = JSON_FLAG,
) -> None:
    """Write tonight's orders, or show the draft that waits to be signed.

    Example: midwatch brief --example > orders.toml; midwatch brief --file orders.toml
    """
    if example:
        from midwatch.evening.orders_file import EXAMPLE  # noqa: PLC0415  only this flag needs it

        typer.echo(EXAMPLE, nl=False)
        return
    if file is not None:
        session = client.send("PUT", "/orders", {"toml": _read(file), "name": file.name})
    else:
        session = client.get("/orders")
    if as_json:
        show_json(session)
        return
    show_sheet(session)
    typer.echo(wanted("Sign and begin: midwatch start"))


def _read(file: Path) -> str:
    if str(file) == "-":
        return sys.stdin.read()
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        from midwatch.errors import Misuse  # noqa: PLC0415

        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise Misuse(f"{file} cannot be read: {reason}.", hint="Begin with: midwatch brief --example") from error


def show_sheet(session: dict[str, Any]) -> None:
    """Print the orders as one sheet: what, limits, permissions, what will not happen."""
    orders = session["orders"]
    limits, permissions = orders["limits"], orders["permissions"]
    head(f"Orders for night {session['number']} · level {orders['level']}")
    for goal in orders["goals"]:
        typer.echo(f"  goal: {goal}")
    for item in orders["work"]:
        scope = f" in {', '.join(item['paths'])}" if item["paths"] else ""
        typer.echo(f"  work: {item['project']}: {item['title']}{scope} ({item['agent']})")
    typer.echo(
        f"  limits: {limits['minutes']} min, {limits['usd']:g} USD, {limits['tokens']} tokens, "
        f"{limits['rounds']} rounds"
    )
    typer.echo(f"  may: {', '.join(permissions['tools'])}; outside: {', '.join(permissions['external']) or 'nothing'}")
    if orders["do_not_touch"]:
        typer.echo(f"  never touches: {', '.join(orders['do_not_touch'])}")
    silence = "counts as a yes after its deadline" if permissions["silence_approves"] else "is a no: the plan waits"
    typer.echo(f"  silence on a plan {silence}")
    typer.echo(f"  will not: {REFUSED}")


def start(*, as_json: bool = JSON_FLAG) -> None:
    """Sign the orders and begin the night: the one confirmation it needs.

    Example: midwatch start
    """
    session = client.send("POST", "/sessions/start")
    if as_json:
        show_json(session)
        return
    typer.echo(f"Night {session['number']} has begun at level {session['level']}. Follow it: midwatch watch")
    for seen in session["repositories"]:
        if seen["dirty"]:
            typer.echo(f"  {seen['path']}: {len(seen['dirty'])} uncommitted files stay out of it.")


VERBS = verbs(brief=brief, start=start)
