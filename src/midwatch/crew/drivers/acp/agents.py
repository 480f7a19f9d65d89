"""Agents that use the Agent Client Protocol: how each is started, and how it gets the address of its model.

In the arguments and the environment `{base_url}`, `{key}`, `{model}` and `{small_model}` are replaced by the brief's
values. A person's own agent is an `AcpAgent` made from the settings; those below were tested with the test matrix.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from shlex import quote

from midwatch.crew.drivers.acp.reading import BEGIN
from midwatch.crew.drivers.templates import filled
from midwatch.errors import Misuse
from midwatch.ports.agent import AgentBrief, Launch


@dataclass(frozen=True, slots=True)
class AcpAgent:
    """One program."""

    name: str
    words: tuple[str, ...]
    """The arguments of its command line."""
    environment: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    never: tuple[str, ...] = ()
    """Files in the working folder that it would run or obey without asking; if one exists, it is not started."""
    sign_in: str = ""
    """The sign-in method to request before a session, if it needs one."""
    tested: tuple[str, ...] = ()
    """Versions tested with the whole test matrix."""
    install: str = "Install it as its vendor says, and name its program in the settings."


def _opencode() -> dict[str, object]:
    model = {"name": "{model}", "limit": {"context": 200_000, "output": 32_000}, "tool_call": True}
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "midwatch",
        "options": {"baseURL": "{base_url}/v1", "apiKey": "{key}"},
        "models": {"{model}": model, "{small_model}": {**model, "name": "{small_model}"}},
    }
    return {
        "autoupdate": False,
        "share": "disabled",
        "snapshot": False,
        "model": "midwatch/{model}",
        "small_model": "midwatch/{small_model}",
        "enabled_providers": ["midwatch"],
        "provider": {"midwatch": provider},
        # A subagent would not ask us, and a fetched page is not the repository.
        "permission": {
            "*": "ask",
            "task": "deny",
            "webfetch": "deny",
            "websearch": "deny",
            "external_directory": "ask",
        },
        "instructions": [],
    }


OPENCODE = AcpAgent(
    name="opencode",
    words=("acp",),
    environment={
        "OPENCODE_CONFIG_CONTENT": json.dumps(_opencode()),
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
        "OPENCODE_DISABLE_PROJECT_CONFIG": "1",  # a repository's plugins would run without asking
        "OPENCODE_DISABLE_EXTERNAL_SKILLS": "1",
        "OPENCODE_DISABLE_CLAUDE_CODE": "1",
        "OPENCODE_DISABLE_SHARE": "1",
        "OPENCODE_PURE": "1",
    },
    # It fetches a package for plugins that are not used; at an address without a server it continues without it.
    files={".npmrc": "registry=http://127.0.0.1:9/\nfetch-retries=0\n"},
    # It runs a repository's plugins despite these switches (measured with --pure and all of the above).
    never=(".opencode", "opencode.json", "opencode.jsonc"),
    tested=("1.18.33",),
    install="npm install -g opencode-ai@1.18.33",
)


def launch(agent: AcpAgent, brief: AgentBrief, program: str) -> Launch:
    """Return the command line and environment of this agent for this brief."""
    if not brief.model:
        raise Misuse(f"The agent {agent.name} was given no model.", hint="Name one in the settings.")
    if brief.access.kind != "api_key":
        raise Misuse(
            f"The agent {agent.name} was given a credential of the kind {brief.access.kind!r}.",
            hint="Give it an API key; vendors allow subscriptions only in their own programs.",
        )
    words = (program, *(filled(word, brief) for word in agent.words))
    return Launch(
        argv=("/bin/sh", "-c", _guard(agent), *words) if agent.never else words,
        environment={name: filled(value, brief) for name, value in agent.environment.items()},
        files={name: filled(value, brief) for name, value in agent.files.items()},
    )


def _guard(agent: AcpAgent) -> str:
    """Start it only if none of these files exists; the refusal is an error in its own protocol."""
    checks = []
    for name in agent.never:
        why = f"The repository has {name}, which {agent.name} would run or obey without asking. Take it away first."
        error = json.dumps({"jsonrpc": "2.0", "id": BEGIN, "error": {"code": 1, "message": why}})
        checks.append(f"if [ -e {quote(name)} ] || [ -L {quote(name)} ]; then echo {quote(error)}; exit 3; fi")
    return "\n".join((*checks, 'exec "$0" "$@"'))
