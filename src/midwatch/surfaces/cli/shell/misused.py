"""Says what a command line lacks or cannot have, in one sentence with an example of the command itself.

Its own module: only a mistake loads it.
"""

import re
from typing import Any, Final

from typer._click import exceptions as usage  # typer offers no other way

from midwatch.errors import Misuse

WORDS: Final = {
    "changes": "what to change, as key=value",
    "entry": "an entry or a recommendation",
    "key": "the name of a setting",
    "proposal": "the number of a proposal",
    "item": "the number of a work item",
    "path": "a path",
}
"""What a person calls an argument, where its own name would not say it."""
NAMING: Final = ("add", "new")
"""Commands that give something its name; all others take the name of something."""
EXAMPLE: Final = re.compile(r"Example: (midwatch .*?)(?:; midwatch|$)", re.MULTILINE)


def misused(error: usage.UsageError) -> Misuse:
    """Turn typer's report into ours."""
    said = _missing(error) if isinstance(error, usage.MissingParameter) else error.format_message()
    return Misuse(said if said.endswith((".", "?")) else f"{said}.", hint=_hint(error))


def _missing(error: usage.MissingParameter) -> str:
    ctx, param = error.ctx, error.param
    if ctx is None or param is None:
        return error.format_message()
    lacking = [one for one in ctx.command.params if one.required and ctx.params.get(str(one.name)) is None]
    said = ctx.command_path.partition(" ")[2]
    return f'"{said}" needs {" and ".join(_called(one, ctx) for one in lacking or [param])}.'


def _called(param: Any, ctx: Any) -> str:
    if param.opts and param.opts[0].startswith("-"):
        return str(param.opts[0])
    verb, *words = ctx.command_path.split()[1:]
    name = param.name
    if name == "name" and not {*words} & {*NAMING}:
        name = "entry" if verb == "why" else verb
    word = name.replace("_", " ").strip()
    return WORDS.get(name) or f"{'an' if word[0] in 'aeiou' else 'a'} {word}"


def _hint(error: usage.UsageError) -> str:
    ctx = error.ctx
    if ctx is None:
        return "See: midwatch --help"
    shown = EXAMPLE.search((ctx.command.help or "").replace("\b", ""))
    if isinstance(error, usage.MissingParameter) and shown:
        return f"For example: {shown[1]}"
    return f"See: {ctx.command_path} --help"
