"""Each stage of a job is a step of its own: packed work, the delivered branch, a row for every attempt, every plan.

Effect on a running system: three columns and two new tables; a job that was being prepared goes on at its first
stage, one whose work was about to be looked through is packed anew.
"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Forward only."""
    op.add_column("jobs", sa.Column("bundle", sa.Text))
    op.add_column("jobs", sa.Column("branch", sa.Text, nullable=False, server_default=""))
    op.execute("UPDATE jobs SET stage = 'mirror' WHERE stage = 'prepare'")
    op.add_column("jobs", sa.Column("plan_wish", sa.Text, nullable=False, server_default=""))
    op.create_table(
        "plans",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("job", sa.Text, nullable=False, index=True),
        sa.Column("version", sa.BigInteger, nullable=False),
        sa.Column("plan", sa.Text, nullable=False),
        sa.Column("plan_hash", sa.Text, nullable=False),
        sa.Column("wish", sa.Text, nullable=False),
        sa.Column("fate", sa.Text, nullable=False),
        sa.Column("by", sa.Text, nullable=False),
        sa.Column("said", sa.Text, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("settled_at", sa.BigInteger),
    )
    op.create_table(
        "steps",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("number", sa.BigInteger, nullable=False),
        sa.Column("job", sa.Text, nullable=False, index=True),
        sa.Column("stage", sa.Text, nullable=False),
        sa.Column("attempt", sa.BigInteger, nullable=False),
        sa.Column("epoch", sa.BigInteger, nullable=False),
        sa.Column("worker", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("said", sa.Text, nullable=False),
        sa.Column("began_at", sa.BigInteger, nullable=False),
        sa.Column("began_seq", sa.BigInteger, nullable=False),
        sa.Column("ended_at", sa.BigInteger),
        sa.Column("ended_seq", sa.BigInteger),
    )
