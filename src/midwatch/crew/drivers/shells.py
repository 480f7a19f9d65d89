"""Agents pass their commands to a shell; the script that the shell reads is the command."""

from collections.abc import Sequence

_SHELLS = frozenset(
    f"{folder}{name}" for folder in ("", "/bin/", "/usr/bin/") for name in ("bash", "sh", "zsh", "dash")
)


def script_in(words: Sequence[str]) -> str | None:
    """Return the script of `bash -lc script`; None for any other command or a shell outside the system."""
    plain = len(words) == 3 and words[0] in _SHELLS and words[1] in {"-c", "-lc"}
    return words[2] if plain else None
