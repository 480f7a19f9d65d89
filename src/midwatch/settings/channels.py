"""The section about ways to reach the person besides the log."""

from typing import Final, Literal

from pydantic import ConfigDict

from midwatch.settings.section import Reference, Section
from midwatch.terms.asks import Tier

Loudness = Literal["urgent", "action", "summary"]
TIERS: Final[dict[int, Loudness]] = {Tier.URGENT: "urgent", Tier.ACTION: "action", Tier.SUMMARY: "summary"}


class ChannelSetup(Section):
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


class Channels(Section):
    """The channels a person has besides the log, each in a table of its own name."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, ChannelSetup]

    def by_name(self) -> dict[str, ChannelSetup]:
        """Give every channel that has a URL, by its name."""
        return {name: one for name, one in (self.__pydantic_extra__ or {}).items() if one.url}
