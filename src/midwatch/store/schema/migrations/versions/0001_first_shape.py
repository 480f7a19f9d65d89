"""The first shape: journal, records, and what is kept beside them.

Effect on a running system: none; it runs on an empty database.
"""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "v1"
down_revision = None
branch_labels = None
depends_on = None

# Written out, not imported: a migration describes the past and must not follow today's records.
# column:type, "!" part of the primary key, "?" may be empty, "*" indexed, "+" unique
TABLES = {
    "acts": (
        "id:text! number:big session:text* round:big kind:text about:text project:text proposal:text facts:text "
        "verdict:text state:text code:text text:text result:text judged_seq:big judged_at:big ended_at:big?"
    ),
    "answers": "id:text! request:text status:big? kind:text body:text at:big",
    "artifacts": (
        "id:text! run:text* project:text job:text type:text title:text format:text blob:text summary:text "
        "created_at:big"
    ),
    "asks": (
        "id:text! number:big session:text* kind:text question:text options:text recommendation:text "
        "rationale:text priority:big silence:text blocking:bool subject:text project:text shown_hash:text "
        "state:text* answer:text answer_text:text answered_by:text created_at:big due_at:big? settled_at:big?"
    ),
    "assumptions": (
        "id:text! run:text* project:text statement:text confidence:float impact_if_wrong:text "
        "needs_confirmation:bool status:text created_at:big"
    ),
    "check_ins": "id:text! session:text* type:text trigger:text text:text created_at:big",
    "claims": "id:text! run:text* project:text text:text evidence:text hypothesis:bool strength:text created_at:big",
    "connections": (
        "id:text! job:text* epoch:big host:text port:big verdict:text why:text rule:text bytes_out:big "
        "bytes_in:big created_at:big"
    ),
    "credentials": "id:text! kind:text subject:text* secret:text role:text expires_at:big?",
    "deliberations": "id:text! session:text* round:big opinions:text decision:text created_at:big",
    "deliveries": (
        "id:text! notice:text* channel:text session:text tier:big delivery:text state:text* due_at:big "
        "attempts:big push:text error:text created_at:big settled_at:big?"
    ),
    "evaluations": (
        "id:text! run:text session:text* project:text capture_status:text usefulness:big? trust:big? brevity:big? "
        "flags:text notes:text due_at:big created_at:big submitted_at:big?"
    ),
    "evidence_items": (
        "id:text! run:text* project:text job:text kind:text citation:text origin:text excerpt:text quality:float "
        "fresh:bool notes:text retrieved_at:big"
    ),
    "fuel": "id:text! provider:text limit:text remaining:float? resets_at:big? rejected:bool read_at:big",
    "goals": (
        "id:text! goal:text project:text* horizon:text statement:text metric:text target_date:text priority:big "
        "status:text version:big current:bool created_at:big"
    ),
    "jobs": (
        "id:text! number:big session:text* run:text project:text* work_item:text title:text agent:text "
        "by_hand:bool act:text retry_of:text state:text* stage:text attempt:big epoch:big worker:text "
        "isolation:text repository:text? plan:text? plan_version:big plan_hash:text plan_wish:text "
        "approved_by:text done:text? work_epoch:big bundle:text? change:text? diff_blob:text setup_key:text "
        "proof:text? repairs:big branch:text stumbles:big usd_micros:big tokens:big requests:big model:text "
        "conversation:text agent_began_at:big? ran_seconds:big granted_usd_micros:big granted_tokens:big "
        "granted_requests:big waits:big waits_for:text wakes_at:big? failures:text boxes:big box_seconds:big "
        "box_began_at:big? box_warned_at:big? boxed_at:big? output_blob:text last_head:text why:text cause:text "
        "created_at:big started_at:big? ended_at:big?"
    ),
    "journal": (
        "seq:big! at:big actor:text key:text+ because:text kind:text* payload:text? payload_hash:text chain:text"
    ),
    "leases": "executor:text! beat:time",
    "logins": "id:text! person:text* csrf:text seen_at:big expires_at:big",
    "messages": "id:text! session:text* by:text text:text created_at:big",
    "missions": "id:text! session:text* project:text title:text objective:text work_items:text created_at:big",
    "notices": "id:text! session:text* tier:big text:text subject:text sent_by:text created_at:big sent_at:big?",
    "people": "id:text! number:big name:text* role:text removed:bool last_entered_at:big? created_at:big",
    "plans": (
        "id:text! job:text* version:big plan:text plan_hash:text wish:text fate:text by:text said:text "
        "created_at:big settled_at:big?"
    ),
    "preflight_lines": (
        "id:text! preflight:text* what:text subject:text state:text text:text fix:text seconds:float commit:text "
        "created_at:big"
    ),
    "preflights": (
        "id:text! session:text* orders_hash:text plan:text state:text look:big bad:big error:text asked_by:text "
        "created_at:big ended_at:big?"
    ),
    "projects": (
        "id:text! number:big name:text* path:text branch:text purpose:text checks:text setup:text priority:big "
        "flags:text forge:text removed:bool created_at:big updated_at:big"
    ),
    "pull_requests": (
        "id:text! number:big job:text* run:text project:text* branch:text base:text head:text into:text "
        "title:text body:text forge:text state:text merged_sha:text undo:text url:text there:big draft:bool "
        "checks:text remarks:text seen_at:big? created_at:big closed_at:big?"
    ),
    "pushes": (
        "id:text! channel:text* notices:text day:text* counts:bool note:text state:text error:text created_at:big "
        "settled_at:big?"
    ),
    "queued_work": "seq:big! work:text! args:text executor:text error:text",
    "recommendation_outcomes": "id:text! run:text session:text* outcome:text reason:text created_at:big",
    "reports": "id:text! session:text* brief:text recommendations:text decisions:text created_at:big",
    "reservations": "id:text! worker:text* session:text* run:text job:text usd_micros:big tokens:big requests:big",
    "rounds": "id:text! session:text* number:big brain:text summary:text state:text error:text created_at:big",
    "runs": (
        "id:text! number:big session:text* mission:text project:text contract:text status:text summary:text "
        "score_pre:float? score_post:float? scores:text started_at:big ended_at:big?"
    ),
    "sessions": (
        "id:text! number:big state:text* paused:bool why_paused:text orders:text ad_hoc:bool source:text "
        "level:text signed_by:text preflight:text items:text repositories:text rounds:big round_active:bool "
        "round_wanted:bool next_round_at:big? decisions:big actions:big reason:text last_check_in_at:big? "
        "last_moved_at:big created_at:big started_at:big? ends_at:big? debrief_at:big? ended_at:big?"
    ),
    "settings_versions": "id:text! number:big changes:text note:text state:text version:big? actor:text created_at:big",
    "signals": (
        "id:text! number:big job:text* session:text project:text* room:big says:text text:text detail:text "
        "options:text refused:text cause:text ask:text blob:text state:text answer:text answered_by:text "
        "created_at:big"
    ),
    "stacks": (
        "id:text! number:big session:text* project:text* into:text state:text* by:text base:text tip:text "
        "order:text left_out:text checks:text check_runs:big verdict:text? why:text settled_by:text undo:text "
        "due_at:big created_at:big made_at:big? settled_at:big?"
    ),
    "standing": "id:text! level:text since:big",
    "steps": (
        "id:text! number:big job:text* stage:text attempt:big epoch:big worker:text state:text said:text "
        "began_at:big began_seq:big ended_at:big? ended_seq:big?"
    ),
    "timers": "id:text! kind:text subject:text due_at:big*",
    "tokens": "id:text! number:big person:text* name:text scopes:text revoked:bool expires_at:big? created_at:big",
    "tool_invocations": (
        "id:text! tool:text session:text run:text job:text* request:text status:text result:text error:text "
        "started_at:big ended_at:big?"
    ),
    "work_items": (
        "id:text! number:big project:text* title:text type:text status:text priority:big goal_links:text "
        "next_step:text owner:text created_at:big updated_at:big"
    ),
}
KINDS: dict[str, sa.types.TypeEngine[Any]] = {
    "text": sa.Text(),
    "big": sa.BigInteger(),
    "int": sa.Integer(),
    "bool": sa.Boolean(),
    "float": sa.Float(),
    "time": sa.DateTime(timezone=True),
}


def upgrade() -> None:
    """Forward only."""
    for table, words in TABLES.items():
        columns = [_column(word) for word in words.split()]
        op.create_table(table, *columns)
        for word in words.split():
            if word.endswith("*"):
                name = word.split(":")[0]
                op.create_index(f"ix_{table}_{name}", table, [name])


def _column(word: str) -> sa.Column[Any]:
    name, kind = word.rstrip("!?*+").split(":")
    return sa.Column(
        name,
        KINDS[kind],
        primary_key="!" in word,
        autoincrement=False,
        nullable="?" in word,
        unique=True if "+" in word else None,
    )
