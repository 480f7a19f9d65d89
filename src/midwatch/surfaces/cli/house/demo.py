"""`demo`: one compressed night on a sample repository, nothing faked."""

import json
import shlex
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import typer

from midwatch.surfaces.cli.main import verbs
from midwatch.surfaces.cli.shell import client
from midwatch.surfaces.cli.shell.screen import good, head, line, wanted


def demo(
    *,
    as_json: bool = typer.Option(False, "--json", help="End with one JSON line; no colours before it."),
    keep: Path | None = typer.Option(None, "--home", help="The demo's own data folder; <data folder>/demo by default."),
) -> None:
    """Run one compressed night on a sample repository: orders, plan, work, checks, pull request, brief, review.

    Example: midwatch demo
    """
    import asyncio  # noqa: PLC0415  only the demo and the server run a loop

    from midwatch.surfaces.demo.demo_night import DemoNight  # noqa: PLC0415  heavy

    began = time.monotonic()
    home = (keep or client.home() / "demo").absolute()
    with _progress(alive=sys.stdout.isatty() and not as_json) as now:

        def say(kind: str, text: str) -> None:
            if kind == "now":
                now(text)
            elif as_json:
                typer.echo(text.strip(), err=True)
            else:
                _say(kind, text)

        result = asyncio.run(DemoNight(home, say=say).run())
    seconds = round(time.monotonic() - began, 1)
    if as_json:
        typer.echo(json.dumps(result | {"seconds": seconds}))
        return
    _ending(home, seconds)


def _say(kind: str, text: str) -> None:
    """Print one line of progress as it happens."""
    match kind:
        case "step":
            typer.echo("")
            head(text)
        case "demo":
            typer.echo(wanted(f"  demo: {text}"))
        case "good":
            typer.echo(good(f"  {text}"))
        case "entry":
            line(text[7:], first=f"  {text[:7]}")
        case _:
            line(text, indent="    " if text.startswith("  ") else "  ")


@contextmanager
def _progress(*, alive: bool) -> Iterator[Callable[[str], None]]:
    """Keep one live line under the others on a terminal: what is being done right now."""
    if not alive:
        yield lambda _: None
        return
    from rich.console import Console  # noqa: PLC0415  heavy, and only for a terminal

    with Console().status("starting") as live:
        yield live.update


def _ending(home: Path, seconds: float) -> None:
    mine = f"MIDWATCH_HOME={shlex.quote(str(home))} {_called()}"
    typer.echo("")
    head(f"That was a night, in {seconds:g} s. Look around:")
    typer.echo(f"  the diff        {mine} job diff 1")
    typer.echo(f"  every entry     {mine} replay")
    typer.echo(f"  why this?       {mine} why 1")
    typer.echo(f"  another level   {mine} rehearse --level full")
    typer.echo(f"  does it add up? {mine} doctor --verify --invariants")


def _called() -> str:
    """Return the command that starts Midwatch from this shell, so that the lines below can be copied."""
    if shutil.which("midwatch"):
        return "midwatch"
    script = Path(sys.executable).with_name("midwatch")
    return shlex.quote(str(script)) if script.exists() else f"{shlex.quote(sys.executable)} -m midwatch"


VERBS = verbs(demo=demo)
