"""What doctor reports about channels: whether each is usable, accepted its last message, and what it never accepted."""

from typing import Any

from midwatch.errors import MidwatchError
from midwatch.surfaces.cli.house.channels import seen

Finding = dict[str, str]


def channel_findings() -> list[Finding]:
    """Check every channel, one line each; nothing is sent."""
    try:
        rows = seen()
    except MidwatchError:
        return []  # what prevents reading it was reported already
    if not rows:
        text = "notices go to the log only; to get them elsewhere: midwatch channel add phone"
        return [{"state": "ok", "text": text, "hint": ""}]
    return [_stands(row) for row in rows]


def _stands(row: dict[str, Any]) -> Finding:
    name = f"channel {row['name']}"
    if row["problem"]:
        return {"state": "look", "text": f"{name} cannot be used: {row['problem']}", "hint": row["hint"]}
    where = f" ({row['kind']} at {row['place']})" if row["kind"] else ""
    hint = f"midwatch channel test {row['name']}"
    if row["unsent"]:
        return {"state": "look", "text": row["unsent"], "hint": hint}
    if row["state"] == "bad":
        return {"state": "look", "text": f"{name}{where} {row['said']}", "hint": hint}
    return {"state": "ok", "text": f"{name}{where}: {row['said']}", "hint": "" if row["last_at"] else hint}
