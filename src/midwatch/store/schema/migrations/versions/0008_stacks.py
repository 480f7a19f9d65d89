"""Stacks: which branches of a night go together.

Effect on a running system: one new table; no row is rewritten.
"""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Forward only."""
    op.create_table(
        "stacks",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("number", sa.BigInteger, nullable=False),
        sa.Column("session", sa.Text, nullable=False, index=True),
        sa.Column("project", sa.Text, nullable=False, index=True),
        sa.Column("into", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False, index=True),
        sa.Column("by", sa.Text, nullable=False),
        sa.Column("base", sa.Text, nullable=False),
        sa.Column("tip", sa.Text, nullable=False),
        sa.Column("order", sa.Text, nullable=False),
        sa.Column("left_out", sa.Text, nullable=False),
        sa.Column("checks", sa.Text, nullable=False),
        sa.Column("check_runs", sa.BigInteger, nullable=False),
        sa.Column("verdict", sa.Text),
        sa.Column("why", sa.Text, nullable=False),
        sa.Column("settled_by", sa.Text, nullable=False),
        sa.Column("undo", sa.Text, nullable=False),
        sa.Column("due_at", sa.BigInteger, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("made_at", sa.BigInteger),
        sa.Column("settled_at", sa.BigInteger),
    )
