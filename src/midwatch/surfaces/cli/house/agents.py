"""`agent`: which agents can work, whether their models answer, and their credentials."""

import asyncio
from typing import Any

import typer

from midwatch.errors import Unavailable, Unknown
from midwatch.surfaces.cli.house import agent_logins
from midwatch.surfaces.cli.shell import client
from midwatch.surfaces.cli.shell.listing import lists
from midwatch.surfaces.cli.shell.screen import JSON_FLAG, bad, good, head, line, moment, show_json, table
from midwatch.terms.figures import some

app = typer.Typer(add_completion=False, rich_markup_mode=None)
CREDENTIALS = {"api_key": "API key", "oauth": "subscription token"}
NOT_ALL_ANSWER = 5


def list_agents(*, as_json: bool) -> None:
    """Print every agent: its program, model and credential, and what is missing before it can work."""
    show_agents(seen(), as_json=as_json)


lists(
    app,
    list_agents,
    "List every agent: its program, model and credential, and what is missing before it can work.",
    example="midwatch agent login claude",
)


@app.command("test")
def try_agents(
    names: list[str] = typer.Argument(None, help="Which agent; all configured ones by default."),
    *,
    whole: bool = typer.Option(
        True,
        "--program/--no-program",
        help="Have the program itself answer in its sandbox, too; some thousand tokens.",
    ),
    as_json: bool = JSON_FLAG,
) -> None:
    """Say hello to the model, and have the program itself answer in its sandbox; some thousand tokens each.

    Example: midwatch agent test claude
    """
    rows = {row["name"]: row for row in seen()}
    asked = names or [name for name, row in rows.items() if row["set_up"]]
    for name in asked:
        if name not in rows:
            raise Unknown(f"No agent is called {name}.", hint=f"There are {', '.join(rows)}.")
    whole = whole and client.server_answers()
    models = sum(bool(rows[name]["model"]) for name in asked)
    if models and not as_json:
        more = ", and some thousand more for its program" if whole else ""
        typer.echo(f"Saying hello to {some(models, 'model')}; each costs about a token{more}.")
    tested = []
    for name in asked:
        led = {"program_hello": _led(rows[name])} if whole else {}
        tested.append(rows[name] | {"hello": greeted(name)} | led)
        if not as_json:
            _show_tested(tested[-1])
    if as_json:
        show_json({"agents": tested, "ok": all(map(_well, tested))})
    if not all(map(_well, tested)):
        raise typer.Exit(NOT_ALL_ANSWER)


def seen() -> list[dict[str, Any]]:
    """Read the state of every agent; without a data folder, from the file and the environment alone."""
    try:
        rows: list[dict[str, Any]] = client.get("/agents")
    except Unavailable:
        if client.server_answers():
            raise
        from midwatch.compose.agent_status import roll  # noqa: PLC0415
        from midwatch.settings import load_settings  # noqa: PLC0415  heavy

        found = asyncio.run(roll(load_settings(client.home()).settings, client.home()))
        rows = [one.model_dump(mode="json") for one in found]
    return rows


def greeted(name: str) -> dict[str, Any]:
    """Say hello to an agent's model; from the server, or from here if there is none."""
    if client.server_answers():
        result: dict[str, Any] = client.send("POST", f"/agents/{client.part(name)}/hello")
        return result
    return asyncio.run(_greeted_here(name))


async def _greeted_here(name: str) -> dict[str, Any]:
    """Say hello from this process; Midwatch must have run once, since its settings are in the database too."""
    from midwatch.compose.agent_status import greet  # noqa: PLC0415
    from midwatch.compose.house import House  # noqa: PLC0415  heavy
    from midwatch.compose.read_side import has_database  # noqa: PLC0415

    if not has_database(client.home()):
        raise Unavailable(f"There is nothing in {client.home()} yet.", hint="Begin: midwatch up --detach")
    house = House(client.home())
    try:
        await house.reload_settings()
        return (await greet(house, name)).model_dump(mode="json")
    finally:
        await house.dispose()


