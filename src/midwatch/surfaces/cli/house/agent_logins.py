"""`agent login` and `agent logout`: a credential is asked for, tested with a hello, and only then stored."""

from typing import Any

import typer

from midwatch.errors import MidwatchError, Misuse, Refused, Unavailable, Unknown
from midwatch.surfaces.cli.house.settings_file import SecretLine
from midwatch.surfaces.cli.house.stored_secret import StoredSecret
from midwatch.surfaces.cli.shell import client
from midwatch.surfaces.cli.shell.screen import asked_hidden, good, line
from midwatch.surfaces.secret_names import COMMANDS

HOW = {
    "claude": (
        "An API key is made at https://console.anthropic.com and is paid by the token (--key).",
        "A subscription's token is printed by `claude setup-token`, run by yourself (--subscription).",
    ),
    "codex": (
        "An API key is made at https://platform.openai.com and is paid by the token (--key).",
        "A ChatGPT login does not work here yet: it opens only ChatGPT's own address, and Codex itself must renew it.",
    ),
}
OTHERS = (
    "It needs an API key of the provider whose model it asks; vendors allow subscriptions only in their own programs.",
)
TOKEN = "sk-ant-oat"  # noqa: S105 - how such tokens begin, not one


def login(
    name: str = typer.Argument(..., help="The agent, such as claude."),
    model: str = typer.Option("", "--model", help="The model to ask from now on."),
    from_: str = typer.Option("", "--from", help="Where it is stored: env:NAME, file:/path or cmd:COMMAND."),
    *,
    key: bool = typer.Option(False, "--key", help="It is an API key."),
    subscription: bool = typer.Option(False, "--subscription", help="It is a subscription's token."),
    keep: bool = typer.Option(False, "--keep", help="Store it even if the hello fails."),
) -> None:
    """Give an agent its credential: it is tested with a hello of about a token, and stored if that works.

    Example: midwatch agent login claude --subscription
    """
    if key and subscription:
        raise Misuse("A credential is a key or a subscription's token.", hint="Give one of --key and --subscription.")
    row = _known(name)
    _explain(row)
    given = {"credential": "oauth" if subscription else "api_key", "model": model}
    place = _place(name, from_, given, sure=key or subscription)
    try:
        path = f"/agents/{client.part(name)}"
        typer.echo("Saying hello with it; that costs about a token.")
        said = client.send("POST", f"{path}/trial", given | {"reference": place.tried})
        line(said["sentence"], indent="  ")
        given["model"] = said["chosen"]
        if not said["known"] and not keep:
            _refuse(name)
        place.settle()
        answer = client.send("PUT", f"{path}/credential", given | {"reference": place.kept})
    except BaseException:
        place.undo()
        raise
    place.done()
    _kept(name, place.kept, answer)


def logout(name: str = typer.Argument(..., help="The agent, such as claude.")) -> None:
    """Remove an agent's credential: the file that login made, and its settings.

    Example: midwatch agent logout claude
    """
    _known(name)
    answer = client.send("DELETE", f"/agents/{client.part(name)}/credential")
    if answer["shared_with"]:
        line(f"The credential stays for {', '.join(answer['shared_with'])}.", indent="")
    removed = not answer["shared_with"] and StoredSecret(client.home(), name).remove()
    if answer["still_from"]:
        line(f"agents.{name}.secret is still set by the {answer['still_from']}; remove it there.", indent="")
    elif not removed and not answer["changed"]:
        typer.echo(f"{name} had no credential here.")
    else:
        typer.echo(f"Removed the credential of {name}. Add one: midwatch agent login {name}")


class _Reference:
    """A credential that the person stores; Midwatch records only where."""

    def __init__(self, name: str, reference: str) -> None:
        self.tried = self.kept = reference
        self._line = SecretLine(client.home(), f"{name}{COMMANDS}")
        if reference.startswith("cmd:"):
            self._line.write(reference)

    def settle(self) -> None:
        """Nothing to move."""

    def done(self) -> None:
        """Nothing to clean up."""

    def undo(self) -> None:
        """Undo what was written for the test."""
        self._line.undo()


class _File:
    """A credential that is stored in the data folder."""

    def __init__(self, name: str, value: str) -> None:
        self._stored = StoredSecret(client.home(), name)
        self._stored.write(value)
        self.tried, self.kept = f"file:{self._stored.fresh}", f"file:{self._stored.path}"
        self.settle, self.done, self.undo = self._stored.settle, self._stored.done, self._stored.undo


def _known(name: str) -> dict[str, Any]:
    """Find the agent at the server before asking for a secret."""
    if not client.server_answers():
        raise Unavailable("Midwatch is not running.", hint="Start it: midwatch up --detach")
    rows = {row["name"]: row for row in client.get("/agents")}
    if name not in rows or name == "housekeeper":
        others = ", ".join(sorted(set(rows) - {"housekeeper"}))
        raise Unknown(f"No agent called {name} takes a credential.", hint=f"There are {others}.")
    found: dict[str, Any] = rows[name]
    return found


def _explain(row: dict[str, Any]) -> None:
    for sentence in HOW.get(row["led"], OTHERS):
        line(sentence, indent="")


def _place(name: str, from_: str, given: dict[str, str], *, sure: bool) -> "_Reference | _File":
    """Take the reference, or ask for the value; without a flag its first characters decide its kind."""
    if from_:
        if from_.partition(":")[0] not in {"env", "file", "cmd"}:
            # Not repeated: it may be the secret itself.
            raise Misuse(
                "--from names where the secret is stored, not its value.", hint="env:NAME, file:/path or cmd:..."
            )
        return _Reference(name, from_)
    prompt = f"Paste {name}'s credential (it is not shown): "
    value = asked_hidden(prompt, hint=f"midwatch agent login {name}")
    looks = "oauth" if value.startswith(TOKEN) else "api_key"
    if sure and given["credential"] == "api_key" and looks == "oauth":
        raise Misuse(
            "That is a subscription's token, not an API key.", hint=f"midwatch agent login {name} --subscription"
        )
    if not sure:
        given["credential"] = looks
    return _File(name, value)


def _refuse(name: str) -> None:
    raise Refused(
        "Nothing was stored.", hint=f"Try again: midwatch agent login {name}; or store it anyway with --keep."
    )


def _kept(name: str, place: str, answer: dict[str, Any]) -> None:
    typer.echo(good(f"Kept: {place}"))
    for key, source in answer["overruled"].items():
        line(f"{key} is overridden by the {source} and has no effect until it is removed there.", indent="")
    try:
        row = _known(name)
    except MidwatchError:
        return
    if row["missing"]:
        line(f"Before it can work: {row['missing']}", indent="")
    else:
        line(f"{name} has its credential. See it answer in its sandbox: midwatch agent test {name}", indent="")
