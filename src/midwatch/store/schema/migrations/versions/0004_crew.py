"""What a job spent and with whom it talks, what is set aside for requests under way, and what providers say is left.

Effect on a running system: thirteen small columns and two new tables; no row is rewritten.
"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Forward only."""
    counts = ("usd_micros", "tokens", "requests", "ran_seconds", "granted_usd_micros")
    for name in (*counts, "granted_tokens", "granted_requests", "waits"):
        op.add_column("jobs", sa.Column(name, sa.BigInteger, nullable=False, server_default="0"))
    for name in ("model", "conversation", "waits_for"):
        op.add_column("jobs", sa.Column(name, sa.Text, nullable=False, server_default=""))
    for name in ("agent_began_at", "wakes_at"):
        op.add_column("jobs", sa.Column(name, sa.BigInteger))
    op.create_table(
        "fuel",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("provider", sa.Text, nullable=False),
        sa.Column("limit", sa.Text, nullable=False),
        sa.Column("remaining", sa.Float),
        sa.Column("resets_at", sa.BigInteger),
        sa.Column("rejected", sa.Boolean, nullable=False),
        sa.Column("read_at", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "reservations",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("worker", sa.Text, nullable=False, index=True),
        sa.Column("session", sa.Text, nullable=False, index=True),
        sa.Column("run", sa.Text, nullable=False),
        sa.Column("job", sa.Text, nullable=False),
        sa.Column("usd_micros", sa.BigInteger, nullable=False),
        sa.Column("tokens", sa.BigInteger, nullable=False),
        sa.Column("requests", sa.BigInteger, nullable=False),
    )
