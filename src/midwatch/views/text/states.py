"""The words for states: how a job, a step, an agent run or a plan ended, and when a notice is sent."""

from typing import Final

from midwatch.terms.asks import Delivery
from midwatch.terms.jobs import JobState
from midwatch.terms.report import ItemOutcome
from midwatch.terms.trust import GateOutcome

JOB_ENDED: Final = {
    JobState.DONE: "done",
    JobState.FAILED: "failed",
    JobState.STOPPED: "stopped, work kept",
    JobState.DECLINED: "declined",
    JobState.NOTHING_DELIVERED: "nothing delivered",
}
ITEM_BECAME: Final = {
    ItemOutcome.DELIVERED: "Delivered",
    ItemOutcome.UNNEEDED: "Nothing had to be done",
    ItemOutcome.NOTHING_DELIVERED: "Nothing delivered",
    ItemOutcome.FAILED: "Failed",
    ItemOutcome.STOPPED: "Stopped",
    ItemOutcome.DECLINED: "Declined",
    ItemOutcome.REFUSED: "Refused",
    ItemOutcome.PROPOSED: "Only proposed",
    ItemOutcome.NOT_STARTED: "Not started",
    ItemOutcome.WORKING: "Still at work",
    ItemOutcome.WAITING: "Still waits",
}
STEP_ENDED: Final = {
    "running": "under way",
    "stumbled": "failed, retried",
    "waits": "waits",
    "returned": "sent back",
    "lost": "interrupted, resumed",
} | {state.value: said for state, said in JOB_ENDED.items()}
"""A step that ends its job ends as the job does."""
AGENT_RUN_ENDED: Final = {
    "ok": "ended well",
    "failed": "failed",
    "max_turns": "took too many turns",
    "budget": "spent its budget",
    "limit": "reached the provider's limit",
    "auth": "could not authenticate with the provider",
    "network": "could not reach the provider",
    "cancelled": "was stopped",
    "crashed": "ended unexpectedly",
}
PLAN_ENDED: Final = {
    "open": "waits for approval",
    "approved": "approved",
    "returned": "sent back",
    "rejected": "rejected",
    "none": "overtaken by events",
}
DECIDED: Final = {
    GateOutcome.EXECUTE: "done",
    GateOutcome.EXECUTE_AND_TELL: "done, and you get a notice",
    GateOutcome.ASK_FIRST: "you are asked first",
    GateOutcome.SAY_ONLY: "only proposed",
    GateOutcome.REFUSE: "refused",
}
"""What the gate decided about an act."""
NOTICE_GOES: Final = {
    Delivery.NOW: "goes to {channel} now",
    Delivery.AFTER_QUIET: "goes to {channel} after quiet hours",
    Delivery.BATCH: "goes to {channel} with the next batch",
    Delivery.DIGEST: "goes to {channel} with the digest",
    Delivery.LOG: "stays in the log; {channel} was removed",
}
