"""What was found before a night was signed, line by line, and which of it a signature stands on.

Effect on a running system: two new tables and one small column; no row is rewritten.
"""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Forward only."""
    op.add_column("sessions", sa.Column("preflight", sa.Text, nullable=False, server_default=""))
    op.create_table(
        "preflights",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("session", sa.Text, nullable=False, index=True),
        sa.Column("orders_hash", sa.Text, nullable=False),
        sa.Column("plan", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("look", sa.BigInteger, nullable=False),
        sa.Column("bad", sa.BigInteger, nullable=False),
        sa.Column("error", sa.Text, nullable=False),
        sa.Column("asked_by", sa.Text, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("ended_at", sa.BigInteger),
    )
    op.create_table(
        "preflight_lines",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("preflight", sa.Text, nullable=False, index=True),
        sa.Column("what", sa.Text, nullable=False),
        sa.Column("subject", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("fix", sa.Text, nullable=False),
        sa.Column("seconds", sa.Float, nullable=False),
        sa.Column("commit", sa.Text, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
    )
