"""Follows jobs stage by stage in a terminal, asks the person there, and reports how they ended (A9)."""

import sys
import time
from datetime import datetime
from typing import Any

import typer

from midwatch.errors import Refused
from midwatch.surfaces.cli.jobs.logs import OVER
from midwatch.surfaces.cli.jobs.stream_lines import Say, show_line
from midwatch.surfaces.cli.night.asks import show_ask
from midwatch.surfaces.cli.shell import asks_shown, client
from midwatch.surfaces.cli.shell.screen import answered, bad, good, line, wanted
from midwatch.terms.figures import dollars, many, some

WAIT = 5
"""Seconds one request for new entries may stay open."""
GATHER_SECONDS = 0.2
"""Entries come in bursts; the server that is asked about each of them has less time for the job."""
UNTOLD = frozenset(
    {
        "job.claimed",
        "model.called",
        "connection.seen",
        *("agent.began", "agent.ended", "agent.limited", "tool_call.decided", "signal.seen", "signal.answered"),
        "tool.called",
        "evidence.found",
        "artifact.kept",
    }
)
"""Entries of a job that are not shown to a person who follows it; some because its agent's stream has them."""
OURS = {"does": "midwatch", "word": "midwatch", "note": "", "spent": "", "bad": False}
"""What Midwatch itself did, in a line like those of the agent."""
KEYS = {"approve": "a", "edit": "e", "reject": "r", "yes": "y", "no": "n", "go on": "g", "stop": "s"}
WORDED = frozenset({"edit", "reject"})
"""Answers that need a short text."""
REFUSED, SPENT, BROKEN = 3, 4, 5
CODES = {"budget": SPENT, "limit": SPENT, "logic": REFUSED}


class Following:
    """Follows some jobs until they are over."""

    def __init__(self, jobs: list[str], *, after: int, say: Say) -> None:
        self._jobs = jobs
        self._seq = after
        self._say = say
        self._places = dict.fromkeys(jobs, "")
        self._whose: dict[str, str] = {}
        """What is written in front of a job's lines, if there are several jobs."""
        self._asked: set[str] = set()

    def to_the_end(self) -> list[dict[str, Any]]:
        """Follow until every job is over, and return them as they ended."""
        while True:
            time.sleep(GATHER_SECONDS)
            rows = [client.get(f"/jobs/{job}") for job in self._jobs]
            self._whose = {row["id"]: f"job {row['number']}: " for row in rows} if len(rows) > 1 else {}
            self._tell_streams()
            self._tell_entries()
            if all(row["state"] in OVER for row in rows):
                return rows
            self._answer_asks()
            client.wait_for("/entries", after=self._seq, wait=WAIT, limit=1)

    def _tell_entries(self) -> None:
        while entries := client.get("/entries", after=self._seq, limit=1000):
            self._seq = entries[-1]["seq"]
            for entry in entries:
                if entry["job"] in self._jobs and entry["kind"] not in UNTOLD:
                    show_line(OURS | {"at": entry["at"], "text": entry["text"]}, self._say)

    def _tell_streams(self) -> None:
        for job in self._jobs:
            before = None
            while self._places[job] != before:
                before = self._places[job]
                part = client.get(f"/jobs/{job}/stream", after=before)
                for row in part["lines"]:
                    show_line(row | {"text": self._whose.get(job, "") + row["text"]}, self._say)
                self._places[job] = part["next"]

    def _answer_asks(self) -> None:
        for row in client.get("/asks"):
            if row["subject"] not in self._jobs or row["id"] in self._asked:
                continue
            self._asked.add(row["id"])
            shown = client.get(f"/asks/{row['number']}")
            if sys.stdin.isatty() and sys.stdout.isatty():
                self._ask(shown)
            else:
                self._say(f"Ask {shown['number']} waits: {shown['what']}")
                self._say(f"  {shown['silence_said']} Read all of it: midwatch asks {shown['number']}")
                self._say(f"  answer: midwatch asks {shown['number']} {' | '.join(shown['options'])}")

    def _ask(self, shown: dict[str, Any]) -> None:
        show_ask(shown)
        asks_shown.remember([shown])
        choice = choose(shown["options"])
        if not choice:
            typer.echo(f"  Later, then: midwatch asks {shown['number']} {' | '.join(shown['options'])}")
            return
        text = answered("  In a few words, why or what: ") if choice in WORDED else ""
        body = {"answer": choice, "text": text, "shown_hash": shown["shown_hash"]}
        try:
            client.send("POST", f"/asks/{shown['number']}/answer", body)
        except Refused as late:
            typer.echo(f"  {late.message}")  # answered elsewhere, or silence was faster