def show_agents(rows: list[dict[str, Any]], *, as_json: bool) -> None:
    """Print agents: a line for each, then details of those set up."""
    if as_json:
        show_json(rows)
        return
    table(
        [(row["name"], _state(row), _version(row), _model(row)) for row in rows], "agent", "state", "version", "model"
    )
    if any(row["program"] and row["version"] for row in rows):
        line("tested: Midwatch's own tests ran with this version of the program", indent="")
    for row in rows:
        if row["set_up"]:
            typer.echo()
            _show_one(row)
    absent = [row for row in rows if not row["set_up"]]
    if absent:
        typer.echo()
        head("not set up")
    for row in absent:
        get = f"{row['install']}, then " if not row["program"] else ""
        line(f"{get}midwatch agent login {row['name']}", first=f"  {row['name']:<10}  ")


def _show_one(row: dict[str, Any]) -> None:
    head(row["name"])
    if row["program"]:
        version = f"version {row['version']}, " if row["version"] else ""
        line(f"{row['program']} ({version}{row['judged']})", first="  program     ")
    if row["model"]:
        place = f" at {row['base_url']}" if row["base_url"] else ""
        line(f"{row['model']} of {row['provider']}{place}", first="  model       ")
    if row["credential"]:
        kept = row["kept"] or "no address"
        line(f"{CREDENTIALS[row['credential']]} {row['secret']!r}, kept in {kept}", first="  credential  ")
    if row["governance"]:
        line(row["governance"], first="  governance  ")
    if row["missing"]:
        line(row["missing"], first="  missing     ")
    if row["proof"]:
        line(f"{row['proof']} {moment(row['proven_at'])}.", first="  last tried  ")
    elif not row["missing"] and row["program"]:
        line(f"never; midwatch agent test {row['name']} has it answer in its sandbox", first="  last tried  ")


def _state(row: dict[str, Any]) -> str:
    if not row["set_up"]:
        return "not set up"
    if row["missing"]:
        return "not ready"
    if row["ready"]:
        return "ready"
    return "does not answer" if row["proof"] else "not tried"


def _version(row: dict[str, Any]) -> str:
    if row["led"] == "housekeeper":
        return "built in"
    if not row["program"]:
        return "not here"
    if not row["version"]:
        return "unknown" if row["tested"] else "not asked"
    return f"{row['version']}, {'tested' if row['version'] in row['tested'] else 'not tested'}"


def _model(row: dict[str, Any]) -> str:
    return f"{row['model']} ({row['provider']})" if row["model"] and row["set_up"] else "-"


def _led(row: dict[str, Any]) -> dict[str, Any]:
    """Have the server run the program, however long that takes; the housekeeper is part of Midwatch."""
    if row["led"] == "housekeeper":
        return {"answers": True, "sentence": ""}
    result: dict[str, Any] = client.send("POST", f"/agents/{client.part(row['name'])}/errand", patience=None)
    return result


def _well(one: dict[str, Any]) -> bool:
    """A token that only its vendor's program may use can be tested only by that program."""
    by_program = one.get("program_hello")
    reserved = one["hello"]["heard"] == "reserved" and by_program is not None
    return bool(
        not one["missing"] and (one["hello"]["answers"] or reserved) and (by_program is None or by_program["answers"])
    )


def _show_tested(one: dict[str, Any]) -> None:
    mark = good("ok  ") if _well(one) else bad("no  ")
    typer.echo(f"{mark} {one['name']}")
    if one["program"]:
        line(f"{one['program']} {one['version']}".rstrip() + f" ({one['judged']})", indent="       ")
    by_program = one.get("program_hello", {}).get("sentence")
    for sentence in dict.fromkeys(said for said in (one["hello"]["sentence"], by_program) if said):
        line(sentence, indent="       ")
    if not by_program and one["hello"]["heard"] == "reserved":
        line(f"Ask by the program itself: midwatch agent test {one['name']}", indent="       ")
    elif "program_hello" not in one and one["program"]:
        line("The program itself was not tried.", indent="       ")


app.command("login")(agent_logins.login)
app.command("logout")(agent_logins.logout)
VERBS = {"agent": app}
