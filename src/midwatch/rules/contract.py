"""Signed orders become the contract of one run: what it may touch, spend and use."""

from dataclasses import dataclass

from midwatch.rules.found_checks import join_checks
from midwatch.terms.contract import (
    Constraints,
    OutputRequirements,
    RunContract,
    ToolPolicy,
    ToolScope,
)
from midwatch.terms.orders import OrderedWork, Orders
from midwatch.terms.proof import CheckSource

NEVER = ("prod_deploy", "external_email")
WRITE = "repo_write_pr"


@dataclass(frozen=True, slots=True)
class RunDefaults:
    """What settings say where the orders are silent."""

    minutes: int = 120
    tokens: int = 2_000_000
    usd_micros: int = 20_000_000
    files: int = 20
    lines: int = 800
    web_requests: int = 60


@dataclass(frozen=True, slots=True)
class Behind:
    """What stands behind a run: whose it is and what it is for."""

    project: str
    mission: str
    work_item: str
    goals: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()


def compile_contract(orders: Orders, work: OrderedWork, behind: Behind, defaults: RunDefaults) -> RunContract:
    """The orders' limits bind where they are tighter than the settings'; nobody widens by leaving something out."""
    permitted = orders.permissions
    limits = orders.limits
    named = join_checks(work.checks, behind.checks, ())
    paths = work.paths or ("**",)
    scopes = {
        WRITE: ToolScope(allowed_paths=paths, max_files_changed=defaults.files, max_diff_lines=defaults.lines),
        "web_research": ToolScope(allowed_domains=permitted.domains, max_requests=defaults.web_requests),
    }
    return RunContract(
        project_id=behind.project,
        mission_id=behind.mission,
        objective=work.title,
        goal_links=behind.goals,
        work_item_links=(behind.work_item,),
        constraints=Constraints(
            max_runtime_minutes=min(defaults.minutes, limits.minutes),
            max_tokens=min(defaults.tokens, limits.tokens),
            max_usd_micros=min(defaults.usd_micros, int(limits.usd * 1_000_000)),
            tool_policy=ToolPolicy(
                allowed_tools=permitted.tools,
                denied_tools=NEVER,
                scopes={name: scope for name, scope in scopes.items() if name in permitted.tools},
            ),
            do_not_touch=orders.do_not_touch,
        ),
        success_criteria=orders.success_criteria,
        output_requirements=OutputRequirements(),
        external_effects=permitted.external,
        checks=tuple(check.command for check in named),
        project_checks=tuple(check.command for check in named if check.source is CheckSource.PROJECT),
        finds_checks=not behind.checks,
        paths=work.paths,
        agent=work.agent,
        silence_approves=permitted.silence_approves,
    )
