"""What a job's agents did, as `job show` prints it."""

from typing import Any

import typer

from midwatch.surfaces.cli.shell import client
from midwatch.surfaces.cli.shell.screen import bad, clock, exactly, good, head, line, moment, wanted

MARK = {"allowed": good("allowed"), "refused": bad("refused"), "waits": wanted("waits for you")}


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
        _show_told(job, errand, prompts=prompts)
    for call in errand["calls"]:
        _show_call(call, over=job["state"] in OVER)


OVER = frozenset({"done", "failed", "stopped", "declined"})


def _show_told(job: dict[str, Any], errand: dict[str, Any], *, prompts: bool) -> None:
    by = f"Prompt: template {errand['template']} ({errand['template_version']})"
    line(f"{by}:" if prompts else f"{by}. Full text: midwatch job show {job['number']} --prompts")
    if prompts:
        exactly(client.get(f"/jobs/{job['id']}/told/{errand['epoch']}"), indent="  | ")


def _show_call(call: dict[str, Any], *, over: bool) -> None:
    verdict = "not answered" if over and call["verdict"] == "waits" else MARK[call["verdict"]]
    by = f", says {call['by']}" if call["by"] else ""
    if not by and call["asked"] and call["verdict"] == "refused":
        by = ": no answer in time"
    typer.echo(f"  {clock(call['at'])} {verdict}{by}: {call['tool']}")
    exactly(call["shown"], indent="    | ")
    line(call["why"], indent="    ")
