"""`midwatch`: a verb's module is loaded when it is called, so that short commands start fast."""

import importlib
import json
import sys
from typing import Any

import typer
import typer.core
import typer.main
from typer._click import exceptions as usage  # typer offers no other way

from midwatch.errors import NO_ROOM, Broken, Exhausted, MidwatchError, Misuse
from midwatch.settings.folder import keep_files_private
from midwatch.surfaces.cli.quick import spare

VERBS = {
    "up": ("house.server", "Start the server here, or in the background."),
    "down": ("house.server", "Stop the server."),
    "demo": ("house.demo", "Run one compressed night on a sample repository."),
    "doctor": ("house.doctor", "Check this machine, the data folder and the journal."),
    "project": ("evening.projects", "Registered repositories."),
    "goal": ("evening.goals", "What the projects are for."),
    "work": ("evening.goals", "Work items."),
    "brief": ("evening.orders", "Write tonight's orders."),
    "preflight": ("evening.preflight", "Try everything tonight's orders need."),
    "start": ("evening.orders", "Sign the orders and begin the night."),
    "code": ("jobs.code", "One sentence to a pull request, now; no night needed."),
    "status": ("night.status", "The current state, in a few lines."),
    "watch": ("night.status", "Follow the night as it happens."),
    "pause": ("night.steering", "Pause the loop; running jobs continue."),
    "resume": ("night.steering", "Resume the loop."),
    "stop": ("night.steering", "End the night and write the brief."),
    "say": ("night.steering", "Send the night a message; it pauses until you resume it."),
    "think": ("night.steering", "Call a round now."),
    "level": ("night.steering", "Show or set what the night may do without asking."),
    "asks": ("night.asks", "What needs you; answer by number."),
    "job": ("jobs.jobs", "Jobs: list, show, log, diff, open, attach, resume, merge, stop."),
    "pr": ("jobs.jobs", "Pull requests."),
    "run": ("jobs.jobs", "Runs with their scores."),
    "night": ("night.nights", "Nights: how each went."),
    "morning": ("morning.review", "The brief."),
    "review": ("morning.review", "Give your verdicts, by keys or by flags."),
    "stack": ("morning.stacks", "Which branches of the night go together; merge them as one."),
    "authority": ("morning.review", "What each domain has earned."),
    "replay": ("morning.replay", "The night, entry by entry."),
    "why": ("morning.replay", "Why this entry, or this recommendation?"),
    "rehearse": ("morning.replay", "What another level would have done."),
    "person": ("house.people", "Who may log in, and with which role."),
    "token": ("house.people", "What programs may do for a person."),
    "agent": ("house.agents", "Agents: list, test, login, logout."),
    "forge": ("house.forges", "Where pull requests are opened."),
    "channel": ("house.channels", "Channels: add, test, list, remove."),
    "settings": ("house.settings", "Every setting with its source; propose, diff, apply."),
}
"""Each verb with its module and its line in the overview."""


class LazyGroup(typer.core.TyperGroup):
    """Knows every verb's name and line, and loads a verb's module only to run it."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002  typer calls it so
        """Keep the order of the day."""
        return list(VERBS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Load one verb."""
        if cmd_name not in VERBS:
            return None
        module, _ = VERBS[cmd_name]
        loaded = importlib.import_module(f"midwatch.surfaces.cli.{module}")
        command = typer.main.get_command(loaded.VERBS[cmd_name])
        command.name = cmd_name
        if ctx.resilient_parsing:  # a shell asks what could be typed
            from midwatch.surfaces.cli.shell.completion import complete_names  # noqa: PLC0415  only completion needs it

            complete_names(command, ctx, cmd_name)
        return spare(command, ctx)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002  typer calls it so
        """Write the overview from the lines here: no verb is loaded for it, however this program was started."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in VERBS.items()])

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        """Offer the verbs without loading them."""
        from typer._click.shell_completion import CompletionItem  # noqa: PLC0415  typer offers no other way

        offered = [CompletionItem(name, help=line) for name, (_, line) in VERBS.items() if name.startswith(incomplete)]
        return [*offered, *super(typer.core.TyperGroup, self).shell_complete(ctx, incomplete)]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the global flags without loading anything."""
        spare(self, ctx)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run a verb; whatever goes wrong is said in one form, as JSON where JSON was asked for."""
        words = [*ctx._protected_args, *ctx.args]  # noqa: SLF001  typer keeps the verb there
        typed = words[: words.index("--")] if "--" in words else words
        try:
            return super().invoke(ctx)
        except usage.NoArgsIsHelpError:
            raise
        except usage.UsageError as error:
            from midwatch.surfaces.cli.shell.misused import misused  # noqa: PLC0415  only a mistake needs it

            wrong: MidwatchError = misused(error)
        except MidwatchError as error:
            wrong = error
        except BrokenPipeError:
            raise
        except OSError as error:
            wrong = plainly(error)
        show_error(wrong, as_json="--json" in typed)
        raise typer.Exit(wrong.exit_code)


app = typer.Typer(
    cls=LazyGroup, no_args_is_help=True, add_completion=True, rich_markup_mode=None, pretty_exceptions_enable=False
)


@app.callback(invoke_without_command=True)
def house(*, version: bool = typer.Option(False, "--version", help="Show the version and leave.")) -> None:
    """The night watch for coding and research agents.

    Example: midwatch demo
    """
    if version:
        from importlib.metadata import version as installed  # noqa: PLC0415  only this flag needs it

        typer.echo(f"midwatch {installed('midwatch')}")
        raise typer.Exit


def main() -> None:
    """Run; Midwatch's errors become one sentence, a hint and an exit code."""
    keep_files_private()
    try:
        app(prog_name="midwatch", standalone_mode=True)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)


def plainly(error: OSError) -> MidwatchError:
    """Describe what the operating system refused."""
    what = f"{error.filename}: {error.strerror}" if error.filename else error.strerror or str(error)
    if error.errno in NO_ROOM:
        return Exhausted(f"The disk is full ({what}).", hint="Free some space and do it again.")
    if isinstance(error, PermissionError | FileNotFoundError | NotADirectoryError | FileExistsError):
        return Misuse(f"{what}.", hint="Check the path; MIDWATCH_HOME names the data folder.")
    return Broken(f"The operating system refused: {what}.", hint="Check this machine: midwatch doctor")


def show_error(error: MidwatchError, *, as_json: bool = False) -> None:
    """Say what is wrong and what to do about it, on stderr; as JSON in the form that the API answers."""
    if as_json:
        said = {"code": error.code, "exit_code": error.exit_code, "message": error.message, "hint": error.hint}
        typer.echo(json.dumps({"error": said | {"because": error.because}}, ensure_ascii=False, indent=2), err=True)
        return
    typer.echo(typer.style("midwatch: ", fg="red") + error.message, err=True)
    for reason in error.because[1:]:
        typer.echo(f"  also: {reason}", err=True)
    if error.hint:
        typer.echo(f"  {error.hint}", err=True)


def verbs(**commands: Any) -> dict[str, Any]:
    """Wrap functions into single-command apps."""
    made = {}
    for name, function in commands.items():
        one = typer.Typer(add_completion=False, rich_markup_mode=None)
        one.command(name)(function)
        made[name] = one
    return made
