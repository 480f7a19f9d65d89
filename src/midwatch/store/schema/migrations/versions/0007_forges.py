"""Which forge a project has, and what a forge says of a pull request.

Effect on a running system: seven small columns; no row is rewritten.
"""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Forward only."""
    op.add_column("projects", sa.Column("forge", sa.Text, nullable=False, server_default=""))
    op.add_column("pull_requests", sa.Column("url", sa.Text, nullable=False, server_default=""))
    op.add_column("pull_requests", sa.Column("there", sa.BigInteger, nullable=False, server_default="0"))
    op.add_column("pull_requests", sa.Column("draft", sa.Boolean, nullable=False, server_default=sa.false()))
    op.add_column("pull_requests", sa.Column("checks", sa.Text, nullable=False, server_default="none"))
    op.add_column("pull_requests", sa.Column("remarks", sa.Text, nullable=False, server_default="[]"))
    op.add_column("pull_requests", sa.Column("seen_at", sa.BigInteger))
