"""Sections about the server: history, database, address, secrets."""

from typing import Annotated

from pydantic import ConfigDict, Field

from midwatch.settings.section import (
    DatabaseUrl,
    Days,
    Host,
    Hours,
    Many,
    Reference,
    SettingsSection,
    TimeZone,
)


class HistorySettings(SettingsSection):
    """How long things are kept before they move to the archive."""

    traces_days: Days = 30
    """Days that raw traces are kept. Has no effect yet."""
    decisions_max: Many = 1000
    """Maximum number of decisions kept. Has no effect yet."""
    decisions_days: Days = 90
    """Days that decisions are kept. Has no effect yet."""
    notices_days: Days = 90
    """Days that notices are kept. Has no effect yet."""


class DatabaseSettings(SettingsSection):
    """The database."""

    url: DatabaseUrl = ""
    """URL of the database; empty means a SQLite file in the data folder."""


class ServerSettings(SettingsSection):
    """How the server runs."""

    time_zone: TimeZone = ""
    """Your time zone; empty means the machine's."""
    queue_poll_seconds: Annotated[float, Field(ge=0.05, le=60)] = 1.0
    """Time between two looks at the queue of work."""
    host: Host = "127.0.0.1"
    """Address that the pages are served on; anything but this machine belongs behind a proxy with TLS."""
    port: Annotated[int, Field(ge=0, le=65535)] = 8484
    """Port that the pages are served on; 0 serves no pages."""
    allowed_hosts: tuple[Host, ...] = ()
    """Host names that the pages accept besides this machine, such as `night.example.org` behind a proxy."""
    login_idle_hours: Hours = 12
    """A login expires after this long without use."""
    login_days: Days = 14
    """A login expires after this many days, used or not."""
    lease_seconds: Annotated[float, Field(ge=0.5, le=300)] = 3.0
    """How long a silent server still counts as running."""


class SecretsSettings(SettingsSection):
    """Where each secret is stored, under a name the person chose; never its value."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Reference]

    def by_name(self) -> dict[str, str]:
        return {name: reference for name, reference in (self.__pydantic_extra__ or {}).items() if reference}
