"""`doctor`: whether this machine, the data folder and the journal are in order."""

import asyncio
import platform
import shutil
import subprocess
from typing import Any

import typer

from midwatch.errors import Corrupt, MidwatchError
from midwatch.surfaces.cli.house.channels import seen
from midwatch.surfaces.cli.main import verbs
from midwatch.surfaces.cli.shell import client
from midwatch.surfaces.cli.shell.screen import JSON_FLAG, bad, good, show_json, wanted

MARKS = {"ok": good("ok  "), "look": wanted("look"), "bad": bad("bad ")}
Finding = dict[str, str]
TRIED_AGAIN = "It is tried again; everything else goes on. The server's log says more."


def doctor(
    *,
    verify: bool = typer.Option(False, "--verify", help="Walk the hash chain and compare records with a rebuild."),
    invariants: bool = typer.Option(False, "--invariants", help="Check the invariants."),
    project: str = typer.Option("", "--project", help="Check only what work on this project needs."),
    agents: bool = typer.Option(False, "--agents", help="Say hello to every agent's model; about a token each."),
    as_json: bool = JSON_FLAG,
) -> None:
    """Check this machine, the data folder, the agents and the journal.

    Example: midwatch doctor --verify --invariants
    """
    found = _tried(project) if project else _here(hello=agents)
    if verify:
        found += _verified()
    if invariants:
        found += _held()
    if as_json:
        show_json({"findings": found, "ok": not any(one["state"] == "bad" for one in found)})
    else:
        for one in found:
            typer.echo(f"{MARKS[one['state']]} {one['text']}")
            if one.get("hint"):
                typer.echo(f"       {one['hint']}")
    broken = [one for one in found if one["state"] == "bad"]
    if any(one.get("corrupt") for one in broken):
        raise Corrupt(broken[0]["text"], hint="Stop the server, and restore from a backup or a copy.")
    if broken:
        raise typer.Exit(5)


def _here(*, hello: bool) -> list[Finding]:
    """Check this machine, the data folder, the agents, the channels and the forges."""
    from midwatch.surfaces.cli.house.doctor_agents import agent_findings  # noqa: PLC0415  heavy

    reaching = [*agent_findings(hello=hello), *channel_findings(), *forge_findings()]
    found = [*_machine(), *_folder(), *_walls(), *_secrets(), *reaching, *_sleep()]
    return list({one["text"]: one for one in found}.values())  # a broken settings file is in the way of several


def _tried(project: str) -> list[Finding]:
    """Check what a night would need for one project, with every agent that could work in it."""
    from midwatch.surfaces.cli.evening.preflight import followed  # noqa: PLC0415  only this flag needs it

    answer = followed(client.send("POST", "/preflight", {"project": project}), None)
    found = [
        finding(one["state"], f"{one['subject']}, {one['what']}: {one['text']}", one["fix"]) for one in answer["lines"]
    ]
    return [*found, finding("bad", answer["said"], "Try it again.")] if answer["error"] else found


def finding(state: str, text: str, hint: str = "", *, corrupt: bool = False) -> Finding:
    return {"state": state, "text": text, "hint": hint} | ({"corrupt": "yes"} if corrupt else {})


def _machine() -> list[Finding]:
    from midwatch.compose import local_checks  # noqa: PLC0415  heavy

    found = [finding("ok", f"Python {platform.python_version()} on {platform.system()} {platform.release()}")]
    git = shutil.which("git")
    if git is None:
        found.append(finding("bad", "git is not installed.", "apt install git, or your system's way"))
    else:
        said = subprocess.run([git, "--version"], cwd="/", capture_output=True, text=True, check=False).stdout.strip()
        found.append(finding("ok", said))
    memory = local_checks.free_memory() / 2**30
    state = "ok" if memory >= 2 else "look"
    found.append(finding(state, f"{memory:.1f} GiB of memory free", "" if state == "ok" else "Jobs wait for 2 GiB."))
    return found


def _folder() -> list[Finding]:
    from midwatch.compose import local_checks  # noqa: PLC0415
    from midwatch.settings import load_settings  # noqa: PLC0415  heavy

    home = client.home()
    if not home.exists():
        return [finding("look", f"The data folder {home} does not exist yet.", "midwatch up --detach makes it.")]
    try:
        load_settings(home)
    except MidwatchError as error:
        return [finding("bad", error.message, error.hint)]
    disk = local_checks.free_disk(home) / 2**30
    state = "ok" if disk >= 5 else "look"
    found = [finding(state, f"{home}: {disk:.0f} GiB free", "" if state == "ok" else "Jobs wait for 5 GiB.")]
    if client.server_answers():
        found += [finding("ok", "the server is running and answers"), *_failed_work(), *_failing_duties()]
    else:
        found.append(finding("look", "the server is not running", "midwatch up --detach"))
    return found


def _failed_work() -> list[Finding]:
    """List the queued work that failed: the server does not try it again."""
    return [
        finding(
            "look", f"the work that entry {one['seq']} asked for failed: {one['error']}", f"midwatch why {one['seq']}"
        )
        for one in client.get("/doctor/queue")
    ]


def _failing_duties() -> list[Finding]:
    """List what the server does again and again, and what fails each time."""
    return [finding("look", trouble, TRIED_AGAIN) for trouble in client.get("/status")["troubles"]]


