"""`up` and `down`."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import typer

from midwatch.errors import Broken, MidwatchError, Misuse, Refused, reported
from midwatch.settings.folder import close_to_others, environment
from midwatch.surfaces.address import FIRST_LOGIN, PORT_TAKEN, SOCKET
from midwatch.surfaces.cli.main import verbs
from midwatch.surfaces.cli.shell import client
from midwatch.surfaces.cli.shell.screen import show_json
from midwatch.terms.figures import some

UNIT = """\
[Unit]
Description=Midwatch, the night watch for coding agents

[Service]
ExecStart={python} -P -m midwatch up{flags}
Environment=MIDWATCH_HOME={home}
Restart=on-failure
RestartSec=2

[Install]
WantedBy=default.target
"""
PATIENCE = 120.0


def up(
    *,
    detach: bool = typer.Option(False, "--detach", "-d", help="Run in the background."),
    install: bool = typer.Option(False, "--install", help="Install a systemd user unit that starts it at login."),
    worker: bool = typer.Option(False, "--worker", help="Loops and engine only, no API: one more worker (PostgreSQL)."),
    port: str = typer.Option("", "--port", help="Port of the pages, instead of server.port; 0 for no pages."),
    host: str = typer.Option("", "--host", help="Address of the pages, instead of server.host."),
    as_json: bool = typer.Option(False, "--json", help="With --detach: its process, log and pages as JSON."),
) -> None:
    """Start the server: loops, engine, API on the socket.

    Example: midwatch up --detach --port 9000
    """
    given = {name: value for name, value in (("--port", port), ("--host", host)) if value}
    if port and not port.isdecimal():
        raise Misuse(f"{port!r} is not a port.", hint="Write a number, such as --port 9000.")
    if as_json and not detach:
        raise Misuse("--json goes with --detach.", hint="midwatch up --detach --json")
    if install:
        _install(given)
    elif detach:
        _detach(given, as_json=as_json)
    else:
        _here(api=not worker, given=given)


def _words(given: dict[str, str]) -> list[str]:
    """Write the flags as they were typed, for the process that will serve."""
    return [word for pair in given.items() for word in pair]


def _flags(given: dict[str, str]) -> dict[str, Any]:
    """Write the flags as settings."""
    settings = {f"server.{name.removeprefix('--')}": value for name, value in given.items()}
    return {name: int(value) if name == "server.port" else value for name, value in settings.items()}


def _here(*, api: bool, given: dict[str, str]) -> None:
    import asyncio  # noqa: PLC0415  only the server needs it
    import gc  # noqa: PLC0415
    import logging  # noqa: PLC0415

    gc.disable()  # what is loaded stays until the end; looking through it again and again takes a fifth of the start
    from midwatch.compose.local_checks import keep_secrets_out_of_logs  # noqa: PLC0415
    from midwatch.compose.opening import open_house  # noqa: PLC0415
    from midwatch.surfaces.server import refuse_long_path, serve  # noqa: PLC0415

    gc.freeze()
    gc.enable()
    if api:
        refuse_long_path(client.home() / SOCKET)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
    logging.getLogger("alembic").setLevel(logging.WARNING)
    flags = _flags(given)

    async def run() -> None:
        async with open_house(client.home(), flags=flags, extra_worker=not api) as house:
            keep_secrets_out_of_logs(house, *logging.getLogger().handlers)
            where = client.home() / SOCKET if api else "worker only"
            typer.echo(f"Midwatch is up ({where}). Stop it with Ctrl-C or: midwatch down", err=True)
            on_terminal = sys.stderr.isatty()
            await serve(house, api=api, say=lambda line: typer.echo(line, err=True), on_terminal=on_terminal)

    asyncio.run(run())


def _detach(given: dict[str, str], *, as_json: bool) -> None:
    if client.server_answers():
        raise Refused(f"Midwatch is already running on {client.home()}.", hint="See: midwatch status")
    home = client.home()
    close_to_others(home)
    log = home / "server.log"
    with log.open("ab") as out:
        begins = out.tell()
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "midwatch", "up", *_words(given)],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            env=_surroundings(home),
            cwd="/",
            start_new_session=True,
        )
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        if process.poll() is not None:
            raise _why(log.read_bytes()[begins:].decode(errors="replace"), process.returncode, log)
        if client.server_answers():
            if as_json:
                now = client.get("/status")
                where = {"pages": now["pages"], "port_taken": now["port_taken"]}
                show_json({"process": process.pid, "log": str(log), **where})
            else:
                typer.echo(f"Midwatch is up (process {process.pid}). Its log: {log}")
                _say_where()
            return
        time.sleep(0.05)
    raise Broken(f"Midwatch did not answer within {PATIENCE:g} s.", hint=f"Its log: {log}")


def _say_where() -> None:
    """Give the pages' address; on a terminal, with a link for the first login. A link never goes into a file."""
    now = client.get("/status")
    pages = now["pages"]
    if not pages:
        return
    if now["port_taken"]:
        typer.echo(PORT_TAKEN.format(taken=now["port_taken"], pages=pages))
    if client.get("/people"):
        typer.echo(f"Pages: {pages}")
    elif sys.stdout.isatty():
        made = client.send("POST", "/people/links", {"role": "owner", "person": ""})
        typer.echo(f"Open this once to make your login: {pages}{made['path']}")
    else:
        typer.echo(f"Pages: {pages}")
        typer.echo(FIRST_LOGIN)


