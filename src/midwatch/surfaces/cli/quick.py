"""Keeps short commands fast: typer loads pydantic to check any value, so texts pass unchecked and the rest waits.

Its own module: all that depends on typer's internals for speed.
"""

from typing import Any

from typer._coercion import RuntimeParam, build_runtime_param  # typer offers no other way


class Unchecked(RuntimeParam):
    """Passes a text, a switch or a list of texts as it is; typer still checks a number or a path that is given."""

    def _coerce_value(self, value: Any, param: Any, ctx: Any) -> Any:
        if self.annotation in (str, bool) and isinstance(value, self.annotation):
            return value
        if self.annotation == list[str] and isinstance(value, list | tuple):
            return list(value)
        return build_runtime_param(param.type_descriptor)._coerce_value(value, param=param, ctx=ctx)  # noqa: SLF001


def spare(command: Any, ctx: Any) -> Any:
    """Let every parameter of a command load pydantic only when it must."""
    for param in command.get_params(ctx):  # with --help, which is not declared
        kind = getattr(param, "type_descriptor", None)
        if kind is not None:
            param._runtime_param = Unchecked(  # noqa: SLF001  as above
                annotation=kind.annotation, parameter_info=kind.parameter_info
            )
    for child in getattr(command, "commands", {}).values():
        spare(child, ctx)
    return command
