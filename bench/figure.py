"""One measured figure with its bar."""

from dataclasses import dataclass

MET, MISSED = "ok  ", "MISS"


class NotMeasured(Exception):
    """What was to be measured did not happen, so there is no time to compare."""


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
        mark = MET if self.met else MISSED
        return f"{mark} {self.what:<44} {self.measured:<34} beside {self.beside:<34} bar {self.bar}"


def median(values: list[float]) -> float:
    """The middle one."""
    return sorted(values)[len(values) // 2]


def p99(values: list[float]) -> float:
    """Almost the worst."""
    return sorted(values)[int(len(values) * 0.99)]
