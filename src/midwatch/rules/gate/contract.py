"""Signed orders become the contract of one run: what it may touch, spend and use."""

from collections.abc import Sequence
from dataclasses import dataclass

from midwatch.rules.checks.discovery import join_checks
from midwatch.rules.paths import inside, is_clean, touches
from midwatch.terms.contract import (
    Constraints,
    ContractPart,
    OutputRequirements,
    RunContract,
    ToolPolicy,
    ToolScope,
)
from midwatch.terms.figures import first_few, micros, some
from midwatch.terms.jobs import CheckSource, Plan
from midwatch.terms.orders import OrderedWork, Orders
from midwatch.terms.trust import Authority

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
    """The background of a run: whose it is and what it is for."""

    project: str
    mission: str
    work_item: str
    goals: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()
    do_not_touch: tuple[str, ...] = ()
    """What no night may touch in that project."""


def compile_contract(orders: Orders, work: OrderedWork, behind: Behind, defaults: RunDefaults) -> RunContract:
    """The orders' limits bind where they are tighter than the settings'; a missing limit widens nothing.

    A limit that a piece of work names replaces the settings' ceiling, within the night's.
    """
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
            max_runtime_minutes=min(work.minutes or defaults.minutes, limits.minutes),
            max_tokens=min(defaults.tokens, limits.tokens),
            max_usd_micros=min(defaults.usd_micros if work.usd is None else micros(work.usd), micros(limits.usd)),
            tool_policy=ToolPolicy(
                allowed_tools=permitted.tools,
                denied_tools=NEVER,
                scopes={name: scope for name, scope in scopes.items() if name in permitted.tools},
            ),
            do_not_touch=tuple(dict.fromkeys((*orders.do_not_touch, *behind.do_not_touch))),
        ),
        success_criteria=orders.success_criteria,
        output_requirements=OutputRequirements(),
        external_effects=permitted.external,
        checks=tuple(check.command for check in named),
        project_checks=tuple(check.command for check in named if check.source is CheckSource.PROJECT),
        finds_checks=not behind.checks,
        paths=work.paths,
        tools=work.tools,
        done_when=work.done_when,
        agent=work.agent,
        silence_approves=permitted.silence_approves,
    )


def join(contract: RunContract, parts: Sequence[ContractPart], orders: Orders) -> RunContract:
    """Let one contract cover several repositories: each has as much as one alone, all together what the night has."""
    if len(parts) < 2:
        return contract
    limits, one = orders.limits, contract.constraints
    constraints = one.model_copy(
        update={
            "max_tokens": min(one.max_tokens * len(parts), limits.tokens),
            "max_usd_micros": min(one.max_usd_micros * len(parts), micros(limits.usd)),
        }
    )
    items = tuple(part.work_item for part in parts)
    return contract.model_copy(update={"parts": tuple(parts), "constraints": constraints, "work_item_links": items})


def part_of(contract: RunContract, project: str) -> RunContract:
    """What applies in one repository: its own checks and paths, and its equal share of the ceilings."""
    part = next((one for one in contract.parts if one.project_id == project), None)
    if part is None:
        return contract
    whole, shares = contract.constraints, len(contract.parts)
    scopes = dict(whole.tool_policy.scopes)
    if WRITE in scopes:
        scopes[WRITE] = scopes[WRITE].model_copy(update={"allowed_paths": part.paths or ("**",)})
    constraints = whole.model_copy(
        update={
            "max_tokens": whole.max_tokens // shares,
            "max_usd_micros": whole.max_usd_micros // shares,
            "do_not_touch": whole.do_not_touch if part.do_not_touch is None else part.do_not_touch,
            "tool_policy": whole.tool_policy.model_copy(update={"scopes": scopes}),
        }
    )
    own = part.model_dump(exclude={"work_item", "do_not_touch"})
    return contract.model_copy(
        update={**own, "work_item_links": (part.work_item,), "parts": (), "constraints": constraints}
    )


def authority_of(contract: RunContract | None) -> Authority:
    """Return the authority a run begins with, within what its contract admits; without a contract it only suggests."""
    if contract is None:
        return Authority.SUGGEST
    policy = contract.authority_policy
    return min(policy.start_level, policy.max_level_this_run, key=lambda one: one.rank)


MOST_NAMED = 10


def in_scope(path: str, scope: ToolScope) -> bool:
    """Whether the work may change a path: the orders name it by a pattern, or a person allowed exactly this file."""
    return path in scope.also or inside(path, scope.allowed_paths)


def opened(contract: RunContract, files: Sequence[str]) -> RunContract:
    """Let a contract name single files that a person allowed for one job."""
    scopes = dict(contract.constraints.tool_policy.scopes)
    if not files or WRITE not in scopes:
        return contract
    scopes[WRITE] = scopes[WRITE].model_copy(update={"also": tuple(files)})
    policy = contract.constraints.tool_policy.model_copy(update={"scopes": scopes})
    constraints = contract.constraints.model_copy(update={"tool_policy": policy})
    return contract.model_copy(update={"constraints": constraints})


def is_one_file(path: str) -> bool:
    """Whether a name can only mean one file, so that a yes to it opens nothing else."""
    return is_clean(path) and not set(path) & set("*?")


def asks_for(plan: Plan, contract: RunContract) -> tuple[str, ...]:
    """Return the files outside the orders' paths that a person who approves this plan allows: those that it is shown.

    What is not to be touched stays closed, and so does what is no single file.
    """
    scope = contract.constraints.tool_policy.scopes.get(WRITE)
    if scope is None:
        return ()
    outside = [path for path in plan.files if not in_scope(path, scope)][:MOST_NAMED]
    closed = contract.constraints.do_not_touch
    return tuple(path for path in dict.fromkeys(outside) if is_one_file(path) and not touches(path, closed))


def if_approved(plan: Plan, contract: RunContract) -> str:
    """Say what an approval of a plan that leaves the orders opens, and that the rest stays closed."""
    files = asks_for(plan, contract)
    if not files:
        return "An approval does not change that: it will be refused."
    return f"Your approval allows exactly {first_few(list(files), MOST_NAMED)}; everything else outside is refused."


def faults(plan: Plan, contract: RunContract) -> tuple[str, ...]:
    """Say where a plan leaves the orders, one sentence each; nothing, where it stays inside."""
    scope = contract.constraints.tool_policy.scopes.get(WRITE)
    if scope is None:
        return ("The orders allow no changes at all.",)
    outside = [path for path in plan.files if not in_scope(path, scope)]
    forbidden = [path for path in plan.files if touches(path, contract.constraints.do_not_touch)]
    found = []
    if outside:
        paths = ", ".join(scope.allowed_paths)
        found.append(f"These files are outside the orders' paths ({paths}): {first_few(outside, MOST_NAMED)}.")
    if forbidden:
        found.append(f"These files are not to be touched: {first_few(forbidden, MOST_NAMED)}.")
    # What it names counts, not only what it guesses.
    many, lines = max(len(set(plan.files)), plan.estimate_files), plan.estimate_lines
    if scope.max_files_changed is not None and many > scope.max_files_changed:
        found.append(f"It would change {some(many, 'file')}; at most {scope.max_files_changed} are allowed.")
    if scope.max_diff_lines is not None and lines > scope.max_diff_lines:
        found.append(f"It would change about {some(lines, 'line')}; at most {scope.max_diff_lines} are allowed.")
    return tuple(found)
