"""`channel`: ways to reach the person besides the log, by Apprise; their URLs are secrets."""

import asyncio
from typing import Any

import typer

from midwatch.errors import Unavailable, Unknown
from midwatch.settings.folder import close_to_others
from midwatch.surfaces.cli.house import extras, settings_file
from midwatch.surfaces.cli.house.stored_secret import StoredSecret
from midwatch.surfaces.cli.shell import client
from midwatch.surfaces.cli.shell.listing import lists
from midwatch.surfaces.cli.shell.screen import JSON_FLAG, asked_hidden, bad, good, head, line, moment, show_json, table

app = typer.Typer(add_completion=False, rich_markup_mode=None)
NOT_TAKEN = 5
ENVIRONMENT = "env:"
PLACES = (ENVIRONMENT, "cmd:", "file:")


def list_channels(*, as_json: bool) -> None:
    show_channels(seen(), as_json=as_json)


lists(
    app,
    list_channels,
    "List every channel: its kind, its tiers, whether it accepted its last message.",
    example="midwatch channel add phone",
)


@app.command("add")
def add(
    name: str = typer.Argument(..., help="What you call it, such as phone."),
    url: str = typer.Argument("", help="Its Apprise URL, or where it is stored: env:NAME, file:/path or cmd:COMMAND."),
    tiers: str = typer.Option("", "--tiers", help="Which notices it takes: urgent,action,summary."),
    *,
    quiet: bool = typer.Option(True, "--quiet/--no-quiet", help="Whether it keeps quiet hours."),
    yes: bool = typer.Option(False, "--yes", "-y", help="Install Apprise if it is missing, without a question."),
) -> None:
    """Add a channel, or change it: its URL is checked, and stored in a file that only you can read.

    Without a URL you are asked for it, so that it is not in your shell's history. Channels need Apprise; it is
    installed into the environment that Midwatch runs from, if you agree.

    Example: midwatch channel add phone env:PHONE_URL
    """
    from midwatch.settings.keys import key_named  # noqa: PLC0415  heavy

    key_named(f"channels.{name}.url")  # refuses an invalid name
    wanted = key_named(f"channels.{name}.tiers").read(tiers) if tiers else None
    extras.ensure("channels", "apprise", why="Channels", yes=yes, again=f"midwatch channel add {name}")
    prompt, hint = f"Paste {name}'s Apprise URL (it is not shown): ", f"midwatch channel add {name} URL"
    given = url.strip() or asked_hidden(prompt, hint=hint)
    kept = None if given.startswith(PLACES) else StoredSecret(client.home(), f"channel-{name}")
    service = _looked_at(name, given)
    reference = given
    if kept is not None:
        kept.write(given)
        kept.settle()
        reference = f"file:{kept.path}"
    try:
        _write(name, {"url": reference, "quiet": quiet} | ({"tiers": wanted} if wanted is not None else {}))
    except BaseException:
        if kept is not None:
            kept.undo()
        raise
    if kept is not None:
        kept.done()
    typer.echo(good(f"Stored: {name} is {service.kind} at {service.place}, its URL in {reference}"))
    if given.startswith(ENVIRONMENT):
        variable = given.removeprefix(ENVIRONMENT)
        line(f"The server reads ${variable} from its own environment: set it where you start midwatch up.", indent="")
    if client.server_answers():
        client.get("/channels")  # the server reads it
    line(f"Try it: midwatch channel test {name}", indent="")


@app.command("test")
def try_channel(
    name: str = typer.Argument(..., help="The channel."),
    *,
    as_json: bool = JSON_FLAG,
) -> None:
    """Send one test line to a channel, and say what happened.

    Example: midwatch channel test phone
    """
    if client.server_answers():
        result: dict[str, Any] = client.send("POST", f"/channels/{client.part(name)}/test")
    else:
        result = _tried_here(name)
    if as_json:
        show_json(result)
    else:
        line(result["sentence"], first=good("ok  ") if result["ok"] else bad("no  "))
        if result["hint"]:
            line(result["hint"], indent="    ")
    if not result["ok"]:
        raise typer.Exit(NOT_TAKEN)


