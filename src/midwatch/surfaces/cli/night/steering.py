"""`pause`, `resume`, `stop`, `say`, `think`, `level`."""

import typer

from midwatch.surfaces.cli.main import verbs
from midwatch.surfaces.cli.shell import client
from midwatch.surfaces.cli.shell.screen import JSON_FLAG, line, show_json
from midwatch.terms.figures import some


def pause(why: str = typer.Option("", help="Shown in the status.")) -> None:
    """Pause the loop; running jobs continue.

    Example: midwatch pause
    """
    session = client.send("POST", "/sessions/current/pause", {"text": why})
    typer.echo(f"Night {session['number']} is paused. Resume it: midwatch resume")


def resume() -> None:
    """Resume the loop.

    Example: midwatch resume
    """
    session = client.send("POST", "/sessions/current/resume")
    typer.echo(f"Night {session['number']} is resumed.")


def stop(why: str = typer.Option("", help="Shown in the brief.")) -> None:
    """End the night: jobs are stopped with their work kept, and the brief is written.

    Example: midwatch stop
    """
    session = client.send("POST", "/sessions/current/stop", {"text": why})
    typer.echo(f"Night {session['number']} ends. The brief follows: midwatch morning")


def say(text: str) -> None:
    """Send the night a message; it pauses until you resume it.

    Example: midwatch say "leave the parser alone"
    """
    session = client.send("POST", "/sessions/current/say", {"text": text})
    line(session["answer"], indent="")
    typer.echo(f"Night {session['number']} is paused. Then: midwatch resume, or midwatch stop")


def think() -> None:
    """Call a round now.

    Example: midwatch think
    """
    session = client.send("POST", "/sessions/current/think")
    typer.echo(f"Round {session['rounds']} begins.")


def level(
    wanted: str = typer.Argument("", help="observe, cautious, moderate or full; leave it out to show it"),
    *,
    force: bool = typer.Option(False, "--force", help="Override the required track record; needs a reason."),
    reason: str = typer.Option("", help="Why; kept in the journal."),
    as_json: bool = JSON_FLAG,
) -> None:
    """Show or set what the night may do without asking.

    Example: midwatch level cautious
    """
    if not wanted:
        now = client.get("/level")
    else:
        now = client.send("PUT", "/level", {"level": wanted, "force": force, "reason": reason})
    if as_json:
        show_json(now)
        return
    typer.echo(f"Level {now['level']}.")
    if now["tonight"] not in {None, now["level"]}:
        typer.echo(f"  This night runs at {now['tonight']}; the standing level is {now['level']}.")
    if "observed_rounds" in now:
        typer.echo(
            f"  seen so far: {some(now['observed_rounds'], 'valid round')} at observe, "
            f"{some(now['clean_nights'], 'clean night')}"
        )


VERBS = verbs(pause=pause, resume=resume, stop=stop, say=say, think=think, level=level)
