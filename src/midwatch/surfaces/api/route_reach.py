"""What each route that writes can do to the machine: the one list of it, for people and tokens with a scope over HTTP.

A new route must be named here; `tests/promises/test_reach.py` compares the list with the application.
"""

from enum import StrEnum
from types import MappingProxyType
from typing import Final


class RouteReach(StrEnum):
    """What a route can do to the machine, in words for docs/security.md."""

    RECORDS = "changes Midwatch's own records only"
    READS_REPOSITORY = "reads a git repository that the server's user can read, outside known places of secrets"
    WORK = "starts, steers or ends work inside sandboxes, within limits"
    REPOSITORY = "moves a branch of a project, or changes its pull request at its forge"
    FILES = "deletes checkouts in the data folder"
    ASKS_OUT = "asks a configured model for some tokens, or sends one test message to a configured channel"
    ACCESS = "ends access, and, for a person who is logged in, gives it"
    SETTINGS = "changes settings, except those that open the walls"
    MACHINE = "nothing over HTTP: the owner's socket only"


_LISTED: Final = {
    RouteReach.RECORDS: """
        PATCH /projects/{name}
        POST /projects/{name}/flags
        POST /projects/{name}/tools/take-back
        DELETE /projects/{name}
        POST /goals
        POST /goals/{goal}/close
        POST /work
        PATCH /work/{item}
        PUT /orders
    """,
    RouteReach.READS_REPOSITORY: "POST /projects",
    RouteReach.WORK: """
        POST /sessions/start
        POST /sessions/current/say
        POST /sessions/current/{verb}
        POST /asks/{name}/answer
        POST /code
        POST /jobs/{name}/stop
        POST /jobs/{name}/resume
        POST /preflight
        POST /stacks
        PUT /level
    """,
    RouteReach.REPOSITORY: """
        POST /jobs/{name}/close
        POST /jobs/{name}/merge
        POST /jobs/{name}/unmerge
        POST /morning/review
        POST /stacks/{name}/merge
        POST /stacks/{name}/undo
    """,
    RouteReach.FILES: "POST /jobs/{name}/discard",
    RouteReach.ASKS_OUT: """
        POST /agents/{name}/hello
        POST /agents/{name}/errand
        POST /channels/{name}/test
    """,
    RouteReach.ACCESS: """
        POST /people/links
        PATCH /people/{name}
        DELETE /people/{name}
        POST /tokens
        DELETE /tokens/{name}
    """,
    RouteReach.SETTINGS: """
        POST /settings/proposals
        POST /settings/proposals/{name}/apply
        POST /settings/proposals/{name}/discard
    """,
    RouteReach.MACHINE: """
        POST /agents/{name}/trial
        PUT /agents/{name}/credential
        DELETE /agents/{name}/credential
    """,
}
WRITES: Final = MappingProxyType(
    {route.strip(): reach for reach, routes in _LISTED.items() for route in routes.strip().splitlines()}
)
"""Every route under /api/v1 that writes, by method and path."""