@app.command("remove")
def remove(name: str = typer.Argument(..., help="The channel.")) -> None:
    """Remove a channel and the file with its URL; its waiting notices stay in the log.

    Example: midwatch channel remove phone
    """
    home = client.home()
    text = settings_file.read(home)
    changed = settings_file.without_table(text, f"channels.{name}")
    had_file = StoredSecret(home, f"channel-{name}").remove()
    if changed != text:
        settings_file.put(home, changed)
    elif not had_file:
        raise Unknown(f"There is no channel {name} in {settings_file.FILE}.", hint="midwatch channel list")
    if client.server_answers():
        client.get("/channels")
    typer.echo(f"{name} is removed.")


def seen() -> list[dict[str, Any]]:
    """Read the state of every channel; without a data folder, only what the file says."""
    try:
        rows: list[dict[str, Any]] = client.get("/channels")
    except Unavailable:
        if client.server_answers():
            raise
        from midwatch.settings import load_settings  # noqa: PLC0415  heavy
        from midwatch.surfaces.queries.channels import untried  # noqa: PLC0415

        names = load_settings(client.home()).settings.channels.by_name()
        rows = [untried(name, one).model_dump(mode="json") for name, one in names.items()]
    return rows


def show_channels(rows: list[dict[str, Any]], *, as_json: bool) -> None:
    """Print channels: a line for each, then what is wrong with any."""
    if as_json:
        show_json(rows)
        return
    if not rows:
        typer.echo("Notices go to the log only (notices.log in the data folder).")
        line("Get notices on your phone or by mail: midwatch channel add phone", indent="")
        return
    table(
        [(row["name"], row["kind"] or "-", _takes(row), row["said"] + _when(row)) for row in rows],
        *("channel", "service", "takes", "last"),
    )
    for row in rows:
        wrong = [row["problem"], row["hint"] if row["problem"] else "", row["unsent"]]
        if any(wrong):
            head(row["name"])
        for said in filter(None, wrong):
            line(said)


def _takes(row: dict[str, Any]) -> str:
    return (", ".join(row["tiers"]) or "nothing") + ("" if row["quiet"] else "; no quiet hours")


def _when(row: dict[str, Any]) -> str:
    at = f", {moment(row['last_at'])}" if row["last_at"] else ""
    return at + (f"; {row['waiting']} waiting" if row["waiting"] else "")


def _looked_at(name: str, given: str) -> Any:
    """Check that Apprise understands the URL before it is stored."""
    from midwatch.compose.local_checks import read_channel, read_channel_secret  # noqa: PLC0415  heavy
    from midwatch.terms.secrets import SecretReference  # noqa: PLC0415

    if not given.startswith(PLACES):
        return read_channel(given)
    return asyncio.run(read_channel_secret(name, SecretReference.read(given)))


def _write(name: str, values: dict[str, object]) -> None:
    home = client.home()
    text = settings_file.read(home)
    for about, value in values.items():
        text = settings_file.with_value(text, f"channels.{name}", about, value)
    close_to_others(home)
    settings_file.put(home, text)


def _tried_here(name: str) -> dict[str, Any]:
    """Send from this process, with the settings of the file and the environment."""
    from midwatch.compose.local_checks import push_from_here  # noqa: PLC0415  heavy
    from midwatch.errors import MidwatchError  # noqa: PLC0415
    from midwatch.settings import load_settings  # noqa: PLC0415
    from midwatch.surfaces.queries.channels import HELLO, ChannelTried, taken  # noqa: PLC0415

    try:
        asyncio.run(push_from_here(load_settings(client.home()).settings, name, "Midwatch", HELLO))
    except MidwatchError as error:
        return ChannelTried(name=name, ok=False, sentence=error.message, hint=error.hint).model_dump(mode="json")
    return taken(name).model_dump(mode="json")


VERBS = {"channel": app}
