"""Whether a pull request is only a draft, because its checks stayed red.

Effect on a running system: one small column; no row is rewritten.
"""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Forward only."""
    op.add_column("pull_requests", sa.Column("draft", sa.Boolean, nullable=False, server_default=sa.false()))
