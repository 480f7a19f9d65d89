"""Naming a command that prints a secret: that is said in midwatch.toml only, so one line of it is written here."""

from pathlib import Path

from midwatch.surfaces.cli.house import settings_file


class CommandLine:
    """The line of midwatch.toml that names a command for one secret."""

    def __init__(self, home: Path, name: str) -> None:
        self._home = home
        self._name = name
        self._before: str | None = None

    def write(self, reference: str) -> None:
        """Put the line in; everything else in the file stays as it is, or nothing is written."""
        text = settings_file.read(self._home)
        changed = with_secret(text, self._name, reference)
        if changed != text:
            settings_file.put(self._home, changed)
            self._before = text

    def undo(self) -> None:
        """Take it out again."""
        if self._before is not None:
            settings_file.put(self._home, self._before)


def with_secret(text: str, name: str, reference: str) -> str:
    """Write one secret's reference into the text of a settings file, and see that nothing else became different."""
    return settings_file.with_value(text, "secrets", name, reference)
