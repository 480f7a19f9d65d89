"""`job` and `run`."""

from typing import Any

import typer

from midwatch.surfaces.cli.jobs import checkouts, logs
from midwatch.surfaces.cli.shell import client
from midwatch.surfaces.cli.shell.listing import lists
from midwatch.surfaces.cli.shell.screen import (
    JSON_FLAG,
    Columns,
    bad,
    clock,
    exactly,
    good,
    head,
    line,
    moment,
    score_text,
    show_json,
    show_rows,
    wanted,
)
from midwatch.views.text.plain import ISOLATION_MARKS

app = typer.Typer(add_completion=False, rich_markup_mode=None)
MARK = {"allowed": good("allowed"), "refused": bad("refused"), "waits": wanted("waits for you")}


def list_jobs(*, as_json: bool) -> None:
    columns: Columns = {
        "#": "number",
        "project": "project_name",
        "state": "state",
        "stage": "stage",
        "agent": "agent",
        "title": "title",
    }
    show_rows(client.get("/jobs"), "No jobs yet.", columns, as_json=as_json)


lists(app, list_jobs, "List the jobs.", example="midwatch job diff 1", more="Further words work with one of them.")


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
    head(f"Job {row['number']} in {row['project_name']} · {row['title']} · {row['state']} at {row['stage']}")
    line(row["line"]["said"])
    if row["why"]:
        line(row["why"])
    _show_work(row)
    _show_way(row)
    for errand in row["errands"]:
        show_errand(row, errand, prompts=prompts)


def show_errand(job: dict[str, Any], errand: dict[str, Any], *, prompts: bool) -> None:
    """Print one agent run: the agent, the cost, how it ended, its prompt, and every tool call."""
    who = " ".join(part for part in (errand["agent"], errand["version"]) if part)
    named = ", ".join(part for part in (who, errand["model"]) if part)
    head(f"{errand['errand'].capitalize() or 'Before it began'} · {named} · {clock(errand['began_at'])}".rstrip(" ·"))
    line(errand["cost"] or "No model was asked.")
    if errand["ended"]:
        line(f"It {errand['ended']}. {errand['why']}".rstrip())
    for met in errand["limits"]:
        resets = f", which resets {moment(met['resets_at'])}" if met["resets_at"] else ""
        line(f"It reached the {met['limit']} limit of {met['provider']}{resets}.")
    if errand["prompt_blob"]:
        _show_answer(job, errand, prompts=prompts)
    for call in errand["calls"]:
        _show_call(call, over=job["state"] in logs.OVER)


def _show_answer(job: dict[str, Any], errand: dict[str, Any], *, prompts: bool) -> None:
    by = f"Prompt: template {errand['template']} ({errand['template_version']})"
    line(f"{by}:" if prompts else f"{by}. Full text: midwatch job show {job['number']} --prompts")
    if prompts:
        exactly(client.get(f"/jobs/{job['id']}/prompts/{errand['epoch']}"), indent="  | ")


def _show_call(call: dict[str, Any], *, over: bool) -> None:
    verdict = "not answered" if over and call["verdict"] == "waits" else MARK[call["verdict"]]
    by = f", says {call['by']}" if call["by"] else ""
    if not by and call["asked"] and call["verdict"] == "refused":
        by = ": no answer in time"
    typer.echo(f"  {clock(call['at'])} {verdict}{by}: {call['tool']}")
    exactly(call["shown"], indent="    | ")
    line(call["why"], indent="    ")


def _show_work(row: dict[str, Any]) -> None:
    if row["plan"]:
        line(
            f"{row['plan']['summary']} (approval: {row['approved_by'] or 'none yet'})",
            first=f"  plan v{row['plan_version']}: ",
        )
    for commit in (row["change"] or {}).get("commits", []):
        typer.echo(f"  {commit['sha'][:10]} {commit['subject']} (+{commit['insertions']} -{commit['deletions']})")
    _show_proof(row["proof"], row["proof_lines"])
    for finding in ((row["done"] or {}).get("left") or [])[:10]:
        line(f"{finding['path']}:{finding['line']} {finding['rule']} {finding['message']}", first="  left: ")
    if row["worker"]:
        line(f"{ISOLATION_MARKS[row['isolation']]} ({row['isolation']})", first="  walls: ")
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


