"""Hold the law of tool calls against shell calls of real agents, out of their session records.

Reads a folder with one folder per repository, each with Claude Code or Codex transcripts (`*.jsonl`), SpecStory
histories (`*.md`) or SWE-agent trajectories (`*.traj`), and prints how many calls run, are asked about and are refused,
by kind, without walls and inside strong ones. `--show ask` or `--show deny` prints those calls.

    .venv/bin/python tools/shell_calls.py /folder/of/records
"""

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from midwatch.rules.tools.command_lists import GIT_READERS, NEVER, READERS, basename
from midwatch.rules.tools.program_words import NETWORK
from midwatch.rules.tools.rough_shell import TooDeep, read_roughly
from midwatch.rules.tools.tool_calls import ToolCall, ToolFacts, ToolOutcome, ToolVerdict, decide
from midwatch.settings import Settings
from midwatch.terms.agents import Errand
from midwatch.terms.trust import Isolation, Level

WEAK = ToolFacts(
    errand=Errand.EXECUTE,
    level=Level.CAUTIOUS,
    allowed_paths=("**",),
    allowed_tools=Settings().execution.allowed_tools,
    scratch=("/tmp",),  # noqa: S108 - inside, it is the job's own
)
STRONG = replace(WEAK, isolation=Isolation.BUBBLEWRAP)
KINDS = ("tests", "builds", "one-liners", "git", "readers", "network and afar", "other")
AFAR = frozenset({"call.run_afar", "call.run_never", "call.fetch_unlisted", "call.fetch_unclear"})
"""Refusals that RULES 9 names: other machines, publishing, hosts that are not listed."""
_TESTS = re.compile(
    r"\b(?:pytest|vitest|jest|unittest|tox|nox|mocha|playwright test|cargo test|go test|gotestsum|(?:npm|pnpm|yarn|bun)"
    r"(?: run)?(?: --?\S+)* test\S*|make (?:test|check)\S*|mise run test\S*|nx \S*test\S*)\b"
)
_BUILDS = re.compile(
    r"\b(?:tsc|make|cmake|gradle|mvn|webpack|vite|esbuild|eslint|prettier|ruff|mypy|gofmt|golangci-lint|biome|"
    r"(?:npm|pnpm|yarn|bun|pip|pip3|uv|poetry|cargo|go|mise|nx)\s+(?:run|install|i|ci|add|build|exec|fmt|vet|mod|lint|"
    r"sync|check|clippy|generate|x|dlx|typecheck|list|ls|view|info|why|outdated|tidy|get))\b"
)
_ONE_LINER = re.compile(
    r"<<|\b(?:python3?|node|ruby|perl|bun|deno)\s+(?:-\S+\s+)*-(?:c|e|p|pe|ne|)\s|\b(?:for|while)\s"
)
_SPECSTORY = re.compile(r'<tool-use data-tool-type="shell"[^>]*>(.*?)</tool-use>', re.DOTALL)
_TICKS = re.compile(r"^`([^`\n]+)`\s*$", re.MULTILINE)
_FENCE = re.compile(r"```(?:bash|sh|shell|zsh)\n(.*?)\n```", re.DOTALL)


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """One shell call as its agent made it, with its own folder written as the sandbox's."""

    repository: str
    command: str


def recorded(folder: Path) -> Iterator[RecordedCall]:
    """Read every record below a folder; each of its folders is one repository."""
    for repository in sorted(path for path in folder.iterdir() if path.is_dir()):
        seen = set[tuple[str, str]]()
        for path in sorted(repository.rglob("*")):
            for name, command, root in _calls_in(path) if path.is_file() else ():
                if (name, command) not in seen and command.strip():
                    seen.add((name, command))
                    yield RecordedCall(repository.name, _as_inside(command, root))


def _calls_in(path: Path) -> Iterator[tuple[str, str, str]]:
    """Give each call with its id, its command and the folder it was made in."""
    text = path.read_text(errors="replace") if path.suffix in {".jsonl", ".md", ".traj", ".json"} else ""
    if path.suffix == ".jsonl":
        for line in text.splitlines():
            yield from _in_line(line)
    elif path.suffix == ".md":
        for number, block in enumerate(_SPECSTORY.findall(text)):
            yield from ((f"{path.name}.{number}", command, _root_in(text)) for command in _in_block(block))
    elif path.suffix in {".traj", ".json"}:
        steps = json.loads(text).get("trajectory", ())
        yield from ((f"{path.name}.{at}", str(step.get("action", "")), "/testbed") for at, step in enumerate(steps))


