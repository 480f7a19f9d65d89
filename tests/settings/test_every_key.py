"""Every number of the seeds and the rules has its key, its default, its sentence and its bounds."""

import re
import subprocess
import sys
from datetime import time, timedelta
from pathlib import Path

import pytest
from pydantic import JsonValue, ValidationError

from midwatch.night.rounds.contracts import run_defaults
from midwatch.rules.gate.contract import RunDefaults
from midwatch.rules.morning import scores
from midwatch.rules.people import notices
from midwatch.settings import (
    KEYS,
    Settings,
    data_folder,
    digest_time,
    gate_limits,
    load_settings,
    quiet_hours,
    session_limits,
)
from midwatch.terms.asks import AskDraft, AskKind
from midwatch.terms.facts import GateLimits
from midwatch.terms.orders import Limits

DOCUMENT = (Path(__file__).parents[2] / "docs" / "settings.md").read_text(encoding="utf-8")
TOOLS: JsonValue = [
    *("Read", "Edit", "Write", "Glob", "Grep"),
    *("Bash(git *)", "Bash(tsc *)", "Bash(vitest *)", "Bash(bun *)"),
]

# Seed key, our key, default. Where our default differs from the seed's, docs/SPEC.md says so.
SEEDS: tuple[tuple[str, str, JsonValue], ...] = (
    ("000 ai.enabled", "brain.enabled", False),
    ("000 ai.model", "brain.model", "sonnet"),
    ("000 ai.thinkIntervalMs", "rounds.interval_seconds", 300),
    ("000 ai.maxPromptLength", "brain.max_prompt_characters", 8000),
    ("000 ai.autonomyLevel", "gate.level", "observe"),
    ("000 ai.protectedProjects", "gate.protected_projects", []),
    ("000 ai.cooldowns.sameProjectMs", "gate.same_project_minutes", 10),
    ("000 ai.cooldowns.sameActionMs", "gate.same_action_minutes", 5),
    ("000 ai.resourceLimits.minFreeMemoryMB", "jobs.min_free_memory_mib", 2048),
    ("000 ai.resourceLimits.maxConcurrentThinks", "brain.max_concurrent_thinks", 1),
    ("000 ai.maxSessionDurationMs", "execution.soft_box_minutes", 45),
    ("000 ai.timeoutAction", "execution.soft_box_extra_minutes", 5),
    ("000 ai.maxErrorRetries", "jobs.max_retries", 3),
    ("000 ai.stalenessDays", "projects.stale_days", 3),
    ("000 ai.notifications.dailyBudget", "notices.daily_budget", 20),
    ("000 ai.notifications.batchIntervalMs", "notices.batch_minutes", 240),
    ("000 ai.notifications.urgentBypassQuiet", "notices.urgent_bypass_quiet", True),
    ("002 max_files_changed", "execution.max_files_changed", 20),
    ("002 max_diff_lines", "execution.max_diff_lines", 800),
    ("003 AUTONOMOUS_ENABLED", "autonomous.enabled", False),
    ("003 AUTONOMOUS_INTERVAL", "autonomous.interval_minutes", 60),
    ("003 AUTONOMOUS_MAX_DAILY", "autonomous.max_daily_sessions", 10),
    ("003 AUTONOMOUS_IDLE_TIMEOUT", "autonomous.idle_timeout_minutes", 30),
    ("004 planning.autoApproveMinutes", "asks.approve_plan_minutes", 20),
    ("004 planning.maxPlanningCostUsd", "planning.max_cost_usd", 1),
    ("004 execution.maxCostUsd", "execution.max_cost_usd", 20),
    ("004 execution.maxDurationMinutes", "execution.max_duration_minutes", 120),
    ("004 execution.maxRetries", "execution.repair_rounds", 3),
    ("004 execution.allowedTools", "execution.allowed_tools", TOOLS),
    ("004 execution.commitStrategy", "execution.commit_strategy", "incremental"),
    ("004 triggers.heartbeatEnabled", "triggers.heartbeat_enabled", False),
    ("004 triggers.linearLabel", "triggers.tracker_label", "midwatch"),
    ("004 triggers.maxConcurrentSessions", "triggers.max_heartbeat_jobs", 1),
    ("004 triggers.pauseIfOpenPR", "triggers.pause_if_open_pull_request", True),
    ("004 notifications.onPlanReady", "notices.on_plan_ready", True),
    ("004 notifications.onProgressMilestones", "notices.on_progress_milestones", True),
    ("004 notifications.onComplete", "notices.on_complete", True),
    ("004 notifications.onError", "notices.on_error", True),
)

