"""How Codex is started: our provider and no other, one model, no settings of the repository."""

import json
from collections.abc import Mapping

from midwatch.errors import Misuse
from midwatch.ports.agent import AgentBrief, Launch

TESTED = ("0.166.0",)
"""Versions tested with the whole test matrix."""

OFF = (
    *("plugins", "remote_plugin", "plugin_sharing", "plugin_discovery_prefetch", "apps", "tool_suggest"),
    *("hooks", "goals", "memories", "multi_agent", "shell_snapshot", "workspace_dependencies"),
    *("skill_search", "skill_mcp_dependency_install", "image_generation", "view_image", "sleep_tool"),
    *("browser_use", "computer_use", "in_app_browser", "code_mode_host", "daemon_auto_start"),
    "unbounded_connection_retries",  # with it, Codex never stops trying
)

QUIET = {
    "model_provider": "midwatch",
    "analytics.enabled": False,
    "feedback.enabled": False,
    "check_for_update_on_startup": False,
    "otel.exporter": "none",
    "web_search": "disabled",
    "project_doc_max_bytes": 0,  # an AGENTS.md of the repository is untrusted text
    "history.persistence": "none",
    "allow_login_shell": False,
    "skills.include_instructions": False,
    "cli_auth_credentials_store": "file",
}

KEY = "MIDWATCH_MODEL_KEY"
ACCOUNT = "midwatch"
UNSIGNED = "eyJhbGciOiJub25lIn0.{}.bm9uZQ"


def launch(brief: AgentBrief, program: str) -> Launch:
    """Return the command line and environment of the app server for this brief."""
    files, environment = credentials(brief)
    return Launch(argv=(program, "app-server", *words(brief)), environment=environment, files=files)


def interactive(brief: AgentBrief, program: str) -> Launch:
    """Return how to start it interactively: its own screen and its own questions, our provider and no other."""
    files, environment = credentials(brief)
    # Its own sandbox cannot be built inside ours; it asks the person whether to trust the folder.
    walled = ("--sandbox", "danger-full-access")
    return Launch(argv=(program, *words(brief), *walled), environment=environment, files=files)


def words(brief: AgentBrief) -> tuple[str, ...]:
    """Return the settings of a run as arguments, which override every file."""
    if not brief.model:
        raise Misuse("Codex was given no model.", hint="Name one in the settings; its own default changes.")
    settings = {f"features.{name}": False for name in OFF} | QUIET | {"model": brief.model}
    # With a login it asks its vendor for notices and settings; our proxy has none.
    settings["chatgpt_base_url"] = f"{brief.access.base_url.rstrip('/')}/backend-api"
    given = [f"{name}={json.dumps(value)}" for name, value in settings.items()]
    given.append(f"model_providers.midwatch={_provider(brief)}")
    return tuple(word for one in given for word in ("-c", one))


def _provider(brief: AgentBrief) -> str:
    """Configure our proxy as a provider; the built-in one would try WebSockets first."""
    retries = int(brief.extra.get("retries", "4"))
    fields: dict[str, str | int | bool] = {
        "name": "midwatch",
        "base_url": f"{brief.access.base_url.rstrip('/')}/v1",
        "wire_api": "responses",
        "request_max_retries": retries,
        "stream_max_retries": retries,
        "stream_idle_timeout_ms": int(brief.extra.get("timeout_ms", "300000")),
        "supports_websockets": False,
    }
    fields |= {"env_key": KEY} if brief.access.kind == "api_key" else {"requires_openai_auth": True}
    return "{" + ",".join(f"{name}={json.dumps(value)}" for name, value in fields.items()) + "}"


def credentials(brief: AgentBrief) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """Return the files and the environment with the placeholder: exactly one, of the credential's kind."""
    match brief.access.kind:
        case "api_key":
            return {}, {KEY: brief.access.placeholder}
        case "oauth":
            # It would renew a refused login at its vendor; the placeholder cannot be renewed.
            renewal = f"{brief.access.base_url.rstrip('/')}/oauth/token"
            files = {".codex/auth.json": _account(brief.access.placeholder)}
            return files, {"CODEX_REFRESH_TOKEN_URL_OVERRIDE": renewal}
        case other:
            raise Misuse(
                f"Codex knows no credential of the kind {other!r}.",
                hint="Give it an API key (api_key) or a ChatGPT login (oauth).",
            )


def _account(placeholder: str) -> str:
    """Write a fake login: its token is our placeholder, and it never expires."""
    tokens = {
        "id_token": UNSIGNED.format("eyJlbWFpbCI6Im1pZHdhdGNoQGV4YW1wbGUuaW52YWxpZCJ9"),
        "access_token": placeholder,
        "refresh_token": "",
        "account_id": ACCOUNT,
    }
    return json.dumps({"OPENAI_API_KEY": None, "tokens": tokens, "last_refresh": "2099-01-01T00:00:00Z"})
