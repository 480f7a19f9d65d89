"""Completes names in a shell: projects, jobs, agents and asks, as the server or the database knows them."""

import contextlib
import io
from collections.abc import Callable
from typing import Any, Final

from midwatch.errors import MidwatchError
from midwatch.surfaces.cli.shell import client

SOURCES: Final = {
    ("project", "name"): ("/projects", "name"),
    ("job", "name"): ("/jobs", "number"),
    ("agent", "name"): ("/agents", "name"),
    ("agent", "names"): ("/agents", "name"),
    ("asks", "number"): ("/asks", "number"),
    ("", "project"): ("/projects", "name"),
    ("", "agent"): ("/agents", "name"),
}
"""By verb and parameter, or by parameter under any verb: what is listed, and which field of it is typed."""
Complete = Callable[[Any, Any, str], list[str]]


def complete_names(command: Any, ctx: Any, verb: str) -> None:
    """Give each parameter that names something the names there are; a shell asks for them only then."""
    for param in command.get_params(ctx):
        source = SOURCES.get((verb, param.name)) or SOURCES.get(("", param.name))
        if source is not None and hasattr(param, "_custom_shell_complete"):
            param._custom_shell_complete = _names(*source)  # noqa: SLF001 - verbs need not repeat it
    for child in getattr(command, "commands", {}).values():
        complete_names(child, ctx, verb)


def _names(path: str, field: str) -> Complete:
    def complete(_ctx: Any, _param: Any, typed: str) -> list[str]:
        with contextlib.redirect_stderr(io.StringIO()):  # a shell that completes shows no remarks and no errors
            try:
                rows = client.get(path)
            except (MidwatchError, OSError):
                return []
        return sorted({str(row[field]) for row in rows if str(row[field]).startswith(typed)})

    return complete
