"""What each setting can do to the machine, and from where it may therefore be changed: the one list of it.

A new setting must be named here; `tests/promises/test_reach.py` compares the list with the tree.
"""

from enum import StrEnum
from types import MappingProxyType
from typing import Final

from midwatch.errors import Misuse


class SettingReach(StrEnum):
    """What a setting can do to the machine, from most to least."""

    DATABASE = "database"
    """Says where the database is; it is needed before stored settings can be read."""
    PROGRAM = "program"
    """Decides what runs on the machine, or where credentials and notices are sent."""
    WALLS = "walls"
    """Lets code, credentials or visitors through the walls."""
    USE = "use"
    """Says how much a night may use: level, money, tokens, time, memory, disk."""
    COURSE = "course"
    """Says when Midwatch asks, reports, repeats and keeps; it does nothing to the machine."""

    @property
    def storable(self) -> bool:
        """Whether a stored version may hold it; others are said in the data folder or the environment only."""
        return self not in {SettingReach.DATABASE, SettingReach.PROGRAM}

    @property
    def by_network(self) -> bool:
        """Whether an owner may change it over HTTP; others are changed on the machine itself."""
        return self in {SettingReach.USE, SettingReach.COURSE}


_LISTED: Final = {
    SettingReach.DATABASE: "database.url",
    SettingReach.PROGRAM: """
        agents.*.speaks agents.*.program agents.*.words agents.*.base_url channels.*.url
        forges.*.speaks forges.*.base_url forges.*.host forges.*.secret forges.*.webhook_secret
    """,
    SettingReach.WALLS: """
        gate.unisolated_agents execution.allowed_tools ceilings.domains ceilings.tools
        sandbox.isolation sandbox.toolchains sandbox.domains sandbox.setup_domains sandbox.registries
        server.host server.port server.allowed_hosts
        secrets.* agents.*.provider agents.*.secret agents.*.credential
    """,
    SettingReach.USE: """
        autonomous.enabled autonomous.max_daily_sessions brain.enabled brain.model brain.max_prompt_characters
        brain.max_concurrent_thinks gate.level gate.protected_projects gate.rounds_at_observe
        gate.clean_nights_per_step limits.session_minutes limits.session_usd limits.session_tokens
        limits.session_max_requests limits.session_rounds limits.unstated_usd limits.unstated_tokens
        ceilings.level ceilings.session_usd ceilings.session_tokens ceilings.session_minutes ceilings.session_rounds
        ceilings.job_usd ceilings.job_minutes
        jobs.max_in_all jobs.max_retries jobs.min_free_memory_mib jobs.min_free_disk_mib planning.max_cost_usd
        execution.max_cost_usd execution.max_duration_minutes execution.max_tokens execution.max_requests
        execution.max_files_changed execution.max_diff_lines execution.idle_minutes execution.soft_box_minutes
        execution.soft_box_extra_minutes sandbox.max_requests sandbox.max_processes sandbox.memory_mib
        sandbox.room_mib sandbox.room_max_files sandbox.check_mib sandbox.check_max_files sandbox.min_free_disk_mib
        sandbox.copy_setup sandbox.setup_minutes sandbox.keep_days sandbox.keep_disk_share
        triggers.heartbeat_enabled triggers.tracker_label triggers.max_heartbeat_jobs
        triggers.pause_if_open_pull_request server.login_idle_hours server.login_days
        agents.*.model agents.*.also_models prices.*
    """,
    SettingReach.COURSE: """
        autonomous.interval_minutes autonomous.idle_timeout_minutes brain.cli_timeout_seconds
        brain.api_timeout_seconds rounds.interval_seconds rounds.min_interval_seconds rounds.max_interval_seconds
        rounds.scan_seconds rounds.max_proposals gate.same_action_minutes gate.same_project_minutes
        gate.young_job_minutes gate.spin_repeats council.objections_that_ask council.min_agreement
        council.min_confidence limits.alert_percent asks.approve_plan_minutes asks.confirm_act_minutes
        asks.guidance_error_minutes asks.guidance_uncertain_minutes asks.question_minutes asks.decision_minutes
        asks.memory_minutes asks.conflict_minutes asks.authority_minutes asks.spend_minutes asks.default_priority
        notices.quiet_hours notices.urgent_bypass_quiet notices.daily_budget notices.budget_warning_share
        notices.batch_minutes notices.errors_that_wake notices.digest_time notices.digest_max_characters
        notices.split_characters notices.on_plan_ready notices.on_progress_milestones notices.on_complete
        notices.on_error checkins.every_minutes checkins.keep_alive_minutes checkins.every_decisions
        checkins.budget_percents execution.repair_rounds execution.max_check_reruns execution.deliver_red
        execution.commit_strategy stack.at_dawn stack.include_older stack.max_minutes stack.max_check_runs
        sandbox.stop_grace_seconds sandbox.sparse_min_files preflight.max_minutes preflight.fresh_minutes
        triggers.heartbeat_minutes projects.stale_days review.due_hours review.brief_max_words review.useful_rating
        review.low_value_rating scores.degraded_below scores.low_value_share scores.low_value_min_acts
        scores.evidence_fresh_days scores.evidence_old_days history.traces_days history.decisions_max
        history.decisions_days history.notices_days server.time_zone server.queue_poll_seconds server.lease_seconds
        channels.*.tiers channels.*.quiet channels.*.markdown channels.*.long_texts
        forges.*.labels forges.*.reviewers forges.*.draft
    """,
}
LISTED: Final = MappingProxyType({name: reach for reach, names in _LISTED.items() for name in names.split()})
"""Every setting by its name; `*` stands for a name that the person chooses."""


def reach_of_setting(section: str, field: str) -> SettingReach:
    """Say what a setting can do; one that is not listed is changed in the data folder only."""
    about = field.rpartition(".")[2]
    named = (f"{section}.{field}", f"{section}.*.{about}", f"{section}.*")
    return next((LISTED[name] for name in named if name in LISTED), SettingReach.PROGRAM)


_DECIDES: Final = {
    SettingReach.DATABASE: "says where the database is",
    SettingReach.PROGRAM: "decides what runs on the machine, or where credentials and notices go",
}


def refuse_by_network(name: str, reach: SettingReach) -> None:
    """Raise where a setting may not be changed over HTTP, not even by an owner."""
    if not reach.storable:
        raise Misuse(
            f"{name} {_DECIDES[reach]}; no proposal changes it, only midwatch.toml or the environment.",
            hint="On the machine: write it into midwatch.toml in the data folder, and start Midwatch again.",
        )
    if not reach.by_network:
        raise Misuse(
            f"{name} lets code, credentials or visitors through the walls; it is changed on the machine itself only.",
            hint=f"On the machine: midwatch settings propose {name}=VALUE --apply",
        )
