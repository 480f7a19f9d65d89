"""Keeping single imports safe while ruff removes their neighbours: a mark only ruff sees, gone right afterwards."""

from pathlib import Path

MARK = b"  # noqa: F401  # midwatch keeps this line"


def raise_over(file: Path, rows: set[int]) -> None:
    """Mark these lines so that ruff leaves the imports on them alone."""
    lines = file.read_bytes().split(b"\n")
    for row in rows:
        ending = b"\r" if lines[row - 1].endswith(b"\r") else b""
        lines[row - 1] = lines[row - 1].removesuffix(b"\r") + MARK + ending
    file.write_bytes(b"\n".join(lines))


def lower(file: Path, rows: set[int], before: bytes) -> None:
    """Take the marks away; where one went missing, ruff did not heed it and the file is put back as it was."""
    after = file.read_bytes()
    file.write_bytes(after.replace(MARK, b"") if after.count(MARK) == len(rows) else before)
