"""Who may try to log in again, what a password must be, and when a login expires.

Its own module: a rule does not join the effect that asks it.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta

from midwatch.terms.people import Login

WINDOW = timedelta(minutes=1)
MOST_FAILURES = 5
"""Wrong passwords within the window for one name from one address; then further tries are refused."""
MOST_OF_ONE = 20
"""Of one name from all addresses, and from one address for all names."""
SHORTEST_PASSWORD = 12
LONGEST_PASSWORD = 1024
LONGEST_NAME = 60


def wait_before_trying(failures: Iterable[datetime], now: datetime, most: int = MOST_FAILURES) -> timedelta:
    """How long to wait after these failures; zero means that a try is allowed."""
    recent = sorted(at for at in failures if now - at < WINDOW)
    return recent[-most] + WINDOW - now if len(recent) >= most else timedelta()


def objection_to_password(password: str, name: str) -> str:
    """Say what is wrong with a password; nothing means it will do."""
    if len(password) < SHORTEST_PASSWORD:
        return f"The password has {len(password)} characters; it needs {SHORTEST_PASSWORD} or more."
    if len(password) > LONGEST_PASSWORD:
        return f"The password is longer than {LONGEST_PASSWORD} characters."
    if password.lower() == name.lower() or len(set(password)) < 4:
        return "The password is too easy to guess."
    return ""


def objection_to_name(name: str) -> str:
    """Say what is wrong with a person's name; nothing means it will do."""
    if not name or name != name.strip() or len(name) > LONGEST_NAME:
        return f"A name has 1 to {LONGEST_NAME} characters and no spaces around it."
    if not name.isprintable() or any(sign in name for sign in "<>@/\\:#"):
        return "A name has letters, digits, spaces, dots and dashes."
    return ""


def is_over(login: Login, now: datetime, idle: timedelta) -> bool:
    return now >= login.expires_at or now - login.seen_at >= idle