def _surroundings(home: Path) -> dict[str, str]:
    """Return the environment of a server that does not run here: where it looks must not depend on this folder."""
    known = environment()
    paths = [str(Path(part).absolute()) for part in known.get("PYTHONPATH", "").split(os.pathsep) if part]
    found = {"PYTHONPATH": os.pathsep.join(paths)} if paths else {}
    return {**known, **found, "MIDWATCH_HOME": str(home)}


def _why(said: str, code: int, log: Path) -> MidwatchError:
    """Report what the process printed before it ended, with its own exit code."""
    lines = said.strip().splitlines()
    begins = max((number for number, text in enumerate(lines) if text.startswith("midwatch: ")), default=None)
    if begins is None:
        spoken = [text.strip(" |+-") for text in lines if text.strip(" |+-")]  # an error in a group is framed
        said = f"Midwatch did not start: {spoken[-1] if spoken else 'no output'}."
        return reported("", code, said, f"Its log: {log}")
    hint = " ".join(text.strip() for text in lines[begins + 1 :]) or f"Its log: {log}"
    return reported("", code, lines[begins].removeprefix("midwatch: "), hint)


def _install(given: dict[str, str]) -> None:
    from midwatch.settings import load_settings  # noqa: PLC0415  heavy

    load_settings(client.home(), flags=_flags(given))  # a mistake is named now, not at the next login
    folder = Path("~/.config/systemd/user").expanduser()
    folder.mkdir(parents=True, exist_ok=True)
    unit = folder / "midwatch.service"
    flags = "".join(f" {word}" for word in _words(given))
    unit.write_text(UNIT.format(python=sys.executable, home=client.home(), flags=flags))
    typer.echo(f"Wrote {unit}.")
    if shutil.which("systemctl"):
        typer.echo("Start it now and at every login: systemctl --user enable --now midwatch")
        typer.echo("Keep it running when you log out: loginctl enable-linger")
    else:
        typer.echo("systemd is not available; start it yourself: midwatch up --detach")


def down() -> None:
    """Stop the server; work in progress resumes at the next start.

    Example: midwatch down
    """
    lock = client.home() / "server.lock"
    pid = _owner(lock)
    if pid is None:
        raise Refused(f"Midwatch is not running on {client.home()}.", hint="Start it: midwatch up --detach")
    os.kill(pid, signal.SIGTERM)
    until = time.monotonic() + PATIENCE
    while _owner(lock) == pid:
        if time.monotonic() > until:
            raise Broken(f"Process {pid} did not stop within {PATIENCE:g} s.", hint=f"Look at it: ps {pid}")
        time.sleep(0.05)
    typer.echo("Midwatch is stopped. Work in progress resumes at the next start.")
    if working := _still_at_work():
        typer.echo(
            f"{some(working, 'agent continues', 'agents continue')} in the sandbox, without network, within the limits."
        )
        typer.echo("  midwatch up --detach reconnects to them; then stop one with: midwatch job stop N")


def _still_at_work() -> int:
    from midwatch.compose.left_running import agents_at_work  # noqa: PLC0415  heavy

    return agents_at_work(client.home())


def _owner(lock: Path) -> int | None:
    """Return the process that holds the folder's lock, if there is one."""
    import fcntl  # noqa: PLC0415

    if not lock.exists():
        return None
    with lock.open("r+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            text = file.read().strip()
            return int(text) if text.isdigit() else None
    return None


VERBS = verbs(up=up, down=down)
