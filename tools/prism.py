"""Bring Prism and GitHub's own OpenAPI, with which the tests check every word said to and by GitHub.

usage: python3 tools/prism.py

They go into MIDWATCH_PRISM (else ~/.cache/midwatch-prism), a folder per pair of versions and way of cutting: the
description is cut to the paths we use, because reading all of it takes Prism a minute. Standard library only. npm's own
settings decide where packages come from; no package's install script is run.
"""

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PRISM, OPENAPI = "5.16.0", "23.0.2"
REPOSITORY = "/repos/{owner}/{repo}"
USED = {
    "": ("get",),
    "/branches/{branch}": ("get",),
    "/commits/{ref}/check-runs": ("get",),
    "/commits/{ref}/status": ("get",),
    "/issues/{issue_number}/comments": ("get", "post"),
    "/issues/{issue_number}/labels": ("post",),
    "/labels": ("post",),
    "/pulls": ("get", "post"),
    "/pulls/{pull_number}": ("get", "patch"),
    "/pulls/{pull_number}/merge": ("put",),
    "/pulls/{pull_number}/requested_reviewers": ("post",),
    "/rules/branches/{branch}": ("get",),
}
ANYWHERE = ("301", "401", "403", "404", "429", "500", "502", "503")
"""GitHub documents these once for all requests and not with each; they have its own shape of an error."""
QUIET = ("--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")


class CannotBring(Exception):
    """Why Prism is not here, as the sentence a person reads."""


def main() -> int:
    """Bring it, or say loudly that it cannot be had; the tests then say what they skip."""
    try:
        bring()
    except (CannotBring, OSError) as problem:
        print(f"midwatch: NO PRISM HERE, so tests of GitHub's API will be skipped. {problem}", file=sys.stderr)
    return 0


def place() -> Path:
    """Where both are, or would be."""
    home = Path(os.environ.get("MIDWATCH_PRISM") or Path.home() / ".cache" / "midwatch-prism")
    cutting = hashlib.sha256(json.dumps([USED, ANYWHERE]).encode()).hexdigest()[:8]
    return home / f"prism-{PRISM}-openapi-{OPENAPI}-{cutting}"


def program() -> Path:
    """Where Prism's program is, or would be."""
    return place() / "node_modules" / ".bin" / "prism"


def description() -> Path:
    """Where the cut description of GitHub's API is, or would be."""
    return place() / "github.json"


def bring() -> None:
    """Install both unless they are there; a half-done install never gets the final name."""
    here = place()
    if here.exists():
        return
    here.parent.mkdir(parents=True, exist_ok=True)
    with one_at_a_time(here.parent):
        if not here.exists():
            install(here)


def install(here: Path) -> None:
    """Let npm fetch them into a folder beside, cut the description, and rename."""
    npm = shutil.which("npm")
    if npm is None:
        raise CannotBring("There is no npm: install Node.js (which brings npm), and run the same command again.")
    print(f"midwatch: bringing Prism {PRISM} and GitHub's OpenAPI {OPENAPI} (some 20 seconds, once)", flush=True)
    unfinished = here.with_name(f"{here.name}.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir()
    wanted = (f"@stoplight/prism-cli@{PRISM}", f"@octokit/openapi@{OPENAPI}")
    command = [npm, "install", "--prefix", str(unfinished), *QUIET, *wanted]
    done = subprocess.run(command, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        print("\n".join(done.stdout.splitlines()[-15:]), file=sys.stderr)
        raise CannotBring("npm could not fetch it; its own words are above. Run the same command again when it can.")
    package = unfinished / "node_modules" / "@octokit" / "openapi"
    whole = json.loads((package / "generated" / "api.github.com.json").read_text())
    (unfinished / "github.json").write_text(json.dumps(cut(whole), indent=1))
    shutil.rmtree(package)  # 400 MB, of which we have what we need
    unfinished.rename(here)


def cut(whole: dict[str, Any]) -> dict[str, Any]:
    """Keep the operations we use and whatever they refer to."""
    paths: dict[str, Any] = {}
    for name, methods in USED.items():
        there = whole["paths"][REPOSITORY + name]
        paths[REPOSITORY + name] = {method: _operation(there[method], method) for method in methods}
    kept: dict[str, Any] = {name: whole[name] for name in ("openapi", "info", "servers")}
    kept |= {"paths": paths, "components": {"schemas": {"basic-error": whole["components"]["schemas"]["basic-error"]}}}
    wanted = list(_references(paths))
    while wanted:
        _, _, kind, name = wanted.pop().split("/")
        shelf = kept["components"].setdefault(kind, {})
        if name not in shelf:
            shelf[name] = whole["components"][kind][name]
            wanted += _references(shelf[name])
    return kept


def _operation(said: dict[str, Any], method: str) -> dict[str, Any]:
    error = {"application/json": {"schema": {"$ref": "#/components/schemas/basic-error"}}}
    everywhere: dict[str, Any] = {code: {"description": "As everywhere", "content": error} for code in ANYWHERE}
    if method == "get":
        everywhere["304"] = {"description": "Nothing has changed"}
    return {**said, "responses": everywhere | said["responses"]}


def _references(thing: object) -> Iterator[str]:
    if isinstance(thing, dict):
        for name, value in thing.items():
            if name == "$ref" and isinstance(value, str):
                yield value
            else:
                yield from _references(value)
    elif isinstance(thing, list):
        for value in thing:
            yield from _references(value)


@contextlib.contextmanager
def one_at_a_time(folder: Path) -> Iterator[None]:
    """Two at once take turns; the lock is on the folder itself, so no file is left behind."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


if __name__ == "__main__":
    sys.exit(main())
