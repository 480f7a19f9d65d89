"""What a job failed at, its time box, and its last words.

Effect on a running system: eight small columns; no row is rewritten.
"""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Forward only."""
    op.add_column("jobs", sa.Column("failures", sa.Text, nullable=False, server_default="[]"))
    for name in ("boxes", "box_seconds"):
        op.add_column("jobs", sa.Column(name, sa.BigInteger, nullable=False, server_default="0"))
    for name in ("box_began_at", "box_warned_at", "boxed_at"):
        op.add_column("jobs", sa.Column(name, sa.BigInteger))
    for name in ("output_blob", "last_head"):
        op.add_column("jobs", sa.Column(name, sa.Text, nullable=False, server_default=""))
