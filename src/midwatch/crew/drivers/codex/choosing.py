"""Which way to lead the Codex that is installed."""

from midwatch.crew.drivers.codex.driver import CodexDriver
from midwatch.crew.drivers.codex.executing import CodexExecDriver


def fitting(help_text: str) -> CodexDriver | CodexExecDriver:
    """Choose by what `codex --help` says: its app server, where every act is decided, or else `codex exec`."""
    commands = {line.split()[0] for line in help_text.splitlines() if line.startswith(" ") and line.strip()}
    return CodexDriver() if "app-server" in commands else CodexExecDriver()
