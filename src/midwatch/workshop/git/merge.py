"""Merges branches one upon the other in our mirror: no checkout, nobody's ref moves, conflicts are named by file."""

from pathlib import Path

from midwatch.errors import Refused
from midwatch.workshop.git.git import Git
from midwatch.workshop.git.mirrors import GitMirrors
from midwatch.workshop.upkeep.folders import part, sha

UNRELATED = "(the two have no history in common)"


class MirrorMerger:
    """Joins commits of one mirror; what comes of it is kept only when a stack asks for it."""

    def __init__(self, mirrors: GitMirrors) -> None:
        self._mirrors = mirrors

    async def join(self, project: str, onto: str, head: str, message: str) -> tuple[str, tuple[str, ...]]:
        """Merge one commit upon another: the new commit, or nothing and the files in which they conflict."""
        async with self._mirrors.held(project) as (mirror, git):
            tree, files = await _merged(git.bounded(), mirror, sha(onto), sha(head))
            if not tree:
                return "", files
            sides = ("-p", sha(onto), "-p", sha(head))
            return await git.text(mirror, "commit-tree", tree, *sides, stdin=message.encode()), ()

    async def holds(self, project: str, commit: str, within: str) -> bool:
        """Tell whether one commit's history contains another."""
        mirror = self._mirrors.path(project)
        code, _, _ = await self._mirrors.git.attempt(mirror, "merge-base", "--is-ancestor", sha(commit), sha(within))
        return code == 0

    async def keep(self, project: str, stack: str, commit: str) -> None:
        """Keep a stack's last commit, and so all of it, under a name of our own."""
        async with self._mirrors.held(project) as (mirror, git):
            await git.run(mirror, "update-ref", f"refs/midwatch/stacks/{part(stack)}", sha(commit))


async def _merged(git: Git, mirror: Path, onto: str, head: str) -> tuple[str, tuple[str, ...]]:
    merge = ("merge-tree", "--write-tree", "--name-only", "--no-messages", "-z")
    code, out, complaint = await git.attempt(mirror, *merge, onto, head)
    tree, *files = [piece.decode(errors="replace") for piece in out.split(b"\0") if piece] or [""]
    if code == 0:
        return tree, ()
    if code == 1:
        return "", tuple(sorted(set(files)))
    if "unrelated histories" in complaint:
        return "", (UNRELATED,)
    raise Refused(f"{head[:12]} cannot be merged: {complaint}.", hint="Refresh the project and try again.")
