"""Settings: every number a person may tune, where its value came from, and the data folder.

What is named here is loaded on first use, so that `midwatch.settings.folder` alone stays cheap.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from midwatch.settings.derived import (
        careful_limits,
        digest_time,
        gate_limits,
        granted_ceilings,
        model_prices,
        quiet_hours,
        refuse_foreign,
        secret_references,
        session_limits,
    )
    from midwatch.settings.folder import data_folder
    from midwatch.settings.keys import KEYS, SettingKey, key_named, parse_value
    from midwatch.settings.loading import LoadedSettings, SettingChange, SettingRow, check_changes, diff, load_settings
    from midwatch.settings.tree import Settings

__all__ = [
    "KEYS",
    "LoadedSettings",
    "SettingChange",
    "SettingKey",
    "SettingRow",
    "Settings",
    "careful_limits",
    "check_changes",
    "data_folder",
    "diff",
    "digest_time",
    "gate_limits",
    "granted_ceilings",
    "key_named",
    "load_settings",
    "model_prices",
    "parse_value",
    "quiet_hours",
    "refuse_foreign",
    "secret_references",
    "session_limits",
]

_MODULES = ("folder", "tree", "keys", "loading", "derived")

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """Find an exported name in the module that holds it; the cheap one is tried first."""
        if name in __all__:
            for module in _MODULES:
                found = vars(import_module(f"{__name__}.{module}")).get(name)
                if found is not None:
                    return found
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
