"""The run contract: everything a run must keep to (seed 002, section 7), frozen."""

from typing import Any, Literal

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from midwatch.terms.term import Term, without_unset
from midwatch.terms.trust import Authority


class ToolScope(Term):
    """How far one tool may reach."""

    allowed_paths: tuple[str, ...] = ("**",)
    max_files_changed: int | None = None
    max_diff_lines: int | None = None
    allowed_domains: tuple[str, ...] = ()
    max_requests: int | None = None
    requires_approval: Literal["never", "pre_run_batch", "always"] = "pre_run_batch"
    also: tuple[str, ...] = ()
    """Single files outside the paths that a person allowed for one job; a signed contract has none."""

    @model_serializer(mode="wrap")
    def _as_signed(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out what was not set: contracts from before the field existed keep their shape."""
        written: dict[str, Any] = dump(self)
        return {name: value for name, value in written.items() if name != "also" or value}


class ToolPolicy(Term):
    """Which tools exist for this run."""

    allowed_tools: tuple[str, ...] = ()
    denied_tools: tuple[str, ...] = ()
    scopes: dict[str, ToolScope] = Field(default_factory=dict)


class Constraints(Term):
    """Hard limits."""

    max_runtime_minutes: int = 120
    max_tokens: int = 2_000_000
    max_usd_micros: int = 20_000_000
    tool_policy: ToolPolicy = ToolPolicy()
    forbidden_actions: tuple[str, ...] = (
        "deploy_prod",
        "send_external_email",
        "unrequested_longform_docs",
        "direct_push_main",
    )
    do_not_touch: tuple[str, ...] = ()


class ProvenanceRequirements(Term):
    """What evidence a claim needs."""

    min_evidence_items: int = 1
    claims_must_link_evidence: bool = True
    allow_hypotheses: bool = True
    hypotheses_must_be_labeled: bool = True


class AssumptionPolicy(Term):
    """How much may be assumed before a person is asked."""

    max_open_assumptions: int = 3
    branch_if_impact_high_and_cost_low: bool = True
    when_blocked_convert_to_decision: bool = True


class ArtifactLimits(Term):
    """Keeps the morning brief short."""

    max_artifacts: int = 3
    max_words_per_artifact: int = 300


class OutputRequirements(Term):
    """What the morning gets."""

    morning_brief: bool = True
    decision_queue: bool = True
    artifacts: tuple[str, ...] = ("code_diff",)
    artifact_limits: ArtifactLimits = ArtifactLimits()
    brief_style: Literal["coffee_mode"] = "coffee_mode"
    max_morning_read_minutes: int = 5


class TraceRequirements(Term):
    """What is kept for the replay."""

    record_tool_invocations: bool = True
    record_plan_versions: bool = True
    record_memory_diffs: bool = True
    why_this_explainers: bool = True


class AuthorityPolicy(Term):
    """How firmly this run may word its claims, and whether it may write."""

    start_level: Authority = Authority.SUGGEST
    max_level_this_run: Authority = Authority.RECOMMEND
    allow_autonomous_write_actions: bool = True
    escalation_mode: Literal["threshold_gated"] = "threshold_gated"


class FeedbackRequirements(Term):
    """What the morning review collects."""

    collect_run_evaluation: bool = True
    collect_recommendation_outcomes: bool = True


StopCondition = Literal[
    "budget_exhausted", "confidence_stagnation", "insufficient_evidence", "permission_denied_repeated"
]


class ContractPart(Term):
    """What holds in one of several repositories that one run works in."""

    project_id: str
    work_item: str
    checks: tuple[str, ...] = ()
    project_checks: tuple[str, ...] = ()
    finds_checks: bool = False
    paths: tuple[str, ...] = ()
    do_not_touch: tuple[str, ...] | None = None
    """None in contracts from before it could differ: then the whole contract's applies."""
    done_when: tuple[str, ...] = ()

    @model_serializer(mode="wrap")
    def _as_compiled(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out an unset list, as the whole contract does."""
        return without_unset(dump(self), ("done_when",))


class RunContract(Term):
    """What one run must keep to. Compiled from signed orders; never edited afterwards."""

    project_id: str
    mission_id: str
    objective: str
    domain_scope: tuple[str, ...] = ("code",)
    goal_links: tuple[str, ...] = ()
    work_item_links: tuple[str, ...] = ()
    constraints: Constraints = Constraints()
    success_criteria: tuple[str, ...] = ()
    stop_conditions: tuple[StopCondition, ...] = (
        "budget_exhausted",
        "confidence_stagnation",
        "insufficient_evidence",
        "permission_denied_repeated",
    )
    provenance_requirements: ProvenanceRequirements = ProvenanceRequirements()
    assumption_policy: AssumptionPolicy = AssumptionPolicy()
    output_requirements: OutputRequirements = OutputRequirements()
    trace_requirements: TraceRequirements = TraceRequirements()
    authority_policy: AuthorityPolicy = AuthorityPolicy()
    feedback_requirements: FeedbackRequirements = FeedbackRequirements()
    external_effects: tuple[str, ...] = ("pull_request",)
    """External effects of class `low` that the signed orders name."""
    peers: tuple[str, ...] = ()
    """A2A peers and calendars the signed orders name."""
    checks: tuple[str, ...] = ()
    project_checks: tuple[str, ...] = ()
    """Those of `checks` that the project names for itself; the orders' come first."""
    finds_checks: bool = False
    """Whether checks are also discovered in the checkout, because the project names none."""
    paths: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    """The only tools of the agent that the orders name for this work; empty where they name none."""
    done_when: tuple[str, ...] = ()
    """Commands that pass once the work is done."""
    agent: str = "housekeeper"
    silence_approves: bool = True
    parts: tuple[ContractPart, ...] = ()
    """One for each repository where there are several; the ceilings are then those of all together."""

    @model_serializer(mode="wrap")
    def _as_compiled(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out unset lists: contracts from before they existed stay as they were written."""
        return without_unset(dump(self), ("tools", "done_when"))
