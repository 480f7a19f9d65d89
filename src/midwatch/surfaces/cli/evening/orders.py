"""`brief` and `start`: the evening's two verbs."""

import sys
from pathlib import Path
from typing import Any

import typer

from midwatch.errors import Misuse
from midwatch.surfaces.cli.main import verbs
from midwatch.surfaces.cli.shell import client
from midwatch.surfaces.cli.shell.screen import JSON_FLAG, agreed, head, line, moment, show_json, wanted
from midwatch.terms.figures import dollars, micros, some

REFUSED = "push to a protected branch, deploy, pay, send mail, merge without you"


def brief(
    *,
    file: Path | None = typer.Option(None, "--file", "-f", help="Orders to save as tonight's draft; - for stdin."),
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
        name = "standard input" if str(file) == "-" else file.name
        session = client.send("PUT", "/orders", {"toml": _read(file), "name": name})
    else:
        session = client.get("/orders")
    if as_json:
        show_json(session)
        return
    show_sheet(session)
    missing = [part for part in ("goals", "work") if not session["orders"][part]]
    if missing:
        typer.echo(
            wanted(f"Not complete: no {' and no '.join(missing)} yet. Add it and run midwatch brief --file again.")
        )
    else:
        typer.echo(wanted("Sign and begin: midwatch start"))


def _read(file: Path) -> str:
    try:
        if str(file) != "-":
            return file.read_text(encoding="utf-8")
        if sys.stdin is None:  # the shell closed it
            raise Misuse(
                "There is nothing to read: standard input is closed.", hint="Name a file: midwatch brief -f FILE"
            )
        return sys.stdin.read()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise Misuse(f"{file} cannot be read: {reason}.", hint="Begin with: midwatch brief --example") from error


def show_sheet(session: dict[str, Any]) -> None:
    """Print the orders as one sheet: what, limits, permissions, what will not happen."""
    # They bring pydantic; only the sheet needs them.
    from midwatch.views.pages.sheet import tonight_only  # noqa: PLC0415
    from midwatch.views.pages.tonight import allowed  # noqa: PLC0415

    orders = session["orders"]
    head(f"Orders for tonight · {_marked(orders, 'level ' + orders['level'], 'level')}")
    for goal in orders["goals"]:
        line(goal, first="  goal: ")
    for item in orders["work"]:
        scope = f" in {', '.join(item['paths'])}" if item["paths"] else ""
        where = ", ".join(item.get("projects") or [item["project"]])
        line(f"{where}: {item['title']}{scope} ({item['agent']})", first="  work: ")
        for command in item.get("done_when", ()):
            line(f"{command} passes", first="    done when: ")
    _show_limits(orders)
    permissions = orders["permissions"]
    outside = _marked(orders, ", ".join(map(allowed, permissions["external"])) or "nothing", "permissions.external")
    may = _marked(orders, ", ".join(map(allowed, permissions["tools"])) or "nothing", "permissions.tools")
    line(f"{may}; outside: {outside}", first="  may: ")
    if orders["do_not_touch"]:
        line(", ".join(orders["do_not_touch"]), first="  never touches: ")
    named = {name for item in orders["work"] for name in item.get("projects") or [item["project"]]}
    for row in client.get("/projects"):
        if row["name"] in named and row["do_not_touch"]:
            line(", ".join(row["do_not_touch"]), first=f"  never touches in {row['name']}: ")
    standing = client.get("/level")["level"]
    if standing != orders["level"]:
        typer.echo(f"  {tonight_only(orders['level'], standing)}")
    silence = "counts as approved after its deadline" if permissions["silence_approves"] else "waits for you"
    typer.echo("  " + _marked(orders, f"a plan without an answer {silence}", "permissions.silence_approves"))
    line(REFUSED, first="  will not: ")


def _show_limits(orders: dict[str, Any]) -> None:
    limits = orders["limits"]
    ceilings = (
        _marked(orders, f"{limits['minutes']} min", "limits.minutes"),
        _marked(orders, dollars(micros(limits["usd"])), "limits.usd"),
        _marked(orders, f"{limits['tokens']:,} tokens", "limits.tokens"),
        _marked(orders, f"{limits['rounds']} rounds", "limits.rounds"),
    )
    line(", ".join(ceilings), first="  limits: ")
    if orders["until"]:
        typer.echo(f"  until: {moment(orders['until'])}")


def _marked(orders: dict[str, Any], text: str, name: str) -> str:
    """Say of a line that no person wrote that it is the default."""
    return f"{text} (default)" if name in orders.get("unsaid", ()) else text


def start(
    *,
    anyway: bool = typer.Option(False, "--anyway", help="Sign although something is not ready."),
    no_preflight: bool = typer.Option(False, "--no-preflight", help="Sign without a preflight."),
    yes: bool = typer.Option(False, "--yes", help="Sign without a question, also where a line is worth a look."),
    as_json: bool = JSON_FLAG,
) -> None:
    """Run the preflight, sign the orders and start the night: the one confirmation it needs.

    On a terminal you are asked first if a line of the preflight is worth a look.

    Example: midwatch start
    """
    draft = client.send("GET", "/orders")  # needs the server, as signing does
    if not as_json:
        show_sheet(draft)
    if not no_preflight:
        from midwatch.surfaces.cli.evening.preflight import followed, refuse_unready, show_line  # noqa: PLC0415  this verb's

        found = followed(
            client.send("POST", "/preflight", {"to_sign": True, "anyway": anyway}), None if as_json else show_line
        )
        if not anyway:
            refuse_unready(found)
        if not (anyway or yes or as_json) and not _signs(found):
            typer.echo("Nothing was signed; the orders wait: midwatch start")
            return
    session = client.send("POST", "/sessions/start", {"shown_hash": draft["shown_hash"]})
    if as_json:
        show_json(session)
        return
    typer.echo(f"Night {session['number']} has begun at level {session['level']}.")
    names = {row["path"]: row["name"] for row in client.get("/projects")}
    for seen in session["repositories"]:
        if seen["dirty"]:
            project = names.get(seen["path"], seen["path"])
            line(f"{project}: {some(len(seen['dirty']), 'uncommitted file')} left out of it.")
    typer.echo("Follow it: midwatch watch")


def _signs(found: dict[str, Any]) -> bool:
    """Ask a person at a terminal for the signature if a line of the preflight is worth a look."""
    if not found["look"] or sys.stdin is None or not sys.stdin.isatty():
        return True
    typer.echo(found["said"])
    return agreed("Sign these orders and begin the night?")


VERBS = verbs(brief=brief, start=start)
