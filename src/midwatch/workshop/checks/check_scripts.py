"""Which scripts of the base a check finally runs: a Makefile that calls a script is only as good as that script."""

import asyncio
import json
import re
from collections.abc import Iterable, Iterator, Mapping

from midwatch.errors import Unknown
from midwatch.workshop.checks.check_files import INTERPRETERS, MOST_CHARACTERS, SCRIPT_NAMES, Read

RECIPES = ("GNUmakefile", "makefile", "Makefile", "justfile", "Justfile", "package.json", "tox.ini", "noxfile.py")
"""Files at the top that say what a check's short name means."""
MOST_SCRIPTS = 50

_RULE = re.compile(r"^([\w./%-]+(?:[ \t]+[\w./%-]+){0,20})[^\n:=]{0,80}:(?!=)([^\n]*)")
_INCLUDE = re.compile(r"^(?:[-s]?include|import\??)[ \t]+([^\n#]{1,500})", re.MULTILINE)
_PIECES = re.compile(r"[;&|()`\n]+")
_NOISE = re.compile(r"[\"',\[\]\\]+")
_HERE = re.compile(r"^(?:\$\w+/|\{\w+\}/|\./)*")
_VARIABLE = re.compile(r"\$[({](?:\w+)[)}]/?")
_BEGINS = re.compile(r"^\s*(?:[\w.-]+[ \t]*[:?+]{0,2}=[ \t]+|[\w.-]+[ \t]+[:?+]{0,2}=[ \t]*|[@+-]+)")
_SKIPPED = re.compile(r"[!.]|source|exec|env|time|nice|command|then|else|do|if|while|-\S*|\w+=\S*")
_FOLDERS = frozenset({"scripts", "script", "tools", "tool", "ci", ".ci", "hack", "build", "dev"})


async def called_scripts(read: Read, base: str, commands: Iterable[str], paths: frozenset[str]) -> frozenset[str]:
    """Name the base's files that check commands call through its recipes, and those that these files call."""
    asked, found, texts = tuple(commands), set[str](), list[str]()
    for name in (one for one in RECIPES if one in paths):
        parts = await _with_included(read, base, name, paths)
        said = "\n".join(parts.values())[:MOST_CHARACTERS]
        texts.append(await asyncio.to_thread(said_of_checks, name, said, asked))
        found.update(parts.keys() - {name})
    left, texts = MOST_SCRIPTS, [*asked, *texts]
    while new := sorted(_scripts(texts, paths) - found):
        found.update(new)
        texts = [await _text(read, base, path) for path in new[:left]]
        left -= len(texts)
    return frozenset(found)


async def _with_included(read: Read, base: str, name: str, paths: frozenset[str]) -> Mapping[str, str]:
    """Read a recipe file and every file it includes, at any depth; an included file controls checks in the same way."""
    texts = {name: await _text(read, base, name)}
    if not _is_makefile(name):
        return texts
    wanted = [name]
    while wanted:
        named = (word for found in _INCLUDE.findall(texts[wanted.pop()]) for word in _VARIABLE.sub("", found).split())
        more = sorted({_HERE.sub("", word.strip("\"'")) for word in named} & paths - texts.keys())
        for path in more[: MOST_SCRIPTS - len(texts)]:
            texts[path] = await _text(read, base, path)
            wanted.append(path)
    return texts


def said_of_checks(name: str, text: str, commands: Iterable[str]) -> str:
    """Return what a recipe file says about checks: its targets or scripts named like a check, and what they need."""
    if name == "package.json":
        parts, always = _package_scripts(text), ""
    elif _is_makefile(name):
        parts, always = _targets(text)
    else:
        return text
    words = {word for command in commands for word in command.split()}
    bare = bool(words & {"make", "just"}) and not words & parts.keys()
    wanted = [one for one in parts if one in words or SCRIPT_NAMES.search(one.lower())] + [*parts][: int(bare)]
    reached: set[str] = set()
    while wanted:
        one = wanted.pop()
        if one not in reached:
            reached.add(one)
            wanted += parts.keys() & set(re.split(r"[\s:;&|(){}\"']+", parts[one]))
    return "\n".join([always, *(parts[one] for one in parts if one in reached)])


def called_in(text: str) -> Iterator[str]:
    """List the words at the places where a shell expects a program, or an interpreter its script."""
    for piece in _PIECES.split(_VARIABLE.sub("", text)):
        for word in _NOISE.sub(" ", _BEGINS.sub("", piece)).split():
            if "=" in word:
                yield _HERE.sub("", word.rpartition("=")[2])
            if not _SKIPPED.fullmatch(word) and not INTERPRETERS.match(word):
                yield _HERE.sub("", word)
                break


def _is_makefile(name: str) -> bool:
    return name.lower().endswith(("makefile", "justfile"))


def _scripts(texts: Iterable[str], paths: frozenset[str]) -> frozenset[str]:
    return frozenset(word for text in texts for word in called_in(text) if word in paths and _is_script(word))


def _is_script(path: str) -> bool:
    """Whether a file is called as a script of the project; `python3 app.py` runs what the work is about."""
    *folders, name = path.split("/")
    shell = name.endswith((".sh", ".bash", ".zsh")) or name in {"gradlew", "mvnw"}
    return shell or bool(SCRIPT_NAMES.search(name.lower())) or bool(_FOLDERS & set(folders))


def _targets(text: str) -> tuple[dict[str, str], str]:
    """Return each target with what it needs and does, and the lines outside all targets."""
    parts: dict[str, str] = {}
    always: list[str] = []
    here: list[str] = []
    for line in text.replace("\\\n", " ").splitlines():
        if line[:1] in (" ", "\t") and here:
            for name in here:
                parts[name] += f"\n{line}"
        elif rule := _RULE.match(line):
            here = rule[1].split()
            for name in here:
                parts[name] = f"{parts.get(name, '')}\n;{rule[2]}"
        elif line.strip():
            here = []
            always.append(line)
    return parts, "\n".join(always)


def _package_scripts(text: str) -> Mapping[str, str]:
    try:
        return {str(name): str(value) for name, value in json.loads(text)["scripts"].items()}
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return {}


async def _text(read: Read, commit: str, path: str) -> str:
    try:
        return (await read(commit, path))[:MOST_CHARACTERS].decode(errors="replace")
    except Unknown:
        return ""
