"""Payloads as lists."""

import json
from pathlib import Path

HERE = Path(__file__).parent
XSS: tuple[str, ...] = tuple((HERE / "xss.txt").read_text().splitlines())
MARKDOWN: tuple[str, ...] = tuple(
    line.replace("\\n", "\n") for line in (HERE / "markdown.txt").read_text().splitlines()
)
HIDDEN: tuple[str, ...] = tuple(json.loads((HERE / "hidden.json").read_text()))
ALL = XSS + MARKDOWN + HIDDEN
