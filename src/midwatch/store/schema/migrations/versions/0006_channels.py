"""Each notice's way to each channel, and the messages that went out.

Effect on a running system: two new tables; no row is rewritten.
"""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Forward only."""
    op.create_table(
        "deliveries",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("notice", sa.Text, nullable=False, index=True),
        sa.Column("channel", sa.Text, nullable=False),
        sa.Column("session", sa.Text, nullable=False),
        sa.Column("tier", sa.BigInteger, nullable=False),
        sa.Column("delivery", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False, index=True),
        sa.Column("due_at", sa.BigInteger, nullable=False),
        sa.Column("attempts", sa.BigInteger, nullable=False),
        sa.Column("push", sa.Text, nullable=False),
        sa.Column("error", sa.Text, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("settled_at", sa.BigInteger),
    )
    op.create_table(
        "pushes",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("channel", sa.Text, nullable=False, index=True),
        sa.Column("notices", sa.Text, nullable=False),
        sa.Column("day", sa.Text, nullable=False, index=True),
        sa.Column("counts", sa.Boolean, nullable=False),
        sa.Column("note", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("error", sa.Text, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("settled_at", sa.BigInteger),
    )
