"""Showing a far host its credential: in git's environment, never on a command line, in a URL, a file or a log."""

from urllib.parse import urlsplit

from midwatch.ports.credentials import GitCredentials
from midwatch.workshop.git.remotes import Way

VARIABLES = ("MIDWATCH_GIT_NAME", "MIDWATCH_GIT_WORD")
HELPER = (
    '!f() { test "$1" = get && printf "username=%s\\npassword=%s\\n" "$MIDWATCH_GIT_NAME" "$MIDWATCH_GIT_WORD"; }; f'
)
"""Git asks this only where the host wants to know who we are, and only for the host it is bound to."""


async def shown_by(keys: GitCredentials | None, url: str) -> Way:
    """Tell what lets git show a credential to this one host; ssh has the person's own keys."""
    parts = urlsplit(url)
    if keys is None or parts.scheme not in {"http", "https"}:
        return Way()
    name, word = await keys.key_for(url)
    if not word:
        return Way()
    bound = f"credential.{parts.scheme}://{parts.netloc}.helper"
    return Way(((bound, HELPER),), tuple(zip(VARIABLES, (name, word), strict=True)))
