"""Where Midwatch keeps its things; loads nothing heavy, because every command line starts here."""

import os
from collections.abc import Mapping
from pathlib import Path


def environment() -> Mapping[str, str]:
    """Give the process's environment; everybody else asks here, so that one place knows where values come from."""
    return os.environ  # noqa: TID251 - the one reader


def data_folder(environ: Mapping[str, str] | None = None) -> Path:
    """Tell the one data folder: MIDWATCH_HOME, else the platform's place for a program's data."""
    named = (environment() if environ is None else environ).get("MIDWATCH_HOME", "")
    if named:
        return Path(named).expanduser().absolute()
    # Half of the cost of a short command, and only needed where nobody named a folder.
    from platformdirs import user_data_path  # noqa: PLC0415

    return user_data_path("midwatch", appauthor=False)