# The defaults of the rules' numbers; where a rule has its own constant, it must be the same.
RULES: tuple[tuple[str, object], ...] = (
    ("rounds.interval_seconds", 300),
    ("rounds.min_interval_seconds", 60),
    ("rounds.max_interval_seconds", 1800),
    ("rounds.max_proposals", 5),
    ("gate.rounds_at_observe", 12),
    ("gate.clean_nights_per_step", 3),
    ("council.objections_that_ask", GateLimits().objections_that_ask),
    ("council.min_agreement", GateLimits().min_agreement),
    ("council.min_confidence", GateLimits().min_confidence),
    ("limits.alert_percent", 80),
    ("checkins.every_minutes", 25),
    ("checkins.keep_alive_minutes", 15),
    ("checkins.every_decisions", 10),
    ("checkins.budget_percents", [50, 80, 100]),
    ("autonomous.idle_timeout_minutes", 30),
    ("execution.idle_minutes", 10),
    ("brain.cli_timeout_seconds", 30),
    ("brain.api_timeout_seconds", 60),
    ("asks.default_priority", AskDraft(kind=AskKind.QUESTION, question="?").priority),
    ("notices.daily_budget", notices.DAILY_BUDGET),
    ("notices.budget_warning_share", notices.WARN_SHARE),
    ("notices.batch_minutes", notices.BATCH_EVERY / timedelta(minutes=1)),
    ("notices.errors_that_wake", notices.ERRORS_THAT_WAKE),
    ("notices.digest_time", "07:00"),
    ("notices.split_characters", 1500),
    ("review.due_hours", 36),
    ("scores.low_value_share", scores.LOW_VALUE_ABOVE),
    ("scores.low_value_min_acts", scores.LOW_VALUE_LEAST_ACTS),
    ("scores.evidence_old_days", scores.OLD_AFTER_DAYS),
    ("history.traces_days", 30),
    ("history.decisions_max", 1000),
    ("history.decisions_days", 90),
    ("history.notices_days", 90),
    ("database.url", ""),
    ("server.time_zone", ""),
    ("server.queue_poll_seconds", 1.0),
    ("server.lease_seconds", 3.0),
)


@pytest.mark.parametrize(("seed", "name", "default"), SEEDS, ids=[seed for seed, *_ in SEEDS])
def test_every_key_of_the_seeds_exists_with_its_default(seed: str, name: str, default: JsonValue) -> None:
    assert KEYS[name].default == default
    number, _, key = seed.partition(" ")
    assert f"| `{name}` | `{key}` ({number}) |" in DOCUMENT


def test_every_seed_key_has_one_key_only() -> None:
    ours = [name for _, name, _ in SEEDS]
    assert len(set(ours)) == len(ours)
    assert set(re.findall(r"^\| `([\w.]+)` \| `[^`]+` \(\d{3}\) \|$", DOCUMENT, re.MULTILINE)) == set(ours)
    assert not [name for name, key in KEYS.items() if "seed" in key.description], "people read what a setting does"


@pytest.mark.parametrize(("name", "number"), RULES, ids=[name for name, _ in RULES])
def test_the_rules_and_the_settings_agree(name: str, number: object) -> None:
    assert KEYS[name].default == number


@pytest.mark.parametrize("name", KEYS)
def test_every_setting_says_in_a_sentence_what_it_is(name: str) -> None:
    description = KEYS[name].description
    assert description[:1].isupper()
    assert description.endswith(".")
    assert "\n" not in description
    assert KEYS[name].allowed


@pytest.mark.parametrize("name", KEYS)
def test_every_number_has_bounds_and_its_default_lies_inside(name: str) -> None:
    schema = KEYS[name].schema
    number = schema.get("items", schema)
    if number.get("type") not in {"integer", "number"}:
        return
    low = number.get("minimum", number.get("exclusiveMinimum"))
    assert low is not None
    assert low <= number["maximum"]
    check = KEYS[name].accept
    assert check(KEYS[name].default) == KEYS[name].default


