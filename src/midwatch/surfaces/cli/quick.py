"""Keeps short commands fast: typer loads pydantic even for plain texts, so these pass unchecked."""

from typing import Any


def spare(command: Any, ctx: Any) -> Any:
    """Pass texts and switches of a command as they are; typer still checks lists, numbers and paths."""
    from typer._coercion import PassThroughRuntimeParam  # noqa: PLC0415  typer's own, and only wanted here

    for param in command.get_params(ctx):  # with --help, which is not declared
        kind = getattr(param, "type_descriptor", None)
        if kind is not None and kind.annotation in {str, bool} and not param.multiple and param.nargs == 1:
            param._runtime_param = PassThroughRuntimeParam(  # noqa: SLF001  typer offers no other way
                annotation=kind.annotation, parameter_info=kind.parameter_info
            )
    for child in getattr(command, "commands", {}).values():
        spare(child, ctx)
    return command
