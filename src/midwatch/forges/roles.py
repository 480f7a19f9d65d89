"""What a forge needs from the workshop, said without knowing it."""

from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Protocol


class GitRunner(Protocol):
    """Runs git with a clean environment and no hooks."""

    def toward(self, source: Path | str) -> "GitRunner":
        """Make a runner that can reach this one source, a folder or a URL, by its own transport."""
        ...

    async def run(self, repository: Path, *arguments: str, stdin: bytes = b"") -> bytes:
        """Run git and return what it printed; raise Broken when it fails."""
        ...

    async def text(self, repository: Path, *arguments: str, stdin: bytes = b"") -> str:
        """Run git and return what it printed as text without the line end."""
        ...

    async def attempt(self, repository: Path, *arguments: str, stdin: bytes = b"") -> tuple[int, bytes, str]:
        """Run git and return exit code, output and complaint."""
        ...

    async def converse(self, repository: Path, *arguments: str, stdin: bytes = b"") -> tuple[int, bytes, str]:
        """Run git and return exit code, output and all of its complaint."""
        ...

    def far_side(self, program: str) -> str:
        """Name the program at the other end of a fetch or push, hardened as well."""
        ...


class MirrorKeeper(Protocol):
    """Keeps our own copy of each project."""

    async def refresh(self, project: str, source: Path | str) -> None:
        """Bring the mirror up to date with the person's repository."""
        ...

    def held(self, project: str) -> AbstractAsyncContextManager[tuple[Path, GitRunner]]:
        """Hold the mirror for writing."""
        ...


class Advancing(Protocol):
    """A branch that is to move from one commit to another, in one piece."""

    @property
    def project(self) -> str: ...  # noqa: D102
    @property
    def source(self) -> str: ...  # noqa: D102
    @property
    def into(self) -> str: ...  # noqa: D102
    @property
    def stack(self) -> str: ...  # noqa: D102
    @property
    def old(self) -> str: ...  # noqa: D102
    @property
    def new(self) -> str: ...  # noqa: D102
