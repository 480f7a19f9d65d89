"""Sections with one table for each agent, model price, channel and forge that the person names."""

from typing import Annotated, Final, Literal
from urllib.parse import urlsplit

from pydantic import ConfigDict, Field

from midwatch.settings.section import Allowed, Name, Reference, SettingsSection
from midwatch.terms.asks import Tier
from midwatch.terms.forges import LOCAL
from midwatch.terms.sources import host_of, is_url

Word = Annotated[str, Field(min_length=1, max_length=4096), Allowed("a word of a command line")]
Text = Annotated[str, Field(max_length=200), Allowed("a text of up to 200 characters, or nothing at all")]
Program = Annotated[
    str, Field(max_length=4096), Allowed("a program's name or path, or nothing at all for the one of the agent's name")
]
Address = Annotated[
    str, Field(max_length=500, pattern=r"^(https?://[^\s@]+)?$"), Allowed("an http or https URL, or nothing at all")
]
Rate = Annotated[float, Field(ge=0, le=100_000)]
Rates = Annotated[
    tuple[Rate, ...],
    Field(min_length=2, max_length=4),
    Allowed("USD per million tokens: input, output and, where they differ, cache read and cache write"),
]


class AgentSetup(SettingsSection):
    """One agent a person has: the program that leads it, and the model it asks."""

    speaks: Literal["", "claude", "codex", "acp", "command"] = ""
    """How it is led; nothing at all means as its name says (claude, codex, opencode)."""
    program: Program = ""
    """Its program; nothing at all means, for claude, codex and opencode, the one that the PATH finds."""
    words: tuple[Word, ...] = ()
    """What follows the program's name, for acp and command; {prompt} is a file with the prompt, {model} the model."""
    provider: Literal["", "anthropic", "openai", "gemini"] = ""
    """Whose model it asks; nothing at all means its vendor's. A command without a model asks nobody."""
    model: Text = ""
    """The model, always named: programs change their own default."""
    secret: Text = ""
    """Under which name [secrets] says where its credential is kept."""
    credential: Literal["api_key", "oauth"] = "api_key"
    """What that credential is: an API key, or a subscription's token (vendors allow it for their own program only)."""
    base_url: Address = ""
    """Where the model is asked, if not at its provider's own address."""


class AgentsSettings(SettingsSection):
    """The agents a person has besides the housekeeper, each in a table of its own name."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, AgentSetup]

    def by_name(self) -> dict[str, AgentSetup]:
        """Give every agent by its name."""
        return dict(self.__pydantic_extra__ or {})


class PricesSettings(SettingsSection):
    """What models cost where the built-in list is wrong or silent, each as provider/model."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Rates]

    def by_model(self) -> dict[str, tuple[float, ...]]:
        """Give the rates of every model that was named."""
        return dict(self.__pydantic_extra__ or {})


Loudness = Literal["urgent", "action", "summary"]
TIERS: Final[dict[int, Loudness]] = {Tier.URGENT: "urgent", Tier.ACTION: "action", Tier.SUMMARY: "summary"}


class ChannelSetup(SettingsSection):
    """One way to reach the person; who speaks to it is Apprise."""

    url: Reference = ""
    """Where its Apprise URL is kept; the URL itself is a secret and stands in no setting."""
    tiers: tuple[Loudness, ...] = ("urgent", "action", "summary")
    """Which notices it takes; an empty list takes none and so turns it off."""
    quiet: bool = True
    """Whether it keeps quiet hours; a channel that wakes nobody, such as mail, may go without."""
    markdown: bool = False
    """Whether texts go out as Markdown; otherwise they are plain text."""
    long_texts: Literal["auto", "split", "whole"] = "auto"
    """Whether long texts are split; auto splits them where the service is like SMS."""

    def takes(self, tier: int) -> bool:
        """Tell whether a notice of this tier goes to it."""
        return TIERS.get(tier) in self.tiers


class ChannelsSettings(SettingsSection):
    """The channels a person has besides the log, each in a table of its own name."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, ChannelSetup]

    def by_name(self) -> dict[str, ChannelSetup]:
        """Give every channel that has a URL, by its name."""
        return {name: one for name, one in (self.__pydantic_extra__ or {}).items() if one.url}


ForgeAddress = Annotated[
    str,
    Field(max_length=500, pattern=r"^(https://[^\s@]+|http://(127\.0\.0\.1|localhost|\[::1\])(:\d+)?(/[^\s@]*)?)?$"),
    Allowed("an https URL (http on this machine only), or nothing at all"),
]
ForgeHost = Annotated[
    str, Field(max_length=260, pattern=r"^[A-Za-z0-9.:_-]*$"), Allowed("a host name, or nothing at all")
]


class ForgeSetup(SettingsSection):
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


class ForgesSettings(SettingsSection):
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
