"""What each kind of event looks like in a journal. `python -m tests.journal.golden_files` writes those still missing.

`<kind>.json` is today's shape. When a shape changes, rename the file to `<kind>.before-<n>.json`, keep it for ever, add
an upcast and write the new one: journals of that age exist and must stay readable.
"""

import json
from pathlib import Path
from typing import Any

from midwatch.journal.upcasts import write_event
from tests.journal.samples import KINDS, sample

FOLDER = Path(__file__).parent / "golden"


def stored() -> dict[str, tuple[str, dict[str, Any]]]:
    """Every golden file by name: its kind and its payload."""
    files = {path.name: json.loads(path.read_text()) for path in sorted(FOLDER.glob("*.json"))}
    return {name: (content["kind"], content["payload"]) for name, content in files.items()}


def write_missing() -> None:
    """Write a file for each kind that has none."""
    for name, kind in KINDS.items():
        path = FOLDER / f"{name}.json"
        if not path.exists():
            content = {"kind": name, "payload": write_event(sample(kind))}
            path.write_text(json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    write_missing()
