"""Sections with one table for each agent, model price, channel and forge that the person names."""

from typing import Annotated, Final, Literal
from urllib.parse import urlsplit

from pydantic import ConfigDict, Field

from midwatch.settings.section import Allowed, Name, Reference, SettingsSection
from midwatch.terms.asks import Tier
from midwatch.terms.forges import LOCAL
from midwatch.terms.projects import host_of, is_url

Word = Annotated[str, Field(min_length=1, max_length=4096), Allowed("a word of a command line")]
Text = Annotated[str, Field(max_length=200), Allowed("a text of up to 200 characters, or empty")]
Program = Annotated[
    str, Field(max_length=4096), Allowed("a program's name or path, or empty for the one of the agent's name")
]
Address = Annotated[
    str, Field(max_length=500, pattern=r"^(https?://[^\s@]+)?$"), Allowed("an http or https URL, or empty")
]
Rate = Annotated[float, Field(ge=0, le=100_000)]
Rates = Annotated[
    tuple[Rate, ...],
    Field(min_length=2, max_length=4),
    Allowed("dollars per million tokens: input, output and, where they differ, cache read and cache write"),
]


class AgentSetup(SettingsSection):
    """One agent: its program and its model."""

    speaks: Literal["", "claude", "codex", "acp", "command"] = ""
    """Protocol of the agent; empty means the one of its name (claude, codex, opencode)."""
    program: Program = ""
    """Path of the program; empty means the one on PATH (claude, codex and opencode only)."""
    words: tuple[Word, ...] = ()
    """Arguments of the program, for acp and command; {prompt} is a file with the prompt, {model} the model."""
    provider: Literal["", "anthropic", "openai", "gemini"] = ""
    """Provider of the model; empty means the agent's vendor. A command without a model uses none."""
    model: Text = ""
    """The model; required, because programs change their own default. Requests to any other are refused."""
    also_models: tuple[Text, ...] = ()
    """Further models it may ask, each at its own price; the first is its small one, for titles and searches."""
    secret: Text = ""
    """Name in [secrets] of the credential."""
    credential: Literal["api_key", "oauth"] = "api_key"
    """Kind of credential: an API key, or a subscription token (vendors allow it for their own program only)."""
    base_url: Address = ""
    """Address of the model, if it is not the provider's own."""


class AgentsSettings(SettingsSection):
    """The agents besides the housekeeper, each in a table of its name."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, AgentSetup]

    def by_name(self) -> dict[str, AgentSetup]:
        return dict(self.__pydantic_extra__ or {})


class PricesSettings(SettingsSection):
    """Prices of models that the built-in list lacks or has wrong, each as provider/model."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Rates]

    def by_model(self) -> dict[str, tuple[float, ...]]:
        """Give the rates of every model that was named."""
        return dict(self.__pydantic_extra__ or {})


Loudness = Literal["urgent", "action", "summary"]
TIERS: Final[dict[int, Loudness]] = {Tier.URGENT: "urgent", Tier.ACTION: "action", Tier.SUMMARY: "summary"}


class ChannelSetup(SettingsSection):
    """One channel, used through Apprise."""

    url: Reference = ""
    """Where the Apprise URL is stored; the URL itself is a secret and belongs in no setting."""
    tiers: tuple[Loudness, ...] = ("urgent", "action", "summary")
    """Which notices are sent; an empty list turns the channel off."""
    quiet: bool = True
    """Keeps quiet hours; a silent channel such as mail may do without."""
    markdown: bool = False
    """Sends texts as Markdown instead of plain text."""
    long_texts: Literal["auto", "split", "whole"] = "auto"
    """Whether long texts are split; auto splits them on services like SMS."""

    def takes(self, tier: int) -> bool:
        """Whether a notice of this tier goes to it."""
        return TIERS.get(tier) in self.tiers


class ChannelsSettings(SettingsSection):
    """The channels besides the log, each in a table of its name."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, ChannelSetup]

    def by_name(self) -> dict[str, ChannelSetup]:
        """Give every channel that has a URL, by its name."""
        return {name: one for name, one in (self.__pydantic_extra__ or {}).items() if one.url}


ForgeAddress = Annotated[
    str,
    Field(max_length=500, pattern=r"^(https://[^\s@]+|http://(127\.0\.0\.1|localhost|\[::1\])(:\d+)?(/[^\s@]*)?)?$"),
    Allowed("an https URL (http on this machine only), or empty"),
]
ForgeHost = Annotated[str, Field(max_length=260, pattern=r"^[A-Za-z0-9.:_-]*$"), Allowed("a host name, or empty")]


class ForgeSetup(SettingsSection):
    """One forge: its address and its token."""

    speaks: Literal["", "github"] = ""
    """API of the forge; empty means the one of its name (github)."""
    base_url: ForgeAddress = ""
    """Address of the API, such as https://git.example.org/api/v3; empty means https://api.github.com."""
    host: ForgeHost = ""
    """Host of its repositories; empty means the host of its API."""
    secret: Text = ""
    """Name in [secrets] of the token."""
    webhook_secret: Text = ""
    """Name in [secrets] of the webhook secret; empty accepts no webhooks."""
    labels: tuple[Name, ...] = ()
    """Labels added to every pull request."""
    reviewers: tuple[Name, ...] = ()
    """Reviewers requested on every pull request; a team as organisation/team."""
    draft: bool = False
    """Opens every pull request as a draft."""

    @property
    def repositories_at(self) -> str:
        """Name the host whose repositories it has."""
        if self.host:
            return self.host
        parts = urlsplit(self.base_url)
        return "github.com" if parts.hostname in {None, "api.github.com"} else parts.netloc


class ForgesSettings(SettingsSection):
    """The forges besides the repositories on this machine, each in a table of its name."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, ForgeSetup]

    def by_name(self) -> dict[str, ForgeSetup]:
        return dict(self.__pydantic_extra__ or {})

    def at(self, source: str) -> str:
        """Name the forge that has a repository, by its address; the local one where no other does."""
        if not is_url(source):
            return LOCAL
        host = host_of(source)
        return next((name for name, one in self.by_name().items() if one.repositories_at == host), LOCAL)
