"""Values that rules and contracts need, derived from the settings."""

from collections.abc import Mapping
from datetime import time, timedelta
from pathlib import Path

from midwatch.errors import Refused, Unknown
from midwatch.settings.section import clock_time, span
from midwatch.settings.tree import Settings
from midwatch.terms.facts import GateLimits
from midwatch.terms.forges import LOCAL
from midwatch.terms.orders import Limits
from midwatch.terms.people import GrantedCeilings
from midwatch.terms.projects import host_of
from midwatch.terms.secrets import SecretPlace, SecretReference
from midwatch.terms.trust import Level

MEBIBYTE = 1024**2


def gate_limits(settings: Settings) -> GateLimits:
    """Give the numbers the gate judges by."""
    gate, jobs, asks, council = settings.gate, settings.jobs, settings.asks, settings.council
    return GateLimits(
        same_action=timedelta(minutes=gate.same_action_minutes),
        same_project=timedelta(minutes=gate.same_project_minutes),
        young_job=timedelta(minutes=gate.young_job_minutes),
        jobs_in_all=jobs.max_in_all,
        free_memory_bytes=jobs.min_free_memory_mib * MEBIBYTE,
        free_disk_bytes=jobs.min_free_disk_mib * MEBIBYTE,
        retries=jobs.max_retries,
        spin=gate.spin_repeats,
        confirm_minutes=asks.confirm_act_minutes,
        guidance_minutes=asks.guidance_uncertain_minutes,
        decision_minutes=asks.decision_minutes,
        objections_that_ask=council.objections_that_ask,
        min_agreement=council.min_agreement,
        min_confidence=council.min_confidence,
        forced_isolation=gate.unisolated_agents,
    )


def session_limits(settings: Settings) -> Limits:
    """Give the usual ceilings of a session, for those that its orders do not name."""
    limits = settings.limits
    return Limits(
        usd=limits.session_usd,
        tokens=limits.session_tokens,
        minutes=limits.session_minutes,
        rounds=limits.session_rounds,
    )


def careful_limits(settings: Settings) -> Limits:
    """Give the ceilings of a session whose orders have no limits at all: a small budget, and the usual time."""
    usual, limits = session_limits(settings), settings.limits
    small = {"usd": min(usual.usd, limits.unstated_usd), "tokens": min(usual.tokens, limits.unstated_tokens)}
    return usual.model_copy(update=small)


def granted_ceilings(settings: Settings, standing: Level) -> GrantedCeilings:
    """Give what an owner granted to everybody else: what is usual, and what the ceilings add to it."""
    usual, execution, ceilings = session_limits(settings), settings.execution, settings.ceilings
    added = standing if ceilings.level == "standing" else Level(ceilings.level)
    return GrantedCeilings(
        level=max(standing, added, key=lambda one: one.rank),
        session=Limits(
            usd=max(usual.usd, ceilings.session_usd),
            tokens=max(usual.tokens, ceilings.session_tokens),
            minutes=max(usual.minutes, ceilings.session_minutes),
            rounds=max(usual.rounds, ceilings.session_rounds),
        ),
        job_usd=max(execution.max_cost_usd, ceilings.job_usd),
        job_minutes=max(execution.max_duration_minutes, ceilings.job_minutes),
        domains=(*settings.sandbox.domains, *ceilings.domains),
        tools=ceilings.tools,
    )


def quiet_hours(settings: Settings) -> tuple[time, time]:
    """When quiet hours begin and end; the same time twice means never."""
    return span(settings.notices.quiet_hours)


def digest_time(settings: Settings) -> time:
    """Give the local time of the morning's digest."""
    return clock_time(settings.notices.digest_time)


KINDS_OF_TOKENS = ("input", "output", "cache_read", "cache_write")


def model_prices(settings: Settings) -> Mapping[str, Mapping[str, float]]:
    """The prices of models that the person set: dollars per million tokens of each kind."""
    named = settings.prices.by_model()
    return {model: dict(zip(KINDS_OF_TOKENS, rates, strict=False)) for model, rates in named.items()}


def secret_references(settings: Settings) -> Mapping[str, SecretReference]:
    """Where each secret is kept, including the channels' URLs."""
    named = settings.secrets.by_name() | {
        channel_secret(name): one.url for name, one in settings.channels.by_name().items()
    }
    return {name: SecretReference.read(text) for name, text in named.items()}


def secret_files(settings: Settings) -> tuple[Path, ...]:
    """List the files in which the settings say that a secret is."""
    return tuple(
        Path(one.address).expanduser()
        for one in secret_references(settings).values()
        if one.place is SecretPlace.FILE and one.address.startswith(("/", "~/"))
    )


def channel_secret(channel: str) -> str:
    """Name the secret that a channel's URL is; no secret of the person's can have a dot in its name."""
    return f"channels.{channel}.url"


def refuse_foreign(settings: Settings, forge: str, source: str) -> None:
    """Raise unless this forge can have pull requests of that repository."""
    if forge in {"", LOCAL}:
        return
    setup = settings.forges.by_name().get(forge)
    if setup is None:
        known = ", ".join((LOCAL, *settings.forges.by_name()))
        raise Unknown(f"No forge is called {forge}.", hint=f"Known: {known}. Add others to midwatch.toml.")
    if setup.repositories_at != host_of(source):
        raise Refused(
            f"{forge} hosts repositories at {setup.repositories_at}, but this one is at {host_of(source) or source}.",
            hint=f"Add the project by its address there: midwatch project add https://{setup.repositories_at}/...",
        )
