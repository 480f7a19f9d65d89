"""`code`: from one sentence to a pull request, now; with a server or without one."""

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import typer

from midwatch.errors import Misuse, Unknown
from midwatch.surfaces.cli.jobs.follow import Following, outcome, tell_end
from midwatch.surfaces.cli.jobs.interactive import refuse_without_a_terminal, sit_down
from midwatch.surfaces.cli.main import verbs
from midwatch.surfaces.cli.shell import client
from midwatch.surfaces.cli.shell.screen import JSON_FLAG, show_json

PATIENCE, LOOK_SECONDS = 30.0, 0.1
SHELL = "shell"
"""A plain shell and no agent; recorded as the housekeeper, which has no screen."""
LEFT = 130
"""The exit code of a command that was left with Ctrl-C, as in a shell."""


def code(  # noqa: PLR0913 - each is one plain word of one command
    sentence: str = typer.Argument("", help="What is to be done."),
    *,
    project: list[str] = typer.Option(
        [], "--project", "-p", help="Where; more than one for work that belongs together."
    ),
    agent: str = typer.Option("", "--agent", "-a", help="Which agent; by default the first one that uses a model."),
    usd: float | None = typer.Option(None, "--usd", min=0, help="Spend at most this much on each job."),
    minutes: int | None = typer.Option(None, "--minutes", min=1, help="Work at most this long on each job."),
    check: list[str] = typer.Option([], "--check", help="Must pass; by default the project's own checks."),
    done_when: list[str] = typer.Option([], "--done-when", help="Passes once it is done, such as 'make docs'."),
    path: list[str] = typer.Option([], "--path", help="Change nothing outside, such as 'src/**'."),
    tool: list[str] = typer.Option([], "--tool", help="Use only these tools, such as Read or 'Bash(npm run *)'."),
    follow: bool = typer.Option(False, "--follow", "-f", help="Follow it, and answer its questions here."),
    interactive: bool = typer.Option(
        False, "--interactive", "-i", help="Type into the agent's own program yourself; --agent shell for a shell."
    ),
    yes: bool = typer.Option(False, "--yes", "-y", help="Approve a plan that stays inside the paths beforehand."),
    as_json: bool = JSON_FLAG,
) -> None:
    """Have one thing done now: plan, your yes, work, checks, pull request. Typing it counts as the signature.

    Example: midwatch code "fix the flaky test" --project api --follow
    """
    if interactive:
        refuse_without_a_terminal()
    alone = not client.server_answers()
    begun: dict[str, Any] = {}

    def work() -> int:
        wanted: dict[str, Any] = {
            "sentence": sentence,
            "projects": project or [_here()],
            "agent": "housekeeper" if agent == SHELL else agent,
            "checks": check,
            "done_when": done_when,
        }
        wanted |= {"paths": path, "usd": usd, "minutes": minutes, "yes": yes, "by_hand": interactive, "tools": tool}
        begun.update(client.send("POST", "/code", wanted))
        _tell_begun(begun, alone=alone, follow=follow or interactive, as_json=as_json)
        if interactive:
            sit_down(begun["jobs"][0]["id"])
        return _followed(begun, as_json=as_json) if follow or alone or interactive else 0

    done = _with_server(work, alone=alone)
    if done is None:
        _tell_left(begun, alone=alone)
    raise typer.Exit(LEFT if done is None else done)


def _with_server(work: Callable[[], int], *, alone: bool) -> int | None:
    """Run the work with the server that runs, or with one in this process; None when the person leaves."""
    if alone:
        from midwatch.surfaces.cli.jobs.temporary_server import attended  # noqa: PLC0415  heavy, and rarely needed

        return attended(work)
    try:
        return work()
    except KeyboardInterrupt:
        return None


def _here() -> str:
    """Find the project whose repository this folder is in, or offer to add it."""
    here = Path.cwd().resolve()
    rows = [row for row in client.get("/projects") if here.is_relative_to(Path(row["path"]).resolve())]
    return str(max(rows, key=lambda row: len(row["path"]))["id"]) if rows else _added(here)


def _added(here: Path) -> str:
    """Add the repository that this folder is in, if the person at the terminal wants that."""
    repository = next((folder for folder in (here, *here.parents) if (folder / ".git").exists()), None)
    if repository is None:
        raise Misuse(
            "No project is named, and this folder is in no git repository.",
            hint="Name a project with --project, or go to a repository.",
        )
    hint = "Name a project with --project, or add this one: midwatch project add ."
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise Misuse(f"{repository.name} is not a project yet.", hint=hint)
    if not typer.confirm(f"{repository.name} is not a project yet. Add {repository}?"):
        raise Misuse(f"{repository.name} was not added, and nothing was started.", hint=hint)
    row = client.send("POST", "/projects", {"path": str(repository)})
    typer.echo(f"Added project {row['name']} (branch {row['branch']}).")
    return str(row["id"])


def _tell_begun(begun: dict[str, Any], *, alone: bool, follow: bool, as_json: bool) -> None:
    if as_json and not (follow or alone):
        show_json(begun)
        return
    typer.echo(begun["allows"], err=as_json)
    for job in begun["jobs"]:
        typer.echo(f"Job {job['number']} in {job['project']} ({job['agent']}): {job['title']}", err=as_json)
    if alone:
        typer.echo(
            "No server is running, so this command runs one until the job is over; leave with Ctrl-C.", err=as_json
        )
    elif not follow:
        number = begun["jobs"][0]["number"]
        typer.echo(
            f"Watch it: midwatch job line {number} -f, midwatch asks; follow its log: midwatch job log {number} -f"
        )


def _followed(begun: dict[str, Any], *, as_json: bool) -> int:
    def say(text: str) -> None:
        typer.echo(text, err=as_json)

    rows = Following([job["id"] for job in begun["jobs"]], after=begun["after"], say=say).to_the_end()
    _wait_for_the_brief(begun["session"])
    result = [outcome(row, job["project"]) for row, job in zip(rows, begun["jobs"], strict=True)]
    if as_json:
        show_json({"session": begun["session"], "run": begun["run"], "jobs": result})
    else:
        for one in result:
            tell_end(one)
    return max(int(one["exit_code"]) for one in result)


def _wait_for_the_brief(session: str) -> None:
    """Wait for the brief: without a running server, Midwatch closes when this command ends."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        try:
            client.get("/morning", night=session)
        except Unknown:
            time.sleep(LOOK_SECONDS)
        else:
            return


def _tell_left(begun: dict[str, Any], *, alone: bool) -> None:
    """Print the result, and how to continue."""
    if not begun:
        typer.echo("Left before the job started.", err=True)
        return
    sys.stdout.flush()
    number = begun["jobs"][0]["number"]
    if alone:
        typer.echo(
            f"Detached. Job {number} keeps its work and resumes at the next start: midwatch up --detach", err=True
        )
    typer.echo(f"Follow its log: midwatch job log {number} -f; stop it: midwatch job stop {number}", err=True)


VERBS = verbs(code=code)