def _show_proof(proof: dict[str, Any] | None, lines: list[dict[str, Any]]) -> None:
    if not proof:
        return
    typer.echo(f"  proof: {proof['verdict'].replace('_', ' ')}")
    for one in lines:
        if one["failing"]:
            line(one["text"], indent="    ")
    for check in proof["delivered"]:
        flaky = ", flaky" if check["flaky"] else ""
        typer.echo(f"    exit {check['exit_code']}{flaky} in {check['seconds']:.1f} s: {check['command']}")
    for one in lines:
        if not one["failing"]:
            line(one["text"], first="    doubt: " if one["fine"] is False else "    note: ")


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
    if row["undo"]:
        typer.echo(f"  Take it back: midwatch job unmerge {name}")
    for command in row["undo"]:
        typer.echo(f"  undo: {command}")


@app.command()
def unmerge(name: str) -> None:
    """Take the merge of a job's pull request back, if its branch has not moved since.

    Example: midwatch job unmerge 1
    """
    row = client.send("POST", f"/jobs/{client.part(name)}/unmerge")
    typer.echo(f"{row['into']} is as it was before; pull request {row['number']} is open again.")


@app.command()
def close(name: str, why: str = typer.Option("", help="Kept with it.")) -> None:
    """Close a job's pull request without merging it; its branch stays until you delete it.

    Example: midwatch job close 1 --why "not now"
    """
    row = client.send("POST", f"/jobs/{client.part(name)}/close", {"text": why})
    typer.echo(f"Pull request {row['number']} is closed. Delete its branch with: git branch -D {row['branch']}")


@app.command()
def steps(name: str, *, as_json: bool = JSON_FLAG) -> None:
    """List each attempt at each stage of a job: how long it took and how it ended.

    Example: midwatch job steps 1
    """
    columns: Columns = {
        "#": "number",
        "stage": "stage",
        "began": lambda row: clock(row["began_at"]),
        "took": "took",
        "ended": "ended",
        "said": "said",
    }
    show_rows(client.get(f"/jobs/{client.part(name)}/steps"), "No attempts yet.", columns, as_json=as_json)


@app.command()
def plan(name: str, *, as_json: bool = JSON_FLAG) -> None:
    """Show every version of a job's plan, its outcome, and what changed from one to the next.

    Example: midwatch job plan 1
    """
    rows = client.get(f"/jobs/{client.part(name)}/plans")
    if as_json:
        show_json(rows)
        return
    for row in rows:
        by = f" by {row['by']}" if row["by"] else ""
        head(f"Version {row['version']} · {clock(row['at'])} · {row['fate']}{by}")
        line(row["summary"])
        if row["said"]:
            line(row["said"], first="  said: ")
        for one in row["changed"]:
            colour = {"+": good, "-": bad}.get(one["mark"], str)
            typer.echo(f"  {colour(one['mark'] + ' ' + one['text'])}")
    if not rows:
        typer.echo("There is no plan yet.")


pulls = typer.Typer(add_completion=False, rich_markup_mode=None)
runs = typer.Typer(add_completion=False, rich_markup_mode=None)


def list_pulls(*, as_json: bool) -> None:
    columns: Columns = {
        "#": "number",
        "job": "job_number",
        "project": "project_name",
        "state": _standing,
        "branch": "branch",
        "title": "title",
    }
    show_rows(client.get("/pull_requests"), "No pull requests yet.", columns, as_json=as_json)


lists(pulls, list_pulls, "List the pull requests, the newest last.", example="midwatch pr --json")


def list_runs(*, as_json: bool) -> None:
    columns: Columns = {
        "#": "number",
        "status": "status",
        "before": lambda row: score_text(row["score_pre"]),
        "after": lambda row: score_text(row["score_post"]),
        "objective": lambda row: row["contract"]["objective"],
    }
    show_rows(client.get("/runs"), "No runs yet.", columns, as_json=as_json)


lists(runs, list_runs, "List the runs with their scores.", example="midwatch run --json")


for _name, _verb in (
    ("log", logs.log),
    ("line", logs.live_line),
    ("attach", logs.attach),
    ("open", checkouts.look),
    ("resume", checkouts.resume),
    ("discard", checkouts.discard),
):
    app.command(_name)(_verb)

VERBS = {"job": app, "pr": pulls, "run": runs}
