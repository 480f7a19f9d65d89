"""Orders written back as the file a person would have written, so that they can be edited as text."""

import json
from collections.abc import Mapping, Sequence

from midwatch.terms.contract import RunContract
from midwatch.terms.figures import dollars, some
from midwatch.terms.orders import Limits, OrderedWork, Orders
from midwatch.terms.trust import Level
from midwatch.views.text.plain import clean, listed


def orders_text(orders: Orders) -> str:
    """Write orders as TOML; reading it again gives the same orders."""
    limits, permitted = orders.limits, orders.permissions
    head = [
        f'level = "{orders.level}"            # observe | cautious | moderate | full',
        f"goals = {_texts(orders.goals)}",
        f"success_criteria = {_texts(orders.success_criteria)}",
        f"notes = {_text(orders.notes)}",
        f"do_not_touch = {_texts(orders.do_not_touch)}",
        f"until = {orders.until.isoformat()}" if orders.until else "# until = 2026-11-16T07:00:00+01:00",
    ]
    work = [_work(one) for one in orders.work]
    ceilings = {"usd": repr(limits.usd), "tokens": limits.tokens, "minutes": limits.minutes, "rounds": limits.rounds}
    allowed = {name: _texts(getattr(permitted, name)) for name in ("tools", "domains", "external")}
    allowed["silence_approves"] = str(permitted.silence_approves).lower()
    tail = [
        _table("limits", ceilings, orders.unsaid, more=_leave(limits)),
        _table("permissions", allowed, orders.unsaid),
    ]
    if "level" in orders.unsaid:
        head[0] = f"# {head[0]}"
    return "\n".join((*head, *work, *tail)) + "\n"


def _table(name: str, lines: Mapping[str, object], unsaid: Sequence[str], *, more: str = "") -> str:
    """Write one table; a line that no person wrote is a comment, so that it stays a default."""
    written = [f"{'# ' if f'{name}.{key}' in unsaid else ''}{key} = {value}" for key, value in lines.items()]
    said = more or any(not line.startswith("# ") for line in written)
    written = [line.replace("\n", "\n# ") if line.startswith("# ") else line for line in written]
    return "\n".join((f"\n{'' if said else '# '}[{name}]", *written)) + more


def _work(one: OrderedWork) -> str:
    where = f"projects = {_texts(one.projects)}" if one.projects else f"project = {_text(one.project)}"
    lines = [
        f"\n[[work]]\n{where}",
        f"title = {_text(one.title)}",
        f"checks = {_texts(one.checks)}",
        f"paths = {_texts(one.paths)}",
        f"agent = {_text(one.agent)}",
        *([] if one.usd is None else [f"usd = {one.usd!r}"]),
        *([] if one.minutes is None else [f"minutes = {one.minutes}"]),
        *([f"tools = {_texts(one.tools)}"] if one.tools else []),
        *([f"done_when = {_texts(one.done_when)}"] if one.done_when else []),
    ]
    for part in one.parts:
        lines += ["[[work.parts]]", f"project = {_text(part.project)}"]
        lines += [f"checks = {_texts(part.checks)}", f"paths = {_texts(part.paths)}"]
        lines += [f"done_when = {_texts(part.done_when)}"] if part.done_when else []
    return "\n".join(lines)


def _leave(limits: Limits) -> str:
    percent = f"\nleave_percent = {limits.leave_percent}" if limits.leave_percent else ""
    return percent if limits.leave_at is None else f'{percent}\nleave_at = "{limits.leave_at.isoformat()}"'


def _text(text: str) -> str:
    """JSON writes strings as TOML does, except for one character that TOML wants escaped as well."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _texts(texts: Sequence[str]) -> str:
    if sum(len(text) for text in texts) < 80:
        return f"[{', '.join(_text(text) for text in texts)}]"
    return "[\n" + "".join(f"  {_text(text)},\n" for text in texts) + "]"


def allows(contract: RunContract, projects: Sequence[str], level: Level, *, by_hand: bool = False) -> str:
    """Say what the person who typed the command has allowed."""
    paths = tuple(dict.fromkeys(path for part in contract.parts or (contract,) for path in part.paths))
    inside = f", inside {listed(paths, 5)}" if paths else ""
    bounds = contract.constraints
    most = f"{dollars(bounds.max_usd_micros)} and {some(bounds.max_runtime_minutes, 'minute')}"
    jobs = " in all" if contract.parts else ""
    plan = "you type, so there is no plan" if by_hand else _plan(contract, level)
    named = listed(tuple(clean(name, 63) for name in projects), 5)
    return (
        f"This lets {clean(contract.agent, 63)} change files in {named}{inside}, spend at most {most}{jobs}, "
        f"and deliver its work on its own branch with a pull request; {plan}. Nothing is merged."
    )


def _plan(contract: RunContract, level: Level) -> str:
    if level is Level.FULL:
        return "a plan that stays inside is not asked about"
    silent = "; silence approves it" if contract.silence_approves and level is not Level.OBSERVE else ""
    return f"you are shown its plan first{silent}"
