"""However a secret is written and wherever it is cut, it is in no log, no entry, no blob, no answer and on no page."""

import random
from collections.abc import Iterable
from pathlib import Path

import pytest
import sqlalchemy as sa
from pydantic import JsonValue

from midwatch.compose.house import House, Parts
from midwatch.compose.opening import open_house
from midwatch.engine.inline import InlineEngine
from midwatch.gateway.redaction.redactor import Redactor
from midwatch.journal.events import Event
from midwatch.journal.events.session import MessageSaid, NoticeRaised, ToolCalled, ToolFinished
from midwatch.store.schema.engines import is_sqlite, open_sync_writer
from midwatch.terms.asks import Tier
from tests.gateway.secret_corpus import CORPUS, FORBIDDEN, ITEMS, KNOWN, chunks, leaks, texts
from tests.surfaces.visitor import Visitor, visiting, welcome

PAGES = ("/", "/live", "/tonight", "/morning")
LISTS = ("status", "settings", "settings/proposals", "asks", "runs", "jobs", "work", "goals", "tokens", "doctor/verify")
FEW = random.Random(20).sample(range(3000), 12)  # noqa: S311  repeatable


def settings_file(home: Path) -> None:
    """Name every secret by a file that only we can read."""
    home.mkdir(parents=True, exist_ok=True)
    lines = ["[secrets]"]
    for name, value in KNOWN.items():
        kept = home.parent / f"{name}.secret"
        kept.write_text(value)
        kept.chmod(0o600)
        lines.append(f'{name} = "file:{kept}"')
    (home / "midwatch.toml").write_text("\n".join(lines))


def logged(redactor: Redactor, seed: int) -> bytes:
    """One stream into one log; every other one pauses now and then, as a terminal does."""
    source = random.Random(seed)  # noqa: S311  repeatable
    stream, out = redactor.stream(), []
    for chunk in chunks(CORPUS, seed):
        out.append(stream.feed(chunk))
        if seed % 2 and source.random() < 0.1:
            out.append(stream.pause())
    return b"".join([*out, stream.end()])


def events(text: str, number: str, source: random.Random) -> tuple[Event, ...]:
    """Put a text into events that carry what agents and people say."""
    nested: dict[str, JsonValue] = {"argv": ["run", text], "deep": {"env": {text: 1, "output": text}}, "count": 3}
    called = ToolCalled(invocation=f"inv_{number}", tool="shell", session="", run="", job="", request=nested)
    finished = ToolFinished(invocation=f"inv_{number}", status="error", result=nested, error=text)
    notice = NoticeRaised(notice=f"ntc_{number}", session="", tier=Tier.ACTION, text=text, subject=text)
    message = MessageSaid(message=f"msg_{number}", session="", by="ann", text=text)
    return source.choice([(message,), (notice,), (called, finished), (message, notice)])


async def lived(house: House, seed: int, log: Path) -> None:
    """Let one chunking of the corpus go through everything that writes."""
    source = random.Random(f"events {seed}")  # noqa: S311  repeatable
    with log.open("ab") as file:
        file.write(logged(house.redactor, seed))
    for number, text in enumerate(texts(seed)):
        said = events(text, f"{seed}-{number}", source)
        actor, key = source.choice(ITEMS[1:60]), f"{seed}:{number}:{source.choice(list(KNOWN.values()))}"
        first = await house.journal.record(*said, key=key, actor=actor)
        assert await house.journal.record(*said, key=key, actor=actor) == first
        await house.blobs.keep(f"{seed}\n{text}".encode(source.choice(["utf-8", "utf-8", "utf-16"])))


def dumped(url: str) -> bytes:
    """Every table of the database, row by row."""
    engine = open_sync_writer(url)
    try:
        with engine.connect() as connection:
            names = sa.inspect(engine).get_table_names()
            rows = [row for name in names for row in connection.execute(sa.text(f'SELECT * FROM "{name}"'))]  # noqa: S608
    finally:
        engine.dispose()
    return "\n".join(str(value) for row in rows for value in row).encode()


async def answers(visitor: Visitor) -> bytes:
    """Everything a program can ask for."""
    got = [(await visitor.api("GET", f"/{path}")).content for path in LISTS]
    after = 0
    while page := (await visitor.api("GET", f"/entries?after={after}&limit=1000")).json():
        got.append("\n".join(f"{one['actor']} {one['text']}" for one in page).encode())
        after = page[-1]["seq"]
    got += [(await visitor.api("GET", f"/why/{number}")).content for number in range(1, after, 17)]
    return b"\n".join(got)


def stored(folder: Path, which: str = "*") -> bytes:
    return b"\n".join(path.read_bytes() for path in sorted(folder.rglob(which)) if path.is_file())


async def everywhere(home: Path, seeds: Iterable[int], url: str = "") -> dict[str, bytes]:
    """Live through these chunkings, and give whatever can be read afterwards, by its place."""
    settings_file(home)
    log = home.parent / "agent.log"
    seen = dict.fromkeys(("page", "API"), b"")
    flags: dict[str, JsonValue] = {"database.url": url} if url else {}
    async with open_house(home, flags=flags, parts=Parts(engine=InlineEngine())) as house, visiting(house) as visitor:
        await welcome(house, visitor)
        for count, seed in enumerate(seeds):
            await lived(house, seed, log)
            if count % 10 == 0:
                pages = [(await visitor.get(path)).content for path in PAGES]
                assert b"[secret:" in b"".join(pages)
                seen["page"] += b"\n".join(pages)
        seen["API"] = await answers(visitor)
        seen["tables"] = dumped(house.url)
        if is_sqlite(house.url):
            seen["database file"] = stored(home, "midwatch.db*")
    return seen | {"log": log.read_bytes(), "blobs": stored(home / "blobs"), "data folder": stored(home)}


def said(seeds: int, seen: dict[str, bytes]) -> str:
    places = ", ".join(f"{place} {len(content) / 1e6:.1f} MB" for place, content in seen.items())
    found = sum(len(leaks(content)) for content in seen.values())
    return f"{seeds} chunkings of {len(CORPUS)} bytes, {len(FORBIDDEN)} writings of secrets; {places}: {found} leaks"


def test_the_corpus_holds_every_secret_it_is_searched_for() -> None:
    assert len(leaks(CORPUS)) > 0.9 * len(FORBIDDEN)
    assert leaks(b"an honest line") == []


async def test_twelve_chunkings_leak_nowhere(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    seen = await everywhere(tmp_path / "house", FEW)
    with capsys.disabled():
        print(f"\n{said(len(FEW), seen)}")
    for place, content in seen.items():
        assert leaks(content) == [], place
        assert b"[secret:database]" in content or place == "page", place


@pytest.mark.postgres
async def test_chunkings_leak_nowhere_on_postgresql(tmp_path: Path, postgres_url: str) -> None:
    seen = await everywhere(tmp_path / "house", FEW[:5], postgres_url)
    for place, content in seen.items():
        assert leaks(content) == [], place


@pytest.mark.sweep
@pytest.mark.parametrize("hundred", range(30))
async def test_three_thousand_chunkings_leak_nowhere(hundred: int, tmp_path: Path) -> None:
    seen = await everywhere(tmp_path / "house", range(hundred * 100, hundred * 100 + 100))
    print(said(100, seen))
    assert {place: leaks(content) for place, content in seen.items() if leaks(content)} == {}
