"""The tools that a project narrows its agents to, and what a person always allows in it.

Effect on a running system: two columns are added to projects; older projects have neither list.
"""

import sqlalchemy as sa
from alembic import op

revision = "v4"
down_revision = "v3"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Forward only."""
    for name in ("tools", "always_tools"):
        op.add_column("projects", sa.Column(name, sa.Text(), nullable=False, server_default="[]"))