def _in_block(block: str) -> Iterator[str]:
    """Its command comes first, in ticks or fenced; a fence further down is output."""
    found = [one for one in (_FENCE.search(block), _TICKS.search(block)) if one]
    first = min(found, key=lambda one: one.start(), default=None)
    if first and not first.group(1).startswith("+"):
        yield first.group(1)


def _root_in(text: str) -> str:
    """The repository's folder on the machine of the record: the one its histories mention most."""
    homes = Counter(
        re.findall(r"/(?:Users|home)/[\w.-]+(?:/[\w.-]+){1,4}?(?=/(?:src|pkg|specstory-cli|\.specstory)\b)", text)
    )
    return homes.most_common(1)[0][0] if homes else ""


def _in_line(line: str) -> Iterator[tuple[str, str, str]]:
    try:
        record = json.loads(line)
    except ValueError:
        return
    message = record.get("message") if isinstance(record, Mapping) else None
    content = message.get("content") if isinstance(message, Mapping) else None
    for part in content if isinstance(content, list) else ():
        if isinstance(part, Mapping) and part.get("type") == "tool_use" and part.get("name") == "Bash":
            yield str(part.get("id")), str((part.get("input") or {}).get("command") or ""), str(record.get("cwd") or "")
    payload = record.get("payload") if isinstance(record, Mapping) else None
    if isinstance(payload, Mapping) and payload.get("type") == "function_call":
        yield from _of_codex(payload)


def _of_codex(payload: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    try:
        given = json.loads(payload.get("arguments") or "{}")
    except ValueError:
        return
    command = given.get("command") or given.get("cmd") or ""
    if isinstance(command, list):
        command = command[-1] if command[:2] in (["bash", "-lc"], ["zsh", "-lc"]) else " ".join(map(str, command))
    yield str(payload.get("call_id")), str(command), str(given.get("workdir") or "")


def _as_inside(command: str, root: str) -> str:
    """The agent would see its tree at /ws and its home at /home/agent: write the record so."""
    inside = command.replace(root, "/ws") if root.count("/") > 1 else command
    inside = re.sub(r"/(?:private/)?(?:tmp|var/folders)(?=/)", "/tmp", inside)  # noqa: S108 - the job's own
    return re.sub(r"/(?:Users|home)/(?!agent\b)[\w.-]+(?=/|\b)", "/home/agent", inside)


def kind_of(command: str, verdict: ToolVerdict) -> str:
    """Name what a call is for."""
    words = _programs(command)
    if verdict.first.code in AFAR or words & (NETWORK | NEVER):
        return "network and afar"
    if _TESTS.search(command):
        return "tests"
    if _ONE_LINER.search(command):
        return "one-liners"
    if _BUILDS.search(command):
        return "builds"
    if "git" in words:
        return "git"
    return "readers" if words <= READERS | GIT_READERS | {"cd", "sed", "awk", "jq", "xargs"} else "other"


def _programs(command: str) -> frozenset[str]:
    try:
        return frozenset(basename(one.words[0]) for one in read_roughly(command[:20_000]) if one.words)
    except TooDeep:
        return frozenset()


def main() -> int:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("records", type=Path)
    asked.add_argument("--show", choices=[one.value for one in ToolOutcome], default="")
    given = asked.parse_args()
    before, after, sources = Counter[tuple[str, str]](), Counter[tuple[str, str]](), Counter[str]()
    for one in recorded(given.records):
        call = ToolCall("Bash", {"command": one.command})
        weak, strong = decide(call, WEAK), decide(call, STRONG)
        kind = kind_of(one.command, strong)
        before[kind, weak.outcome] += 1
        after[kind, strong.outcome] += 1
        sources[one.repository] += 1
        if given.show == strong.outcome.value:
            sys.stdout.write(f"--- {one.repository} · {kind} · {strong.first.text}\n{one.command}\n")
    _report("without walls", before)
    _report("inside strong walls", after)
    sys.stdout.write("".join(f"{number:6} {name}\n" for name, number in sources.most_common()))
    return 0


def _report(title: str, counted: Counter[tuple[str, str]]) -> None:
    sys.stdout.write(f"\n{title:<20}{'calls':>8}{'run':>8}{'ask':>8}{'refused':>9}{'run %':>8}\n")
    for kind in (*KINDS, "all"):
        run, ask, deny = (
            sum(number for (which, how), number in counted.items() if how == outcome and kind in {which, "all"})
            for outcome in (ToolOutcome.ALLOW, ToolOutcome.ASK, ToolOutcome.DENY)
        )
        share = 100 * run / (run + ask + deny) if run + ask + deny else 100
        sys.stdout.write(f"{kind:<20}{run + ask + deny:>8}{run:>8}{ask:>8}{deny:>9}{share:>8.1f}\n")


if __name__ == "__main__":
    sys.exit(main())