def choose(options: list[str]) -> str:
    """Let a person press a key for one of the options; an empty line chooses none."""
    keys = {KEYS.get(option, option[:1]): option for option in options}
    offered = ", ".join(
        f"[{key}]{option[len(key) :]}" if option.startswith(key) else f"[{key}] {option}"
        for key, option in keys.items()
    )
    while True:
        try:
            pressed = answered(wanted(f"  {offered}, or Enter for later: ")).lower()
        except EOFError:
            return ""
        if not pressed or pressed in options:
            return pressed
        if pressed[:1] in keys:
            return keys[pressed[:1]]


def outcome(row: dict[str, Any], project: str) -> dict[str, Any]:
    """Return how a job ended, for scripts: the pull request, the checks, the cost."""
    change, proof = row["change"] or {}, row["proof"] or {}
    files = change.get("files", [])
    opened = row["pull_requests"][-1] if row["pull_requests"] else None
    return {
        "job": row["number"],
        "project": project,
        "state": row["state"],
        "why": row["why"],
        "pull_request": opened["number"] if opened else None,
        "title": opened["title"] if opened else "",
        "branch": row["branch"],
        "files": len(files),
        "insertions": sum(one["insertions"] for one in files),
        "deletions": sum(one["deletions"] for one in files),
        "verdict": proof.get("verdict", ""),
        "checks": [{"command": one["command"], "exit_code": one["exit_code"]} for one in proof.get("delivered", [])],
        "usd_micros": row["usd_micros"],
        "tokens": row["tokens"],
        "requests": row["requests"],
        "turns": row["turns"],
        "minutes": _minutes(row),
        "exit_code": exit_code(row),
    }


def _minutes(row: dict[str, Any]) -> float:
    """Return how long it took from its start to its end."""
    if not row["started_at"] or not row["ended_at"]:
        return 0.0
    took = datetime.fromisoformat(row["ended_at"]) - datetime.fromisoformat(row["started_at"])
    return round(took.total_seconds() / 60, 1)


def exit_code(row: dict[str, Any]) -> int:
    """Return 0 for work that is done, 3 for refused or declined, 4 for a spent budget, else 5."""
    if row["state"] == "done":
        return 0
    if row["state"] in {"declined", "stopped"}:
        return REFUSED
    return CODES.get(row["cause"], BROKEN)


def tell_end(answer: dict[str, Any]) -> None:
    """Print the completion message (A9)."""
    number = answer["job"]
    if answer["state"] == "nothing_delivered":
        line(f"Job {number} in {answer['project']} delivered nothing. {answer['why']}", first=bad("  "))
        return
    if answer["state"] != "done":
        line(f"Job {number} in {answer['project']} is {answer['state']}. {answer['why']}", first=bad("  "))
        line(f"Its work so far is kept: midwatch job show {number}; continue with midwatch job resume {number}")
        return
    if answer["pull_request"] is None:
        line(f"Job {number} in {answer['project']} is done: {answer['why']}", first=good("  "))
        return
    asked = some(*((answer["requests"], "request") if answer["turns"] is None else (answer["turns"], "turn")))
    cost = f"{dollars(answer['usd_micros'])}, {many(answer['tokens'])} tokens, {asked}"
    size = f"{some(answer['files'], 'file')}, +{answer['insertions']} -{answer['deletions']}"
    line(
        f"Pull request {answer['pull_request']} in {answer['project']}: {answer['title']} ({answer['branch']})",
        first=good("  "),
    )
    line(f"{size}; checks {answer['verdict'].replace('_', ' ')}; {cost}, {answer['minutes']:g} min", first="    ")
    line(f"midwatch job diff {number}, then midwatch job merge {number}", first="    ")
