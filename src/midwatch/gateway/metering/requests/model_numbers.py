"""What bounds the cost of one request, as one table: answers, speeds, and what is billed beside the text."""

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final

from midwatch.gateway.metering.providers import Provider, Shape

DEVELOPERS: Final = "models.dev, 2026-07-02; the provider's own model pages"
SPEEDS: Final = "Artificial Analysis 2025-2026, medians"


@dataclass(frozen=True, slots=True)
class ModelNumbers:
    """What one family of models does at most."""

    shape: Shape | None
    pattern: str
    """Of the model's name; the first row that fits counts."""
    output: int
    """Tokens of an answer: written into a request that names no limit. At most what the provider accepts."""
    speed: int
    """Tokens a second that it may produce at most: at least twice the fastest that was measured."""
    source: str

    @property
    def known(self) -> bool:
        """Whether it is about certain models, and not the last row, for all others."""
        return self.shape is not None


TABLE: Final = (
    ModelNumbers("anthropic", "claude-3-[a-z]*", 4_096, 400, f"{DEVELOPERS} | {SPEEDS}: claude-3-haiku 160"),
    ModelNumbers("anthropic", "claude-3-5-*", 8_192, 400, f"{DEVELOPERS} | {SPEEDS}: below 100"),
    ModelNumbers("anthropic", "claude-opus-4-[01]*", 32_000, 400, f"{DEVELOPERS} | {SPEEDS}: below 60"),
    ModelNumbers("anthropic", "claude-opus-4-2*", 32_000, 400, f"{DEVELOPERS} | {SPEEDS}: below 60"),
    ModelNumbers("anthropic", "claude-*", 64_000, 400, f"{DEVELOPERS} | {SPEEDS}: claude-opus-4-7 101, fast mode 170"),
    ModelNumbers("openai", "gpt-3.5*", 4_096, 500, DEVELOPERS),
    ModelNumbers("openai", "gpt-4-*", 4_096, 500, DEVELOPERS),
    ModelNumbers("openai", "gpt-4", 4_096, 500, DEVELOPERS),
    ModelNumbers("openai", "gpt-4o-2024-05-13", 4_096, 500, DEVELOPERS),
    ModelNumbers("openai", "gpt-4o*", 16_384, 500, f"{DEVELOPERS} | {SPEEDS}: gpt-4o 150"),
    ModelNumbers("openai", "*chat-latest", 16_384, 500, DEVELOPERS),
    ModelNumbers("openai", "gpt-4.1*", 32_768, 500, f"{DEVELOPERS} | {SPEEDS}: gpt-4.1-nano 190"),
    ModelNumbers("openai", "o[134]*", 100_000, 500, f"{DEVELOPERS} | {SPEEDS}: o4-mini 150"),
    ModelNumbers("openai", "codex-mini*", 100_000, 500, DEVELOPERS),
    ModelNumbers("openai", "gpt-*-spark*", 32_000, 3_000, f"{DEVELOPERS} | its announcement: above 1,000"),
    ModelNumbers("openai", "gpt-[5-9]*", 128_000, 500, f"{DEVELOPERS} | {SPEEDS}: gpt-5.4-mini 218"),
    ModelNumbers("gemini", "gemini-1*", 8_192, 1_000, DEVELOPERS),
    ModelNumbers("gemini", "gemini-2.0*", 8_192, 1_000, f"{DEVELOPERS} | {SPEEDS}: 220"),
    ModelNumbers("gemini", "gemini-*", 65_536, 1_000, f"{DEVELOPERS} | {SPEEDS}: gemini-2.5-flash-lite 389"),
    ModelNumbers(None, "*", 16_000, 3_000, f"what most servers accept | {SPEEDS}: mercury-2 894, Cerebras above 2,000"),
)

IMAGE: Final[Mapping[Shape, int]] = {"anthropic": 5_000, "openai": 30_000, "gemini": 10_000}
"""Tokens of one picture. Measured at 12 megapixels (huggingface.co/datasets/JOHNISKING/image-token-cost, 2026-10):
4,005 on Claude 5.5, 14,364 on GPT-6, 1,101 on Gemini 3; 24 tiles of 258 on Gemini 2."""
DOCUMENT: Final = 1_000_000
"""Tokens of a document whose pages cannot be counted here, where the model's window is not known."""
BUILT_IN_TOOL: Final = 1_000
"""Tokens that the definition of a provider's own client tool adds (Anthropic's tool pages: 245 to 735)."""
OVERHEAD: Final = 2_000
"""Tokens that a provider adds to a request itself (Anthropic's tool page: 346; formats of answers: some hundred)."""
HANG_UP: Final = 2.0
"""Seconds until a provider has noticed that a stream was abandoned."""
LONG_WINDOW: Final = 1_000_000
"""Tokens of the window that Anthropic's beta `context-1m` gives a model with a smaller one."""


def numbers_of(provider: Provider, model: str) -> ModelNumbers:
    """Return the row of a model; other servers' models may have the vendor before their name."""
    name = model.lower().rpartition("/")[2]
    return next(row for row in TABLE if row.shape in {provider.shape, None} and fnmatchcase(name, row.pattern))
