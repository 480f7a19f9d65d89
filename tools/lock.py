"""Write requirements/*.lock from the *.in files: exact versions, every file's hash, and no address of an index.

usage: .venv/bin/python -m tools.lock [--upgrade]      without --upgrade, versions stay as they are where they can
"""

import re
import sys
import tempfile
from pathlib import Path

from tools import bootstrap

PIN = re.compile(r"^([a-z0-9][^ ;]*==[^ ;]+)", re.MULTILINE)
ADDRESS = re.compile(r"://|^\s*--(extra-index-url|index-url|find-links)", re.MULTILINE)
OPTIONS = ["--universal", "--generate-hashes", "--python-version", "3.11", "--no-header", "--no-annotate", "--quiet"]


def main(words: list[str]) -> int:
    """Lock the three sets in order; dev follows base, so that tests and people run the same versions."""
    try:
        for name in ("installer", "base", "dev"):
            followed = ["base"] if name == "dev" else []
            kept = [] if "--upgrade" in words else [name]
            lock(name, pins([*followed, *kept]))
    except bootstrap.CannotSetUp as problem:
        return bootstrap.fail(str(problem))
    return 0


def pins(names: list[str]) -> str:
    """The versions that existing locks hold, as constraints; the first lock named wins."""
    found: dict[str, str] = {}
    for name in names:
        path = lock_path(name)
        for pin in PIN.findall(path.read_text()) if path.exists() else []:
            found.setdefault(pin.split("==")[0], pin)
    return "\n".join(found.values())


def lock(name: str, constraints: str) -> None:
    """Compile into a new file (uv would keep the hashes of an old one) and put it in place if it is clean."""
    with tempfile.TemporaryDirectory() as folder:
        kept, made = Path(folder) / "kept.txt", Path(folder) / "made.lock"
        kept.write_text(constraints)
        source = bootstrap.REQUIREMENTS / f"{name}.in"
        files: list[str | Path] = ["--constraint", kept, "--output-file", made, source]
        compile_lock = [bootstrap.UV, "pip", "compile", *OPTIONS, *files]
        bootstrap.run(compile_lock, what=f"Locking {source.name}", env=main_index_only())
        text = made.read_text()
    if ADDRESS.search(text):
        raise bootstrap.CannotSetUp(f"{name}.lock would name the place packages come from; nothing was written.")
    lock_path(name).write_text(text)
    bootstrap.say(f"requirements/{name}.lock: {len(PIN.findall(text))} packages")


def lock_path(name: str) -> Path:
    """Where the lock of a set lives."""
    return bootstrap.REQUIREMENTS / f"{name}.lock"


def main_index_only() -> dict[str, str]:
    """Local mirrors often hold one platform's files; the hashes must cover every platform and Python."""
    return {**bootstrap.uv_environment(), "UV_INDEX": "", "UV_FIND_LINKS": ""}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
