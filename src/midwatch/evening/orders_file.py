"""Reading `orders.toml`: every mistake is named with its line and field."""

import re
import tomllib
from datetime import datetime

from pydantic import ValidationError

from midwatch.errors import Misuse
from midwatch.rules.paths import require_patterns
from midwatch.rules.tools.tool_lists import require_tools
from midwatch.terms.orders import Limits, Orders

EXAMPLE = """\
# The night's orders. Sign them with: midwatch brief --file orders.toml && midwatch start
level = "cautious"            # observe | cautious | moderate | full
goals = ["Keep the code base tidy without changing what it does"]
success_criteria = ["All checks stay green"]
notes = "Small, reviewable pull requests."
do_not_touch = ["migrations/**", ".github/**"]
# until = 2026-11-16T07:00:00+01:00

[[work]]
project = "PROJECT"           # as named by: midwatch project
title = "Tidy up: unused imports and white space"
checks = []                   # empty: the project's own checks, e.g. ["python -m pytest -q"]
paths = []                    # empty: the whole repository, e.g. ["src/**"]
agent = "housekeeper"
# usd = 2                     # ceilings of its own, for each job
# minutes = 60
# tools = ["Read", "Edit", "Bash(npm run *)"]   # only these; without it everything that the sandbox allows
# done_when = ["python -m pytest -q tests/test_login.py"]   # passes once it is done

# [[work]]                    # several repositories, one piece of work: their pull requests name each other
# projects = ["api", "web"]
# title = "Rename the field user_name to login"
# [[work.parts]]              # where one differs from what [[work]] says
# project = "web"
# checks = ["npm test"]
# paths = ["src/**"]

[limits]
usd = 5
tokens = 2000000
minutes = 480
rounds = 100
# leave_percent = 40          # of each limit of a subscription, for you
# leave_at = "08:00"          # then, on your clock; without it all night

[permissions]
tools = ["repo_read", "repo_write_pr"]
domains = []
external = ["pull_request"]
silence_approves = true       # a plan without an answer by its deadline counts as approved; without this line it waits
"""


def read_orders(text: str, *, name: str = "orders.toml") -> Orders:
    """Turn the file into orders, or say what is wrong with it and where."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise Misuse(
            f"{name} is not valid TOML: {_no_code(str(error))}.", hint="Compare: midwatch brief --example"
        ) from error
    if "unsaid" in data:
        raise Misuse(
            f"{name}, line {_line_of(text, ('unsaid',))}: there is no such key 'unsaid'.",
            hint="Compare: midwatch brief --example",
        )
    try:
        orders = Orders.model_validate(data)
    except ValidationError as error:
        raise _named(error, text, name) from error
    if orders.until is not None and orders.until.tzinfo is None:
        line = _line_of(text, ("until",))
        raise Misuse(f"{name}, line {line}: until has no time zone.", hint=f"Write it as {_with_zone(orders.until)}.")
    _check_leave(orders.limits, text, name)
    for place, work in enumerate(orders.work):
        if work.fault:
            line = _line_of(text, ("work", place, "title"))
            raise Misuse(f"{name}, line {line}: {work.fault}.", hint="Compare: midwatch brief --example")
    _check_patterns(orders, text, name)
    _check_tools(orders, text, name)
    return orders


def _check_tools(orders: Orders, text: str, name: str) -> None:
    for place, work in enumerate(orders.work):
        try:
            require_tools(work.tools)
        except Misuse as error:
            line = _line_of(text, ("work", place, "tools"))
            raise Misuse(f"{name}, line {line}: tools: {error.message}", hint=error.hint) from error


def _check_patterns(orders: Orders, text: str, name: str) -> None:
    written: list[tuple[tuple[int | str, ...], tuple[str, ...]]] = [(("do_not_touch",), orders.do_not_touch)]
    for place, work in enumerate(orders.work):
        written += [(("work", place, "paths"), (*work.paths, *(path for part in work.parts for path in part.paths)))]
    for where, patterns in written:
        try:
            require_patterns(patterns)
        except Misuse as error:
            line = _line_of(text, where)
            raise Misuse(f"{name}, line {line}: {where[-1]}: {error.message}", hint=error.hint) from error


def _check_leave(limits: Limits, text: str, name: str) -> None:
    if limits.leave_at is None:
        return
    line = _line_of(text, ("limits", "leave_at"))
    if not limits.leave_percent:
        raise Misuse(
            f"{name}, line {line}: leave_at is set without leave_percent.",
            hint="Add leave_percent = 40, or remove leave_at.",
        )
    if limits.leave_at.tzinfo is not None:
        raise Misuse(f"{name}, line {line}: leave_at is on your own clock.", hint='Write "08:00", without a zone.')


def _named(error: ValidationError, text: str, name: str) -> Misuse:
    first = error.errors()[0]
    where = tuple(part for part in first["loc"])
    field = ".".join(str(part) for part in where)
    line = _line_of(text, where)
    problem = _problem(first["type"], field, first["msg"])
    more = f" (and {error.error_count() - 1} more)" if error.error_count() > 1 else ""
    return Misuse(f"{name}, line {line}: {problem}{more}.", hint="Compare: midwatch brief --example")


def _problem(kind: str, field: str, said: str) -> str:
    """Describe the error in the terms of the file."""
    if kind == "extra_forbidden":
        return f"there is no such key {field!r}"
    if kind == "missing":
        return f"{field!r} is missing"
    if kind == "tuple_type":
        return f'{field} must be a list, as in ["..."]'
    return f"{field}: {said}"


def _line_of(text: str, where: tuple[int | str, ...]) -> int:
    """Find the line of a field: its table first, then the key in it."""
    names = [part for part in where if isinstance(part, str)]
    index = next((part for part in where if isinstance(part, int)), 0)
    lines = text.splitlines()
    start, seen = 0, -1
    if len(names) > 1 or (names and len(where) > 1):
        for number, line in enumerate(lines):
            if re.match(rf"\s*\[+\s*{re.escape(names[0])}\s*\]+", line):
                seen += 1
                start = number
                if seen == index:
                    break
    key = names[-1] if names else ""
    for number in range(start, len(lines)):
        if re.match(rf"\s*\[*\s*[\"']?{re.escape(key)}[\"']?\s*[=\]]", lines[number]):
            return number + 1
    return start + 1


def _no_code(said: str) -> str:
    return said.replace("'\\n'", "end of line")


def _with_zone(at: datetime) -> str:
    return at.isoformat() + "Z"
