"""What agents tell us while they work: one row for each signal.

Effect on a running system: one new table; nothing else changes.
"""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

_TEXTS = ("text", "detail", "options", "refused", "cause", "ask", "blob", "state", "answer", "answered_by")


def upgrade() -> None:
    """Forward only."""
    op.create_table(
        "signals",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("number", sa.BigInteger, nullable=False),
        sa.Column("job", sa.Text, nullable=False, index=True),
        sa.Column("session", sa.Text, nullable=False),
        sa.Column("project", sa.Text, nullable=False, index=True),
        sa.Column("room", sa.BigInteger, nullable=False),
        sa.Column("says", sa.Text, nullable=False),
        *(sa.Column(name, sa.Text, nullable=False) for name in _TEXTS),
        sa.Column("created_at", sa.BigInteger, nullable=False),
    )
