"""Finds the signed order for a proposal, and makes the contract from it."""

from collections.abc import Collection, Mapping

from midwatch.errors import Corrupt
from midwatch.rules.gate.contract import Behind, RunDefaults, compile_contract, join
from midwatch.settings import Settings
from midwatch.terms.acts import Proposal
from midwatch.terms.contract import ContractPart, RunContract
from midwatch.terms.figures import micros
from midwatch.terms.orders import OrderedWork
from midwatch.terms.records import ProjectRow, SessionRow


def item_for(session: SessionRow, work_item: str) -> OrderedWork:
    """Find the order of a work item; items and orders are in the same sequence."""
    for item, ordered in zip(session.items, session.orders.pieces(), strict=True):
        if item["work_item"] == work_item:
            return ordered
    raise Corrupt(f"{session.called} has a work item that belongs to no order.")


def company_of(session: SessionRow, work_item: str) -> tuple[dict[str, str], ...]:
    """Find all items of the same ordered work, including this one (X16)."""
    groups = session.orders.groups()
    mine = [group for item, group in zip(session.items, groups, strict=True) if item["work_item"] == work_item]
    return tuple(item for item, group in zip(session.items, groups, strict=True) if group in mine)


def joint_contract(
    contract: RunContract,
    session: SessionRow,
    items: Collection[str],
    projects: Mapping[str, ProjectRow],
    settings: Settings,
) -> RunContract:
    """Widen a contract to all the items of one run."""
    own = set(ContractPart.model_fields) - {"work_item", "do_not_touch"}
    parts = []
    for item in session.items:
        if item["work_item"] in items and item["project"] in projects:
            name = item["work_item"]
            compiled = _compiled(session, name, projects[item["project"]], settings, contract.mission_id)
            protected = compiled.constraints.do_not_touch
            parts.append(ContractPart(work_item=name, do_not_touch=protected, **compiled.model_dump(include=own)))
    return join(contract, parts, session.orders)


def contract_for(
    session: SessionRow, proposal: Proposal, projects: Mapping[str, ProjectRow], settings: Settings, mission: str = ""
) -> RunContract | None:
    """Make the contract for a proposal; None if no order covers it."""
    behind = [item for item in session.items if item["work_item"] == proposal.target]
    if not behind or proposal.project not in projects:
        return None
    return _compiled(session, proposal.target, projects[proposal.project], settings, mission)


def _compiled(
    session: SessionRow, work_item: str, project: ProjectRow, settings: Settings, mission: str
) -> RunContract:
    return compile_contract(
        session.orders,
        item_for(session, work_item),
        Behind(
            project=project.id,
            mission=mission,
            work_item=work_item,
            checks=project.checks,
            do_not_touch=project.do_not_touch,
        ),
        run_defaults(settings),
    )


def run_defaults(settings: Settings) -> RunDefaults:
    """Return the settings that apply where the orders say nothing."""
    execution = settings.execution
    return RunDefaults(
        minutes=execution.max_duration_minutes,
        tokens=execution.max_tokens,
        usd_micros=micros(execution.max_cost_usd),
        files=execution.max_files_changed,
        lines=execution.max_diff_lines,
    )
