"""The section about forges: where pull requests are opened, with whose token, and what they carry."""

from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import ConfigDict, Field

from midwatch.settings.crew import Text
from midwatch.settings.section import Allowed, Name, Section
from midwatch.terms.forges import LOCAL
from midwatch.terms.sources import host_of, is_url

ForgeAddress = Annotated[
    str,
    Field(max_length=500, pattern=r"^(https://[^\s@]+|http://(127\.0\.0\.1|localhost|\[::1\])(:\d+)?(/[^\s@]*)?)?$"),
    Allowed("an https URL (http on this machine only), or nothing at all"),
]
ForgeHost = Annotated[
    str, Field(max_length=260, pattern=r"^[A-Za-z0-9.:_-]*$"), Allowed("a host name, or nothing at all")
]


class ForgeSetup(Section):
    """One forge a person uses: where it is, and which token opens it."""

    speaks: Literal["", "github"] = ""
    """How it is spoken to; nothing at all means as its name says (github)."""
    base_url: ForgeAddress = ""
    """Where its API answers, such as https://git.example.org/api/v3; nothing at all means https://api.github.com."""
    host: ForgeHost = ""
    """The host whose repositories it has; nothing at all means the one its API belongs to."""
    secret: Text = ""
    """Under which name [secrets] says where its token is kept."""
    webhook_secret: Text = ""
    """Under which name [secrets] says where the secret of its webhook is kept; nothing at all takes no webhooks."""
    labels: tuple[Name, ...] = ()
    """Labels that every pull request gets."""
    reviewers: tuple[Name, ...] = ()
    """Who is asked to review every pull request; a team as organisation/team."""
    draft: bool = False
    """Whether every pull request is opened as a draft."""

    @property
    def repositories_at(self) -> str:
        """Name the host whose repositories it has."""
        if self.host:
            return self.host
        parts = urlsplit(self.base_url)
        return "github.com" if parts.hostname in {None, "api.github.com"} else parts.netloc


class Forges(Section):
    """The forges a person uses besides the repositories on this machine, each in a table of its own name."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, ForgeSetup]

    def by_name(self) -> dict[str, ForgeSetup]:
        """Give every forge by its name."""
        return dict(self.__pydantic_extra__ or {})

    def at(self, source: str) -> str:
        """Name the forge that has a repository, by its address; the local one where no other does."""
        if not is_url(source):
            return LOCAL
        host = host_of(source)
        return next((name for name, one in self.by_name().items() if one.repositories_at == host), LOCAL)
