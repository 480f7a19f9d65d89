"""Redaction of a chatty agent's log, in chunks as they come from a pipe, beside bare looks at and copies of it."""

import json
import random
import re
import string
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from bench.figure import Figure, median
from midwatch.gateway.redaction.redactor import Redactor
from tests.gateway.secret_corpus import CORPUS, KNOWN, leaks

CHUNK = 64 * 1024
MEGABYTES = 4
SECRETS = 20
ROUNDS = 5
SHARE, DENSE_SHARE = 0.25, 0.04
"""Of the pace of one bare expression over the same log: an ordinary one, and one that is secrets throughout."""
MOST_WRONG = 3.0
BARE = re.compile(rb"[A-Z0-9]{20}|password|secret|token|ghp_|sk-|-----BEGIN")
"""About the least a look for secrets could cost: one expression, each byte once."""
ROOT = Path(__file__).parents[1]


class Pace(NamedTuple):
    """Megabytes a second, by the clock on the wall and by the processor's."""

    wall: float
    processor: float


async def run() -> list[Figure]:
    """Redact, look and copy in turns: an ordinary log, and one that is secrets throughout; then count mistakes."""
    source = random.Random(20)  # noqa: S311  a log to measure with, not a key
    letters = string.ascii_letters + string.digits
    known = {f"secret-{number}": "".join(source.choices(letters, k=40)) for number in range(SECRETS)}
    log = _log(source, list(known.values()))
    ordinary = _measured(f"redaction, ordinary log, {SECRETS} secrets", Redactor(known), log, SHARE)
    clean = Redactor(known).redact_bytes(log)
    assert not [value for value in known.values() if value.encode() in clean]
    dense = CORPUS * (MEGABYTES * 1_000_000 // 4 // len(CORPUS))
    return [ordinary, _measured("redaction, nothing but secrets", Redactor(KNOWN), dense, DENSE_SHARE), _mistaken()]


def _measured(name: str, redactor: Redactor, log: bytes, share: float) -> Figure:
    chunks = [log[at : at + CHUNK] for at in range(0, len(log), CHUNK)]
    ours, bare, copied, clean = [], [], [], b""
    for _ in range(ROUNDS):
        pace, clean = _paced(log, lambda: _redacted(redactor, chunks))
        ours.append(pace)
        bare.append(_paced(log, lambda: _looked(chunks))[0].processor)
        copied.append(_paced(log, lambda: _copied(chunks))[0].processor)
    found = len(leaks(clean))
    processor = median([pace.processor for pace in ours])
    return Figure(
        name + (f", {found} LEAKS" if found else ""),
        f"{median([pace.wall for pace in ours]):.1f} MB/s, CPU {processor:.1f} MB/s",
        f"{median(bare):.0f} MB/s for one bare expression, {median(copied):.0f} copied",
        f"≥ {share} of a bare expression, no leak",
        processor >= share * median(bare) and not found,
    )


def _mistaken() -> Figure:
    """Count what is taken for a secret in our own sources and documents, which hold none."""
    places = [path for folder in ("src", "bench", "tools", "docs") for path in (ROOT / folder).rglob("*")]
    texts = [
        path.read_bytes() for path in (*places, *ROOT.glob("*.md")) if path.suffix in {".py", ".md", ".html", ".toml"}
    ]
    megabytes = sum(map(len, texts)) / 1e6
    wrong = sum(len(Redactor().spans(text)) for text in texts)
    return Figure(
        "false positives in our own sources and documents",
        f"{wrong} in {megabytes:.1f} MB = {wrong / megabytes:.1f} per MB",
        "none there",
        f"≤ {MOST_WRONG:.0f} per MB",
        wrong / megabytes <= MOST_WRONG,
    )


def _paced(log: bytes, act: Callable[[], bytes]) -> tuple[Pace, bytes]:
    wall, processor = time.perf_counter(), time.process_time()
    result = act()
    size = len(log) / 1e6
    return Pace(size / (time.perf_counter() - wall), size / (time.process_time() - processor)), result


def _looked(chunks: list[bytes]) -> bytes:
    return b"" if sum(len(BARE.findall(chunk)) for chunk in chunks) else b"nothing"


def _redacted(redactor: Redactor, chunks: list[bytes]) -> bytes:
    stream = redactor.stream()
    return b"".join([*(stream.feed(chunk) for chunk in chunks), stream.end()])


def _copied(chunks: list[bytes]) -> bytes:
    held = bytearray()
    for chunk in chunks:
        held += chunk
    return bytes(held)


def _log(source: random.Random, secrets: list[str]) -> bytes:
    """Write what agents write: their own JSON, builds, tests, tracebacks, listings, and now and then a secret."""
    lines: list[str] = []
    size = 0
    while size < MEGABYTES * 1_000_000:
        number = source.randrange(10_000)
        line = source.choice(_LINES).format(n=number, hex=f"{source.getrandbits(160):040x}", word=source.choice(_WORDS))
        if number < 20:
            line += f" {source.choice(secrets)}"
        lines.append(json.dumps({"type": "assistant", "text": line + "\n" + line}) if number % 5 == 0 else line)
        size += len(lines[-1]) + 1
    return "\n".join(lines).encode()


_WORDS = ("workspace", "night", "session", "token", "gateway", "journal", "password field", "key", "checkout")
_LINES = (
    "2026-11-15 13:{n:04} INFO  midwatch.night.flow: compiling module {word}.py in /work/src/{word}/x{n}",
    "tests/gateway/test_{word}.py::test_that_the_{word}_is_closed_{n} PASSED                       [ 42%]",
    '  File "/usr/lib/python3.11/asyncio/base_events.py", line {n}, in run_until_complete',
    "commit {hex}  Author: Ann <ann@host>  fix the {word} when it has {n} entries",
    "-rw-r--r-- 1 ann ann {n} Nov 15 13:16 src/midwatch/{word}/README.md",
    "+    def {word}_of(self, tokens: list[str], *, limit: int = {n}) -> dict[str, object]:",
    "I will now look at the {word} again, since the last run used {n} tokens and ended early.",
    "GET http://127.0.0.1:{n}/api/{word}?limit=50&since={hex} 200 OK (12 ms)",
    '{{"event": "{word}", "usage": {{"input_tokens": {n}, "output_tokens": 17}}, "id": "{hex}"}}',
)
