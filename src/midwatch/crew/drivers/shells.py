"""Agents hand their commands to a shell of their own; what that shell reads is the command."""

from collections.abc import Sequence

_SHELLS = frozenset(
    f"{folder}{name}" for folder in ("", "/bin/", "/usr/bin/") for name in ("bash", "sh", "zsh", "dash")
)


def script_in(words: Sequence[str]) -> str | None:
    """Give the script of `bash -lc script`; nothing for any other command, nor for a shell that is not the system's."""
    plain = len(words) == 3 and words[0] in _SHELLS and words[1] in {"-c", "-lc"}
    return words[2] if plain else None
