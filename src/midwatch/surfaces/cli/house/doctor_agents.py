"""What doctor reports about agents: installed, tested, its credential readable, and on request whether it answers."""

import asyncio
from typing import Any

from midwatch.errors import MidwatchError
from midwatch.surfaces.cli.house.agents import CREDENTIALS, greeted, seen
from midwatch.surfaces.cli.house.doctor import Finding, finding
from midwatch.surfaces.cli.shell.screen import moment


def agent_findings(*, hello: bool) -> list[Finding]:
    """Check every agent that is set up, with a hello on request, and name the others in one line."""
    try:
        rows = [row for row in seen() if row["led"] != "housekeeper"]
    except MidwatchError:
        return []  # what prevents reading it was reported already
    found = []
    for row in rows:
        if row["set_up"]:
            found.append(_stands(row))
            if hello and not row["missing"]:
                found.append(_answers(row))
    others = [_other(row) for row in rows if not row["set_up"]]
    if others:
        found.append(finding("ok", f"agents not set up: {', '.join(others)}; how to: midwatch agent list"))
    return found


def _stands(row: dict[str, Any]) -> Finding:
    """Report the first thing that prevents it from working, or that all is well."""
    name = f"agent {row['name']}"
    if row["missing"]:
        return finding("look", f"{name} cannot work yet: {row['missing']}")
    here = f"{name}: {row['program']} {row['version']}".rstrip()
    problem = _unreadable(row)
    if problem is not None:
        return finding("look", f"{here}, and its credential cannot be read: {problem.message}", problem.hint)
    if row["tested"] and row["version"] not in row["tested"]:
        hint = f"It may still work. The version with which they ran: {row['install']}"
        return finding("look", f"{here}: {row['judged']}", hint)
    pays = ""
    if row["credential"]:
        pays = f", {row['model']} by {CREDENTIALS[row['credential']]} {row['secret']!r}, which can be read"
    text = f"{here} ({row['judged']}){pays}"
    if row["ready"]:
        return finding("ok", f"{text}, and answered in its sandbox on {moment(row['proven_at'])}")
    if row["proof"]:
        return finding("look", f"{text}. {row['proof']}", f"Try it again: midwatch agent test {row['name']}")
    return finding("ok", f"{text}; not tried in its sandbox yet", f"midwatch agent test {row['name']}")


def _unreadable(row: dict[str, Any]) -> MidwatchError | None:
    """Fetch its credential as the server will; its value is never printed."""
    from midwatch.compose.local_checks import unreadable  # noqa: PLC0415  heavy
    from midwatch.terms.secrets import SecretReference  # noqa: PLC0415

    if not row["kept"]:
        return None
    failed = asyncio.run(unreadable({row["secret"]: SecretReference.read(row["kept"])}))
    return failed.get(row["secret"])


def _answers(row: dict[str, Any]) -> Finding:
    try:
        said = greeted(row["name"])
    except MidwatchError as error:
        return finding("bad", f"agent {row['name']}: {error.message}", error.hint)
    hint = "" if said["answers"] else f"midwatch agent test {row['name']}"
    return finding("ok" if said["answers"] else "bad", f"agent {row['name']}: {said['sentence']}", hint)


def _other(row: dict[str, Any]) -> str:
    return f"{row['name']} ({row['version'] or 'installed' if row['program'] else 'not installed'})"