def _walls() -> list[Finding]:
    """Check which sandbox this machine can build, and list the toolchains and the kept checkouts."""
    from midwatch.compose import local_checks  # noqa: PLC0415  heavy
    from midwatch.settings import load_settings  # noqa: PLC0415  heavy
    from midwatch.terms.figures import size  # noqa: PLC0415
    from midwatch.views.pages.walls import WALLS  # noqa: PLC0415

    home = client.home()
    try:
        settings = load_settings(home).settings
        sandbox = settings.sandbox
        here = local_checks.walls_here(sandbox.isolation)
    except MidwatchError as error:
        return [finding("bad", error.message, error.hint)]
    walls = WALLS[here.isolation]
    state = "ok" if walls.state == "good" and not here.fix else "look"
    found = [finding(state, f"jobs are {walls.mark}: {here.why}" if walls.state != "bad" else here.why, here.fix)]
    left_out = local_checks.not_lent(home, settings)
    lent = ", ".join(name for name in sandbox.toolchains if name not in left_out)
    lent = lent or "none besides the system's own programs and Midwatch's own Python"
    found.append(finding("ok", f"toolchains lent to jobs: {lent}"))
    found += [finding("look", trouble, TRIED_AGAIN) for trouble in left_out.values()]
    if (home / "checkouts").is_dir():
        found.append(finding("ok", f"kept checkouts take {size(local_checks.kept_bytes(home / 'checkouts'))}"))
    return found


def _secrets() -> list[Finding]:
    """Fetch each secret as the server will; its value is never printed."""
    from midwatch.compose.local_checks import unreadable  # noqa: PLC0415  heavy
    from midwatch.settings import load_settings, secret_references  # noqa: PLC0415
    from midwatch.terms.figures import joined  # noqa: PLC0415
    from midwatch.terms.secrets import SecretPlace  # noqa: PLC0415

    try:
        references = secret_references(load_settings(client.home()).settings)
    except MidwatchError:
        return []  # reported already
    failed = asyncio.run(unreadable(references))
    found = [finding("look", error.message, error.hint) for error in failed.values()]
    fetched = [name for name in references if name not in failed]
    here = [f"${references[name].address}" for name in fetched if references[name].place is SecretPlace.ENV]
    also = f"; the server needs {joined(here)} in its own environment" if here else ""
    return [*found, finding("ok", f"secrets that can be fetched: {', '.join(fetched)}{also}")] if fetched else found


def _sleep() -> list[Finding]:
    from midwatch.compose import local_checks  # noqa: PLC0415  heavy

    risk = local_checks.sleep_risk()
    state = {"no": "ok", "maybe": "look", "likely": "look"}[risk.will]
    words = {"no": "will not sleep tonight", "maybe": "may sleep tonight", "likely": "will probably sleep tonight"}
    return [finding(state, f"this machine {words[risk.will]}: {' '.join(risk.why)}", " ".join(risk.what_to_do))]


def _verified() -> list[Finding]:
    result: dict[str, Any] = client.get("/doctor/verify")
    if result["broken"]:
        return [finding("bad", result["broken"], corrupt=True)]
    found = [finding("ok", f"the hash chain is intact over {result['entries']} entries")]
    if result["differs"]:
        tables = ", ".join(result["differs"])
        found.append(finding("bad", f"a rebuild would write {tables} differently", corrupt=True))
    else:
        found.append(finding("ok", "records equal a rebuild from the journal"))
    return found


def _held() -> list[Finding]:
    broken = client.get("/doctor/invariants")
    if not broken:
        return [finding("ok", "every invariant holds")]
    return [finding("bad", f"{one['rule']}: {one['text']}", corrupt=True) for one in broken]


VERBS = verbs(doctor=doctor)


def channel_findings() -> list[Finding]:
    """Check every channel, one line each; nothing is sent."""
    try:
        rows = seen()
    except MidwatchError:
        return []  # what prevents reading it was reported already
    if not rows:
        text = "notices go to the log only; to get them elsewhere: midwatch channel add phone"
        return [finding("ok", text)]
    return [_stands(row) for row in rows]


def _stands(row: dict[str, Any]) -> Finding:
    name = f"channel {row['name']}"
    if row["problem"]:
        return finding("look", f"{name} cannot be used: {row['problem']}", row["hint"])
    where = f" ({row['kind']} at {row['place']})" if row["kind"] else ""
    hint = f"midwatch channel test {row['name']}"
    if row["unsent"]:
        return finding("look", row["unsent"], hint)
    if row["state"] == "bad":
        return finding("look", f"{name}{where} {row['said']}", hint)
    return finding("ok", f"{name}{where}: {row['said']}", "" if row["last_at"] else hint)


def forge_findings() -> list[Finding]:
    """Check every forge that is set up, one line each; the local one needs nothing."""
    from midwatch.settings import load_settings  # noqa: PLC0415  heavy

    try:
        forges = load_settings(client.home()).settings.forges.by_name()
    except MidwatchError:
        return []  # reported already
    return [asyncio.run(_asked(name)) for name in forges]


async def _asked(name: str) -> Finding:
    """Ask the forge whose token it is, as the server will."""
    from midwatch.compose.local_checks import ask_forge  # noqa: PLC0415  heavy
    from midwatch.settings import load_settings  # noqa: PLC0415

    settings = load_settings(client.home()).settings
    setup = settings.forges.by_name()[name]
    try:
        status = await ask_forge(settings, name)
    except MidwatchError as error:
        return finding("look", f"forge {name}: {error.message}", error.hint)
    hooks = "webhooks taken" if setup.webhook_secret else "no webhooks"
    if status not in {200, 404}:  # an Enterprise without limits does not report them
        return finding("look", f"forge {name} answered {status}.", "Check its base_url.")
    return finding("ok", f"forge {name}: {setup.repositories_at} accepts the token; {hooks}")
