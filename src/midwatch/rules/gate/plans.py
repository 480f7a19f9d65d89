"""Does a plan stay inside what was signed? Asked before a person sees it."""

from midwatch.rules.gate.contract import WRITE
from midwatch.rules.paths import inside, touches
from midwatch.terms.contract import RunContract
from midwatch.terms.jobs import Plan
from midwatch.terms.money import some

MOST_NAMED = 10


def faults(plan: Plan, contract: RunContract) -> tuple[str, ...]:
    """Say where a plan leaves the orders, one sentence each; nothing, where it stays inside."""
    scope = contract.constraints.tool_policy.scopes.get(WRITE)
    if scope is None:
        return ("The orders allow no changes at all.",)
    outside = [path for path in plan.files if not inside(path, scope.allowed_paths)]
    forbidden = [path for path in plan.files if touches(path, contract.constraints.do_not_touch)]
    found = []
    if outside:
        paths = ", ".join(scope.allowed_paths)
        found.append(f"These files are outside the orders' paths ({paths}): {_named(outside)}.")
    if forbidden:
        found.append(f"These files are not to be touched: {_named(forbidden)}.")
    # What it names counts, not only what it guesses.
    many, lines = max(len(set(plan.files)), plan.estimate_files), plan.estimate_lines
    if scope.max_files_changed is not None and many > scope.max_files_changed:
        found.append(f"It would change {some(many, 'file')}; at most {scope.max_files_changed} are allowed.")
    if scope.max_diff_lines is not None and lines > scope.max_diff_lines:
        found.append(f"It would change about {some(lines, 'line')}; at most {scope.max_diff_lines} are allowed.")
    return tuple(found)


def _named(paths: list[str]) -> str:
    more = f" and {len(paths) - MOST_NAMED} more" if len(paths) > MOST_NAMED else ""
    return ", ".join(paths[:MOST_NAMED]) + more
