"""What is taken for a secret and is none: counted where there are none, and printed."""

from pathlib import Path

import fastapi
import hypothesis
import pytest
import sqlalchemy

from midwatch.gateway.redaction.redactor import Redactor
from tests.conftest import ROOT

OWN = [*ROOT.glob("src/**/*.py"), *ROOT.glob("bench/**/*.py"), *ROOT.glob("tools/**/*.py"), *ROOT.glob("tests/**/*.py")]
WHEELS = {module.__name__: Path(str(module.__file__)).parent for module in (fastapi, hypothesis, sqlalchemy)}


def counted(paths: list[Path]) -> tuple[int, int, list[str]]:
    """How many bytes were read, how many secrets were seen, and which."""
    redactor, size, seen = Redactor(), 0, []
    for path in paths:
        data = path.read_bytes()
        size += len(data)
        seen += [f"{path.name}: {span.label.decode()} {data[span.start : span.end]!r}" for span in redactor.spans(data)]
    return size, len(seen), seen


def said(where: str, size: int, count: int, seen: list[str]) -> None:
    print(f"\nfalse positives in {where}: {count} in {size / 1e6:.1f} MB", *seen[:40], sep="\n  ")


def test_our_own_source_holds_next_to_nothing_that_looks_like_a_secret(capsys: pytest.CaptureFixture[str]) -> None:
    size, count, seen = counted(OWN)
    with capsys.disabled():
        said("our own source", size, count, seen)
    assert count <= 25


@pytest.mark.parametrize("name", WHEELS)
def test_a_wheel_of_ordinary_python_holds_next_to_nothing(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    size, count, seen = counted(sorted(WHEELS[name].glob("**/*.py")))
    with capsys.disabled():
        said(name, size, count, seen)
    assert count <= 5
