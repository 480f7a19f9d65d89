"""One measured figure with its bar."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """What was measured, beside what, and whether its bar is met."""

    what: str
    measured: str
    beside: str
    bar: str
    met: bool

    def line(self) -> str:
        """One line for people."""
        mark = "ok  " if self.met else "MISS"
        return f"{mark} {self.what:<44} {self.measured:<34} beside {self.beside:<34} bar {self.bar}"


def median(values: list[float]) -> float:
    """The middle one."""
    return sorted(values)[len(values) // 2]


def p99(values: list[float]) -> float:
    """Almost the worst."""
    return sorted(values)[int(len(values) * 0.99)]