@pytest.mark.parametrize("name", KEYS)
def test_a_span_of_time_or_money_names_its_unit(name: str) -> None:
    kind = KEYS[name].schema.get("type")
    units = ("_minutes", "_seconds", "_hours", "_days", "_usd", "_mib", "_percent", "_share", "_characters", "_words")
    counts = ("max_", "min_", "_rounds", "_tokens", "_below", "_rating", "_budget", "_priority", "_repeats", "_max")
    others = ("_at_observe", "_per_step", "_that_", "every_decisions", ".port")
    assert kind not in {"integer", "number"} or any(part in name for part in (*units, *counts, *others))


def test_the_tree_is_frozen_and_knows_its_fields() -> None:
    settings = Settings()
    with pytest.raises(ValidationError):
        settings.jobs.max_in_all = 9  # type: ignore[misc]
    with pytest.raises(ValidationError):
        Settings.model_validate({"jobs": {"most": 3}})


def test_settings_become_what_gate_contract_and_asks_take() -> None:
    settings = Settings()
    assert gate_limits(settings) == GateLimits()
    assert session_limits(settings) == Limits()
    assert run_defaults(settings) == RunDefaults()
    assert quiet_hours(settings) == (notices.QUIET_FROM, notices.QUIET_UNTIL)
    assert digest_time(settings) == time(7)


def test_changed_settings_reach_gate_contract_and_asks(tmp_path: Path) -> None:
    changed: dict[str, JsonValue] = {
        "gate.same_action_minutes": 1,
        "gate.same_project_minutes": 2,
        "gate.young_job_minutes": 3,
        "gate.spin_repeats": 4,
        "gate.unisolated_agents": True,
        "jobs.max_in_all": 6,
        "jobs.max_retries": 8,
        "jobs.min_free_memory_mib": 1,
        "jobs.min_free_disk_mib": 2,
        "asks.confirm_act_minutes": 9,
        "asks.guidance_uncertain_minutes": 7,
        "asks.decision_minutes": 8,
        "council.objections_that_ask": 3,
        "council.min_agreement": 0.6,
        "council.min_confidence": 0.7,
        "asks.question_minutes": 10,
        "limits.session_usd": 0.5,
        "limits.session_tokens": 11,
        "limits.session_minutes": 12,
        "limits.session_rounds": 13,
        "execution.max_cost_usd": 0.1,
        "execution.max_tokens": 14,
        "execution.max_duration_minutes": 15,
        "notices.quiet_hours": "",
        "notices.digest_time": "06:30",
    }
    settings = load_settings(tmp_path, environ={}, flags=changed).settings
    assert gate_limits(settings) == GateLimits(
        same_action=timedelta(minutes=1),
        same_project=timedelta(minutes=2),
        young_job=timedelta(minutes=3),
        jobs_in_all=6,
        free_memory_bytes=1024**2,
        free_disk_bytes=2 * 1024**2,
        retries=8,
        spin=4,
        confirm_minutes=9,
        guidance_minutes=7,
        decision_minutes=8,
        objections_that_ask=3,
        min_agreement=0.6,
        min_confidence=0.7,
        forced_isolation=True,
    )
    assert session_limits(settings) == Limits(usd=0.5, tokens=11, minutes=12, rounds=13)
    defaults = run_defaults(settings)
    assert (defaults.usd_micros, defaults.tokens, defaults.minutes) == (100_000, 14, 15)
    assert settings.asks.question_minutes == 10
    assert digest_time(settings) == time(6, 30)
    start, end = quiet_hours(settings)
    assert start == end


def test_the_data_folder_is_the_one_that_was_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert data_folder({"MIDWATCH_HOME": str(tmp_path)}) == tmp_path
    monkeypatch.chdir(tmp_path)
    assert data_folder({"MIDWATCH_HOME": "house"}) == tmp_path / "house"
    assert data_folder({"MIDWATCH_HOME": "~/house"}) == Path.home() / "house"
    monkeypatch.setenv("MIDWATCH_HOME", str(tmp_path))
    assert data_folder() == tmp_path
    assert data_folder({"MIDWATCH_HOME": ""}).name == "midwatch"
    assert data_folder({}).is_absolute()


@pytest.mark.parametrize(
    ("statement", "absent"),
    [
        ("from midwatch.settings.folder import data_folder", "pydantic platformdirs typer sqlalchemy"),
        ("from midwatch.settings import data_folder", "pydantic platformdirs typer sqlalchemy"),
        ("from midwatch.settings import load_settings, gate_limits", "sqlalchemy fastapi platformdirs psutil"),
    ],
)
def test_settings_load_nothing_they_do_not_need(statement: str, absent: str) -> None:
    program = f"{statement}; import sys; print([name for name in {absent.split()} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"
