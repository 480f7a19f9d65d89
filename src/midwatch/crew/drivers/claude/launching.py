"""How Claude Code is started: no settings of the repository or the person, one credential, one model."""

import json

from midwatch.crew.drivers.line_protocol import READING
from midwatch.errors import Misuse
from midwatch.ports.agent import AgentBrief, Launch
from midwatch.terms.agents import Errand

TESTED = ("2.1.325",)
"""Versions tested with the whole test matrix."""
INSTALL = f"npm install --global @anthropic-ai/claude-code@{TESTED[-1]}"

ALWAYS = (
    "-p",
    *("--input-format", "stream-json", "--output-format", "stream-json"),
    "--verbose",
    "--include-partial-messages",
    *("--permission-prompt-tool", "stdio"),
    *("--setting-sources", ""),  # a repository's own hooks would run without asking
    "--strict-mcp-config",
    "--disable-slash-commands",  # a prompt that starts with a slash is still a prompt
)

WORKING = (*READING, "Edit", "Write", "Bash")

QUIET = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_TELEMETRY": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS": "1",  # what runs after the last message would run unseen
    "CLAUDE_CODE_DISABLE_CRON": "1",
    "CLAUDE_CODE_DISABLE_FILE_MENTIONS": "1",  # an @path in a text would read a file without asking
    "CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1",
    "CLAUDE_CODE_DISABLE_CLAUDE_MDS": "1",
}

CREDENTIALS = {"api_key": "ANTHROPIC_API_KEY", "oauth": "CLAUDE_CODE_OAUTH_TOKEN"}
"""Exactly one is set: with both, the key wins and bills."""


def launch(brief: AgentBrief, program: str) -> Launch:
    """Return the command line and environment of Claude Code for this brief."""
    if not brief.model:
        raise Misuse(
            "Claude Code was given no model.",
            hint="Name one in the settings; its own default changes with the kind of credential.",
        )
    return Launch(argv=(program, *ALWAYS, *_chosen(brief)), environment=_environment(brief))


def interactive(brief: AgentBrief, program: str) -> Launch:
    """Return how to start it interactively: its own screen and its own questions; no other settings."""
    words = (program, "--model", brief.model, *("--setting-sources", ""), "--strict-mcp-config")
    settings = {
        "hasCompletedOnboarding": True,
        "theme": "dark",
        # It would ask about the folder, which is our clone and whose settings it does not read, and warn about
        # the key in its environment, which is our placeholder.
        "projects": {brief.extra["folder"]: {"hasTrustDialogAccepted": True}},
        "customApiKeyResponses": {"approved": [brief.access.placeholder[-20:]], "rejected": []},
    }
    return Launch(argv=words, environment=_environment(brief), files={".claude.json": json.dumps(settings)})


def _chosen(brief: AgentBrief) -> tuple[str, ...]:
    words = ["--model", brief.model]
    if brief.conversation:
        words += ["--resume", brief.conversation]
    if brief.max_turns:
        words += ["--max-turns", str(brief.max_turns)]
    if budget := brief.extra.get("budget_usd"):
        words += ["--max-budget-usd", budget]
    planning = brief.errand is Errand.PLAN
    # Newer versions list it as `manual`, which older ones refuse; all of them know this word.
    words += ["--permission-mode", "plan" if planning else "default"]
    words += ["--tools", ",".join(READING if planning else _offered(brief.tools))]
    if brief.schema is not None:
        words += ["--json-schema", json.dumps(brief.schema, separators=(",", ":"))]
    return tuple(words)


def _offered(tools: tuple[str, ...]) -> tuple[str, ...]:
    """Reduce `Bash(git *)` to `Bash`: the settings' patterns are judged where calls are decided, not by the agent."""
    names = (tool.partition("(")[0].strip() for tool in tools)
    return tuple(dict.fromkeys(name for name in names if name)) or WORKING


def _environment(brief: AgentBrief) -> dict[str, str]:
    access = brief.access
    if access.kind not in CREDENTIALS:
        raise Misuse(
            f"Claude Code knows no credential of the kind {access.kind!r}.",
            hint="Give it an API key (api_key) or a subscription token (oauth).",
        )
    environment = {
        **QUIET,
        "ANTHROPIC_BASE_URL": access.base_url,
        CREDENTIALS[access.kind]: access.placeholder,
        **_pinned(brief),
        "CLAUDE_CODE_MAX_RETRIES": brief.extra.get("retries", "4"),
    }
    if timeout := brief.extra.get("timeout_ms"):
        environment["API_TIMEOUT_MS"] = timeout
    return environment


def _pinned(brief: AgentBrief) -> dict[str, str]:
    """Return its words for models, each set to one it may ask: a subagent or a title would otherwise ask another."""
    small = brief.small_model or brief.model
    return {
        "ANTHROPIC_SMALL_FAST_MODEL": small,
        "ANTHROPIC_DEFAULT_HAIKU_MODEL": small,
        "ANTHROPIC_DEFAULT_SONNET_MODEL": brief.model,
        "ANTHROPIC_DEFAULT_OPUS_MODEL": brief.model,
    }
