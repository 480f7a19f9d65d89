"""Redaction of a chatty agent's log, in chunks as they come from a pipe, beside a bare copy of the same chunks."""

import json
import random
import string
import time
from collections.abc import Callable

from bench.figure import Figure, median
from midwatch.gateway.redaction.redactor import Redactor

CHUNK = 64 * 1024
MEGABYTES = 4
SECRETS = 20
ROUNDS = 5
BAR = 11.0


async def run() -> list[Figure]:
    """Redact one log, and copy it, in turns."""
    source = random.Random(20)  # noqa: S311  a log to measure with, not a key
    letters = string.ascii_letters + string.digits
    known = {f"secret-{number}": "".join(source.choices(letters, k=40)) for number in range(SECRETS)}
    log = _log(source, list(known.values()))
    chunks = [log[at : at + CHUNK] for at in range(0, len(log), CHUNK)]
    redactor = Redactor(known)
    ours, bare = [], []
    clean = b""
    for _ in range(ROUNDS):
        seconds, clean = _timed(lambda: _redacted(redactor, chunks))
        ours.append(len(log) / 1e6 / seconds)
        seconds, _copy = _timed(lambda: _copied(chunks))
        bare.append(len(log) / 1e6 / seconds)
    leaks = sum(value.encode() in clean for value in known.values())
    return [
        Figure(
            f"redaction, {SECRETS} secrets, all patterns" + (f", {leaks} LEAKS" if leaks else ""),
            f"{median(ours):.1f} MB/s",
            f"{median(bare):.0f} MB/s copied",
            f"≥ {BAR:.0f} MB/s, no leak",
            median(ours) >= BAR and not leaks,
        )
    ]


def _timed(act: Callable[[], bytes]) -> tuple[float, bytes]:
    began = time.process_time()
    result = act()
    return time.process_time() - began, result


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
