"""`morning`, `review`, `authority`."""

import sys
from typing import Any

import typer

from midwatch.errors import Misuse
from midwatch.surfaces.cli.main import verbs
from midwatch.surfaces.cli.shell import client
from midwatch.surfaces.cli.shell.screen import (
    JSON_FLAG,
    forget_typed,
    good,
    head,
    line,
    pressed,
    score_text,
    show_json,
    wanted,
)
from midwatch.terms.figures import some

NIGHT = typer.Option("", help="A night's number; the newest by default.")
JOB = typer.Option("", help="A job's number, for the night or the command that it worked in.")
KEYS = {"a": "accepted", "e": "modified", "r": "rejected", "d": "deferred"}


def morning(night: str = NIGHT, job: str = JOB, *, as_json: bool = JSON_FLAG) -> None:
    """Read the brief.

    Example: midwatch morning
    """
    answer = client.get("/morning", night=session_of(night, job))
    if as_json:
        show_json(answer)
        return
    show_brief(answer)
    if answer["state"] == "debrief":
        which = f" --night {night}" if night else f" --job {job}" if job else ""
        typer.echo(wanted(f"Your verdicts: midwatch review{which}"))


def session_of(night: str, job: str) -> str:
    """Say whose brief or entries are asked for; a command has no number, so it is named by a job of it."""
    if night and job:
        raise Misuse("That names a night and a job.", hint="Name one of them: --night 1, or --job 1")
    return str(client.get(f"/jobs/{client.part(job)}")["session"]) if job else night


def show_brief(answer: dict[str, Any]) -> None:
    brief = answer["brief"]
    head(brief["headline"])
    for text in answer["since"]:
        line(text)
    for section in brief["sections"]:
        typer.echo(typer.style(f"\n{section['title']}", bold=True))
        for text in section["lines"]:
            line(text)
    scores = ", ".join(f"run {run['number']}: {score_text(run['score_pre'])}" for run in answer["runs"])
    cut = f"; {some(brief['cut'], 'line')} left out" if brief["cut"] else ""
    typer.echo(typer.style(f"\n{brief['words']} words{cut}. Score before review: {scores or 'none'}.", dim=True))


def review(  # noqa: PLR0913, PLR0917  each flag is one thing a person may say
    night: str = NIGHT,
    job: str = JOB,
    usefulness: int = typer.Option(0, min=0, max=5, help="1 to 5."),
    trust: int = typer.Option(0, min=0, max=5, help="1 to 5."),
    brevity: int = typer.Option(0, min=0, max=5, help="1 to 5."),
    accept: list[str] = typer.Option([], help="Recommendations by their place (1, 2, 3)."),
    modify: list[str] = typer.Option([], help="Accepted with changes."),
    reject: list[str] = typer.Option([], help="Not taken; its pull request is closed."),
    defer: list[str] = typer.Option([], help="Later."),
    right: list[str] = typer.Option([], help="Assumptions that hold, by their place."),
    wrong: list[str] = typer.Option([], help="Assumptions that do not."),
    keep_open: list[str] = typer.Option([], help="Rejected, and its pull request is not closed."),
    flag: list[str] = typer.Option([], help="wrong_fact or unsafe"),
    note: str = typer.Option("", help="Anything else."),
    *,
    as_json: bool = JSON_FLAG,
) -> None:
    """Give your verdicts: by keys, or all at once by flags. A second review replaces the first.

    Example: midwatch review --usefulness 4 --trust 4 --brevity 5 --accept 1 --reject 2
    """
    night = session_of(night, job)
    result = client.get("/morning", night=night)
    by_flags = any((usefulness, trust, brevity, accept, modify, reject, defer, keep_open, right, wrong, flag))
    if by_flags:
        groups = {"accepted": accept, "modified": modify, "rejected": reject + keep_open, "deferred": defer}
        given = _from_flags(result, groups, (usefulness, trust, brevity))
        given |= {"assumptions": _assumed(result, {"confirmed": right, "rejected": wrong})}
        kept = {_id(result, place) for place in keep_open}
        for one in given["outcomes"]:
            one["keep_open"] = one["recommendation"] in kept
    elif sys.stdin.isatty():
        given = _by_keys(result)
    else:
        raise Misuse(
            "A review without a terminal needs flags.",
            hint="midwatch review --usefulness 4 --trust 4 --brevity 4 --accept 1",
        )
    given |= {"flags": flag, "notes": note or given.get("notes", "")}
    answer = client.send("POST", "/morning/review", given, night=result["session"])  # the night that was shown
    if as_json:
        show_json(answer)
        return
    for row in answer["scores"]:
        typer.echo(
            good(f"Run {row['run']}: ")
            + f"score {score_text(row['pre'])} before, {score_text(row['post'])} after your review."
        )
    typer.echo(f"{answer['called']} is {answer['state']}. Thank you.")


