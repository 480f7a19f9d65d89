"""Keeping short commands short: typer loads pydantic even to hand a plain word on; we let it hand it on as it is."""

from typing import Any


def spare(command: Any, ctx: Any) -> Any:
    """Let texts and switches of a command pass as they are; lists, numbers and paths are still checked by typer."""
    from typer._coercion import PassThroughRuntimeParam  # noqa: PLC0415  typer's own, and only wanted here

    for param in command.get_params(ctx):  # with --help, which is no declared one
        kind = getattr(param, "type_descriptor", None)
        if kind is not None and kind.annotation in {str, bool} and not param.multiple and param.nargs == 1:
            param._runtime_param = PassThroughRuntimeParam(  # noqa: SLF001  typer offers no other way
                annotation=kind.annotation, parameter_info=kind.parameter_info
            )
    for child in getattr(command, "commands", {}).values():
        spare(child, ctx)
    return command
