"""A person's own command has a session of its own kind.

Effect on a running system: two new columns; every session there was is a night, and every job was its agent's.
"""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Forward only."""
    op.add_column("sessions", sa.Column("ad_hoc", sa.Boolean, nullable=False, server_default=sa.false()))
    op.add_column("jobs", sa.Column("by_hand", sa.Boolean, nullable=False, server_default=sa.false()))
