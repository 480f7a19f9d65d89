"""Commits what an agent left lying in its checkout, inside the walls: not every agent can, or remembers to."""

from dataclasses import replace
from datetime import timedelta

from midwatch.terms.signals import IN_CHECKOUT
from midwatch.workshop.git.sandboxed_git import Desk

WALL = timedelta(minutes=2)
JUNK = (
    *("__pycache__/", "*.pyc", ".pytest_cache/", ".mypy_cache/", ".ruff_cache/", ".hypothesis/", ".coverage"),
    *("node_modules/", ".venv/", ".tox/", ".nox/", "*.swp", "*~", ".DS_Store"),
    *(f"/{folder}/" for folder in IN_CHECKOUT),
)
"""What programs leave behind that nobody means to keep; what the project itself ignores is left out anyway."""
# A lock of a git that was killed belongs to nobody: whoever could hold it has ended.
_COMMIT = """
cd "$tree"
rm -f .git/index.lock
git -c core.excludesFile="$desk/junk" add --all -- .
git diff --cached --quiet || { git commit --quiet --no-verify --message "$message"; echo yes > "$desk/committed"; }
"""


async def commit_leftovers(desk: Desk, message: str) -> bool:
    """Commit whatever is changed or new; tell whether there was anything, and leave it lying where git will not."""
    at_work = replace(desk, walls=replace(desk.walls, tree_read_only=False))
    await at_work.put("junk", JUNK)
    code = await at_work.run(_COMMIT, {"message": message}, wall=WALL)
    return code == 0 and bool(await at_work.read("committed", most=16))
