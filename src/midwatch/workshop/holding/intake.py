"""The agent's input: accepted at once, passed on as the agent reads, and bounded in size."""

import os
import selectors

INPUT_ROOM = 1 << 20
WRITE_BYTES = 1 << 16


class Intake:
    """Holds what the agent has not read yet."""

    def __init__(self, selector: selectors.BaseSelector, stdin: int | None) -> None:
        self._selector, self._stdin = selector, stdin
        self._waiting = bytearray()
        self._ends = stdin is None

    def take(self, data: bytes, *, ends: bool) -> str:
        """Accept some input, the last if `ends`; return the reason if that fails."""
        if self._stdin is None or self._ends:
            return "its input is at its end"
        if len(self._waiting) + len(data) > INPUT_ROOM:
            return "full"
        self._waiting += data
        self._ends = ends
        if self._stdin not in self._selector.get_map():
            self._selector.register(self._stdin, selectors.EVENT_WRITE, self._pump)
        return ""

    def _pump(self) -> None:
        assert self._stdin is not None  # noqa: S101 - for the type checker
        try:
            del self._waiting[: os.write(self._stdin, self._waiting[:WRITE_BYTES]) if self._waiting else 0]
        except BlockingIOError:
            return
        except OSError:  # the agent has closed its input
            self._waiting.clear()
            self._ends = True
        if not self._waiting:
            self._selector.unregister(self._stdin)
            if self._ends:
                os.close(self._stdin)
                self._stdin = None
