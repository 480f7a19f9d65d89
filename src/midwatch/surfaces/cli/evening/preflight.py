"""`preflight`: whether everything the night will need is ready; prints each line with what to do about it."""

from collections.abc import Callable
from typing import Any

import typer

from midwatch.errors import Refused
from midwatch.surfaces.cli.main import verbs
from midwatch.surfaces.cli.shell import client
from midwatch.surfaces.cli.shell.screen import JSON_FLAG, bad, good, line, show_json, wanted

MARKS = {"ok": good("ok  "), "look": wanted("look"), "bad": bad("bad ")}
WAIT_SECONDS = 20
Shown = dict[str, Any]


def preflight(*, as_json: bool = JSON_FLAG) -> None:
    """Try everything tonight's orders need: clone, setup, checks, push, agents, channels, this machine.

    Example: midwatch preflight
    """
    begun = client.send("POST", "/preflight", {})
    result = followed(begun, None if as_json else show_line)
    if as_json:
        show_json(result)
    else:
        typer.echo(result["said"])
        if result["settings"]:
            keys = ", ".join(one["key"] for one in result["settings"])
            typer.echo(f"The preflight names settings that would help ({keys}): midwatch settings propose --apply")
        if ready(result):
            typer.echo(wanted("Sign and begin: midwatch start"))
    if not ready(result):
        raise typer.Exit(Refused.exit_code)


def ready(result: Shown) -> bool:
    """Return whether nothing bad was found."""
    return not result["bad"] and not result["error"]


def followed(begun: Shown, show: Callable[[Shown], None] | None) -> Shown:
    """Follow a preflight to its end, and pass on each line as it comes."""
    answer, seen = begun, set[tuple[str, str]]()
    while True:
        for one in answer["lines"]:
            if (one["subject"], one["what"]) not in seen:
                seen.add((one["subject"], one["what"]))
                if show is not None:
                    show(one)
        if answer["state"] != "running":
            return answer
        answer = client.wait_for(f"/preflight/{client.part(answer['id'])}", seen=len(seen), wait=WAIT_SECONDS)


def show_line(one: Shown) -> None:
    """Print one line, and under it what to do."""
    line(f"{one['subject']}, {one['what']}: {one['text']}", first=f"{MARKS[one['state']]} ")
    if one["fix"] and one["state"] != "ok":
        line(one["fix"], first=" " * 7)


def refuse_unready(result: Shown) -> None:
    """Say what prevents a signature, and the two ways to continue."""
    if not ready(result):
        raise Refused(result["said"], hint="Fix it, or sign anyway: midwatch start --anyway")


VERBS = verbs(preflight=preflight)
