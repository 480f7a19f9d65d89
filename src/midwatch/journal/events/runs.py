"""What happens to missions and the runs that carry them out."""

from typing import Literal

from midwatch.journal.events.happening import Happening
from midwatch.terms.contract import RunContract


class MissionCreated(Happening):
    """An ordered piece of work became a mission."""

    kind: Literal["mission.created"] = "mission.created"
    mission: str
    session: str
    project: str
    title: str
    objective: str
    work_items: tuple[str, ...]


class RunStarted(Happening):
    """A mission is being carried out by its contract."""

    kind: Literal["run.started"] = "run.started"
    run: str
    session: str
    mission: str
    project: str
    contract: RunContract


class RunFinished(Happening):
    """A run is over."""

    kind: Literal["run.finished"] = "run.finished"
    run: str
    session: str
    status: Literal["completed", "partial", "failed", "stopped"]
    summary: str
