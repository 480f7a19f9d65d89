"""Which signed order stands behind a proposal, and the contract that follows from it."""

from collections.abc import Mapping

from midwatch.errors import Corrupt
from midwatch.rules.contract import Behind, RunDefaults, compile_contract
from midwatch.settings import Settings
from midwatch.terms.acts import Proposal
from midwatch.terms.contract import RunContract
from midwatch.terms.orders import OrderedWork
from midwatch.terms.records import ProjectRow, SessionRow


def item_for(session: SessionRow, work_item: str) -> OrderedWork:
    """Find the order behind a work item; items and orders stand in the same sequence."""
    for item, ordered in zip(session.items, session.orders.work, strict=True):
        if item["work_item"] == work_item:
            return ordered
    raise Corrupt(f"No order of night {session.number} stands behind {work_item}.")


def contract_for(
    session: SessionRow, proposal: Proposal, projects: Mapping[str, ProjectRow], settings: Settings, mission: str = ""
) -> RunContract | None:
    """Compile the contract for a proposal; None where nobody ordered anything of the kind."""
    behind = [item for item in session.items if item["work_item"] == proposal.target]
    if not behind or proposal.project not in projects:
        return None
    project = projects[proposal.project]
    return compile_contract(
        session.orders,
        item_for(session, proposal.target),
        Behind(project=project.id, mission=mission, work_item=proposal.target, checks=project.checks),
        run_defaults(settings),
    )


def run_defaults(settings: Settings) -> RunDefaults:
    """What settings say where the orders are silent."""
    execution = settings.execution
    return RunDefaults(
        minutes=execution.max_duration_minutes,
        tokens=execution.max_tokens,
        usd_micros=int(execution.max_cost_usd * 1_000_000),
        files=execution.max_files_changed,
        lines=execution.max_diff_lines,
    )
