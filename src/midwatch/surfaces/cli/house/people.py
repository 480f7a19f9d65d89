"""`person` and `token`: who may log in, and what programs may do for them."""

from typing import Any

import typer

from midwatch.surfaces.cli.shell import client
from midwatch.surfaces.cli.shell.listing import lists
from midwatch.surfaces.cli.shell.screen import JSON_FLAG, Columns, day, show_json, show_rows

person = typer.Typer(add_completion=False, rich_markup_mode=None)
token = typer.Typer(add_completion=False, rich_markup_mode=None)


def list_people(*, as_json: bool) -> None:
    columns: Columns = {
        "person": "number",
        "name": "name",
        "role": "role",
        "last here": lambda row: day(row["last_entered_at"] or row["created_at"]),
    }
    none = "No logins yet. Make a link: midwatch person link --role owner"
    show_rows(client.get("/people"), none, columns, as_json=as_json)


lists(person, list_people, "List who may log in.", example="midwatch person link --role approver")


@person.command()
def link(
    name: str = typer.Argument("", help="Whose password it resets; leave out for a new person."),
    role: str = typer.Option("viewer", help="viewer, approver, operator or owner"),
    *,
    as_json: bool = JSON_FLAG,
) -> None:
    """Make a one-time link; the first to open it chooses name and password.

    Example: midwatch person link --role approver
    """
    made = client.send("POST", "/people/links", {"role": role, "person": name})
    address = client.get("/status")["pages"] + made["path"]
    if as_json:
        show_json({"url": address, "hours": made["hours"]})
    else:
        typer.echo(f"Open this once within {made['hours']:g} hours: {address}")


@person.command("role")
def set_role(name: str, role: str) -> None:
    """Change a person's role.

    Example: midwatch person role ann operator
    """
    row = client.send("PATCH", f"/people/{client.part(name)}", {"role": role})
    typer.echo(f"{row['name']} is {row['role']}.")


@person.command()
def remove(name: str) -> None:
    """Remove a person's access; their logins and tokens end now.

    Example: midwatch person remove ben
    """
    row = client.send("DELETE", f"/people/{client.part(name)}")
    typer.echo(f"Removed the access of {row['name']}. Restore it: midwatch person link --role {row['role']}")


def list_tokens(*, as_json: bool) -> None:
    columns: Columns = {
        "token": "number",
        "name": "name",
        "scopes": lambda row: " ".join(row["scopes"]),
        "valid": _valid,
    }
    none = "No tokens yet. Make one: midwatch token new NAME --person WHO"
    show_rows(client.get("/tokens"), none, columns, as_json=as_json)


def _valid(row: dict[str, Any]) -> str:
    if row["revoked"]:
        return "revoked"
    return f"until {day(row['expires_at'])}" if row["expires_at"] else "no end"


lists(
    token,
    list_tokens,
    "List what programs may do.",
    example="midwatch token new dashboard --person ann --scope read",
)


@token.command("new")
def new_token(
    name: str,
    person_: str = typer.Option(..., "--person", help="The person it acts for."),
    scope: list[str] = typer.Option(["read"], help="read, answer, operate, govern; may be repeated."),
    days: int = typer.Option(90, help="How long it is valid; 0 means without end."),
    *,
    as_json: bool = JSON_FLAG,
) -> None:
    """Make a token for a program; its secret is shown once.

    Example: midwatch token new dashboard --person ann --scope read
    """
    body = {"name": name, "person": person_, "scopes": scope, "days": days or None}
    made = client.send("POST", "/tokens", body)
    if as_json:
        show_json(made)
    else:
        typer.echo(f"Token {made['number']} ({' '.join(made['scopes'])}). Keep its secret; it is shown only now:")
        typer.echo(made["secret"])


@token.command()
def revoke(name: str) -> None:
    """Revoke a token.

    Example: midwatch token revoke 1
    """
    row = client.send("DELETE", f"/tokens/{client.part(name)}")
    typer.echo(f"Token {row['number']} ({row['name']}) is revoked.")


VERBS = {"person": person, "token": token}