def _from_flags(answer: dict[str, Any], groups: dict[str, list[str]], ratings: tuple[int, int, int]) -> dict[str, Any]:
    missing = [name for name, value in zip(("usefulness", "trust", "brevity"), ratings, strict=True) if not value]
    if missing:
        raise Misuse(f"A review needs all three ratings; missing: {', '.join(missing)}.", hint="Each from 1 to 5.")
    outcomes = []
    for outcome, places in groups.items():
        outcomes += [{"recommendation": _id(answer, place), "outcome": outcome} for place in places]
    named = [one["recommendation"] for one in outcomes]
    if len(set(named)) < len(named):
        raise Misuse("A recommendation has two verdicts.", hint="Name each one once: --accept 1 --reject 2")
    return dict(zip(("usefulness", "trust", "brevity"), ratings, strict=True)) | {"outcomes": outcomes}


def _id(answer: dict[str, Any], place: str) -> str:
    known = answer["recommendations"]
    if place.isdigit() and 1 <= int(place) <= len(known):
        return str(known[int(place) - 1]["id"])
    if any(one["id"] == place for one in known):
        return place
    raise Misuse(f"There is no recommendation {place}.", hint=f"The brief has {len(known)}: midwatch morning")


def _assumed(answer: dict[str, Any], groups: dict[str, list[str]]) -> list[dict[str, str]]:
    made = answer["assumptions"]
    found = []
    for status, places in groups.items():
        for place in places:
            if not place.isdigit() or not 1 <= int(place) <= len(made):
                raise Misuse(f"There is no assumption {place}.", hint=f"There are {len(made)}: midwatch morning")
            found.append({"assumption": str(made[int(place) - 1]["id"]), "status": status})
    return found


def _by_keys(answer: dict[str, Any]) -> dict[str, Any]:
    """One item at a time: A accept, E edit, R reject, D defer, K back."""
    show_brief(answer)
    known = answer["recommendations"]
    outcomes: dict[str, dict[str, str | bool]] = {}
    at = 0
    while at < len(known):
        one = known[at]
        typer.echo(wanted(f"\n{at + 1} of {len(known)}"))
        line(one["text"])
        for tradeoff in one["tradeoffs"]:
            line(tradeoff, first="  tradeoff: ")
        typer.echo("  [a]ccept  [e]dited  [r]eject  [d]efer  [k] back  [j] skip ", nl=False)
        key = pressed().lower()
        typer.echo(key)
        if key in {"\x03", "q"}:
            raise typer.Abort
        if key == "k":
            at = max(0, at - 1)
        elif key in KEYS:
            reason = typer.prompt("  why", default="", show_default=False) if key in {"e", "r"} else ""
            forget_typed()
            kept = key == "r" and not typer.confirm("  close its pull request", default=True)
            outcomes[one["id"]] = {
                "recommendation": one["id"], "outcome": KEYS[key], "reason": reason, "keep_open": kept
            }  # fmt: skip
            at += 1
        elif key == "j":
            at += 1
    assumptions = [said for one in answer["assumptions"] if (said := _right_or_wrong(one))]
    ratings = {name: _rating(name) for name in ("usefulness", "trust", "brevity")}
    return ratings | {"outcomes": list(outcomes.values()), "assumptions": assumptions}


def _right_or_wrong(one: dict[str, Any]) -> dict[str, str]:
    """Ask about one assumption by a key; any other key leaves it open."""
    line(one["statement"], first="\n  assumed: ")
    typer.echo("  [r]ight  [w]rong  [j] skip ", nl=False)
    key = typer.getchar().lower()
    typer.echo(key)
    if key in {"\x03", "q"}:
        raise typer.Abort
    status = {"r": "confirmed", "w": "rejected"}.get(key, "")
    return {"assumption": str(one["id"]), "status": status} if status else {}


def _rating(name: str) -> int:
    while True:
        typer.echo(f"{name} [1-5] ", nl=False)
        key = pressed()
        typer.echo(key)
        if key in "12345" and key:
            return int(key)
        if key in {"\x03", "q"}:
            raise typer.Abort


def authority(*, as_json: bool = JSON_FLAG) -> None:
    """Show the authority of each domain.

    Example: midwatch authority
    """
    standing = {
        domain: run["contract"]["authority_policy"]["start_level"]
        for run in client.get("/runs")
        for domain in run["contract"]["domain_scope"]
    }
    if as_json:
        show_json([{"domain": domain, "authority": level} for domain, level in standing.items()])
        return
    for domain, level in standing.items():
        typer.echo(f"{domain}: {level}")
    if not standing:
        typer.echo("No runs yet. Every domain starts at suggest.")


VERBS = verbs(morning=morning, review=review, authority=authority)
