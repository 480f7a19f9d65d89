"""Sections about model-driven agents: which program, which model, whose credential, at what price."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from midwatch.settings.section import Allowed, Section

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


class AgentSetup(Section):
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


class Agents(Section):
    """The agents a person has besides the housekeeper, each in a table of its own name."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, AgentSetup]

    def by_name(self) -> dict[str, AgentSetup]:
        """Give every agent by its name."""
        return dict(self.__pydantic_extra__ or {})


class Prices(Section):
    """What models cost where the built-in list is wrong or silent, each as provider/model."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Rates]

    def by_model(self) -> dict[str, tuple[float, ...]]:
        """Give the rates of every model that was named."""
        return dict(self.__pydantic_extra__ or {})
