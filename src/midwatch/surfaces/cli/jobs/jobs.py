"""`job` and `run`."""

from typing import Any

import typer

from midwatch.surfaces.cli.jobs import agent_runs, checkouts, logs, steps
from midwatch.surfaces.cli.main import verbs
from midwatch.surfaces.cli.shell import client
from midwatch.surfaces.cli.shell.screen import JSON_FLAG, head, line, show_json, table
from midwatch.views.text.sizes import MARKS

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.callback(invoke_without_command=True)
def listing(ctx: typer.Context) -> None:
    """Work with jobs; without a subcommand, list them.

    Example: midwatch job diff 1
    """
    if ctx.invoked_subcommand is None:
        list_jobs(as_json=False)


@app.command("list")
def list_jobs(*, as_json: bool = JSON_FLAG) -> None:
    """List the jobs.

    Example: midwatch job list --json
    """
    rows = client.get("/jobs")
    if as_json:
        show_json(rows)
    elif not rows:
        typer.echo("No jobs yet.")
    else:
        lines = [(row["number"], row["state"], row["stage"], row["agent"], row["title"]) for row in rows]
        table(lines, "#", "state", "stage", "agent", "title")


@app.command()
def show(
    name: str,
    *,
    prompts: bool = typer.Option(False, "--prompts", help="With the full prompts of its agents."),
    as_json: bool = JSON_FLAG,
) -> None:
    """Show one job: plan, change, proof, and what its agents did.

    Example: midwatch job show 1
    """
    row = client.get(f"/jobs/{client.part(name)}")
    row["errands"] = client.get(f"/jobs/{client.part(name)}/errands")
    if as_json:
        show_json(row)
        return
    head(f"Job {row['number']} · {row['title']} · {row['state']} at {row['stage']}")
    line(row["line"]["said"])
    if row["why"]:
        line(row["why"])
    _show_work(row)
    _show_way(row)
    for errand in row["errands"]:
        agent_runs.show_errand(row, errand, prompts=prompts)


def _show_work(row: dict[str, Any]) -> None:
    if row["plan"]:
        line(
            f"{row['plan']['summary']} (approval: {row['approved_by'] or 'none yet'})",
            first=f"  plan v{row['plan_version']}: ",
        )
    for commit in (row["change"] or {}).get("commits", []):
        typer.echo(f"  {commit['sha'][:10]} {commit['subject']} (+{commit['insertions']} -{commit['deletions']})")
    _show_proof(row["proof"])
    for finding in ((row["done"] or {}).get("left") or [])[:10]:
        line(f"{finding['path']}:{finding['line']} {finding['rule']} {finding['message']}", first="  left: ")
    if row["worker"]:
        line(f"{MARKS[row['isolation']]} ({row['isolation']})", first="  walls: ")
    for pr in row["pull_requests"]:
        typer.echo(f"  pull request {pr['number']} [{_standing(pr)}] {pr['branch']} into {pr['into']}")
        if pr["url"]:
            line(pr["url"], indent="    ")
        for remark in pr["remarks"]:
            line(remark, indent="    ")


def _standing(pr: dict[str, Any]) -> str:
    checks = f", checks {pr['checks']}" if pr["state"] == "open" and pr["checks"] != "none" else ""
    return f"{'draft' if pr['draft'] and pr['state'] == 'open' else pr['state']}{checks}"


def _show_way(row: dict[str, Any]) -> None:
    for stone in row["milestones"]:
        line(stone, first="  milestone: ")
    for signal in row["signals"]:
        line(signal["refused"] or signal["text"], first=f"  {signal['says']}: ")
        if signal["answer"]:
            line(f"{signal['answer']} ({signal['answered_by']})", first="    answer: ")


def _show_proof(proof: dict[str, Any] | None) -> None:
    if not proof:
        return
    typer.echo(f"  proof: {proof['verdict'].replace('_', ' ')}")
    for check in proof["delivered"]:
        flaky = ", flaky" if check["flaky"] else ""
        typer.echo(f"    exit {check['exit_code']}{flaky} in {check['seconds']:.1f} s: {check['command']}")
    for doubt in proof["doubts"]:
        line(doubt["text"], first="    doubt: " if doubt["grave"] else "    note: ")
    for note in proof["notes"]:
        line(note, first="    note: ")
    if proof["new_tests"] == "fail_on_base":
        typer.echo("    new tests fail without the change and pass with it")
    if covered := proof["coverage"]:
        typer.echo(f"    {covered['covered']} of {covered['measurable']} changed lines that can be measured ran")


@app.command()
def diff(name: str) -> None:
    """Print what the job changed.

    Example: midwatch job diff 1 | less
    """
    text = client.get(f"/jobs/{client.part(name)}/diff")
    typer.echo(text, nl=not text.endswith("\n"))  # git apply refuses a patch whose last line has no line break


@app.command()
def stop(name: str, why: str = typer.Option("", help="Kept with the job.")) -> None:
    """Stop a job; its work is kept.

    Example: midwatch job stop 2
    """
    row = client.send("POST", f"/jobs/{client.part(name)}/stop", {"text": why})
    typer.echo(f"Job {row['number']} is {row['state']}.")


@app.command()
def merge(name: str) -> None:
    """Merge a job's pull request into its branch, and print how to undo it.

    Example: midwatch job merge 1
    """
    row = client.send("POST", f"/jobs/{client.part(name)}/merge")
    typer.echo(f"Merged {row['branch']} into {row['into']} as {row['merged_sha'][:12]}.")
    for command in row["undo"]:
        typer.echo(f"  undo: {command}")


@app.command()
def close(name: str, why: str = typer.Option("", help="Kept with it.")) -> None:
    """Close a job's pull request without merging it; its branch stays until you delete it.

    Example: midwatch job close 1 --why "not now"
    """
    row = client.send("POST", f"/jobs/{client.part(name)}/close", {"text": why})
    typer.echo(f"Pull request {row['number']} is closed. Delete its branch with: git branch -D {row['branch']}")


def run(*, as_json: bool = JSON_FLAG) -> None:
    """List the runs with their scores.

    Example: midwatch run --json
    """
    rows = client.get("/runs")
    if as_json:
        show_json(rows)
        return
    if not rows:
        typer.echo("No runs yet.")
        return
    lines = [
        (
            row["number"],
            row["status"],
            _score(row["score_pre"]),
            _score(row["score_post"]),
            row["contract"]["objective"],
        )
        for row in rows
    ]
    table(lines, "#", "status", "before", "after", "objective")


def _score(score: float | None) -> str:
    return "-" if score is None else f"{score:.2f}"


for _name, _verb in (
    ("plan", steps.plan),
    ("steps", steps.steps),
    ("log", logs.log),
    ("line", logs.live_line),
    ("attach", logs.attach),
    ("open", checkouts.look),
    ("resume", checkouts.resume),
    ("discard", checkouts.discard),
):
    app.command(_name)(_verb)

VERBS = {"job": app, **verbs(run=run)}
