"""Setup of a project, the walls around a job, and the connections it made.

Effect on a running system: three small columns and one new table; no row is rewritten.
"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Forward only."""
    op.add_column("projects", sa.Column("setup", sa.Text, nullable=False, server_default=""))
    op.add_column("jobs", sa.Column("isolation", sa.Text, nullable=False, server_default="none"))
    op.add_column("jobs", sa.Column("setup_key", sa.Text, nullable=False, server_default=""))
    op.create_table(
        "connections",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("job", sa.Text, nullable=False, index=True),
        sa.Column("epoch", sa.BigInteger, nullable=False),
        sa.Column("host", sa.Text, nullable=False),
        sa.Column("port", sa.BigInteger, nullable=False),
        sa.Column("verdict", sa.Text, nullable=False),
        sa.Column("why", sa.Text, nullable=False),
        sa.Column("rule", sa.Text, nullable=False),
        sa.Column("bytes_out", sa.BigInteger, nullable=False),
        sa.Column("bytes_in", sa.BigInteger, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
    )
