"""People, their tokens, what opens the door (hashes only), and the answers already given under a key.

Effect on a running system: none; five new tables.
"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Forward only."""
    op.create_table(
        "people",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("number", sa.BigInteger, nullable=False),
        sa.Column("name", sa.Text, nullable=False, index=True),
        sa.Column("role", sa.Text, nullable=False),
        sa.Column("removed", sa.Boolean, nullable=False),
        sa.Column("last_entered_at", sa.BigInteger),
        sa.Column("created_at", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "tokens",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("number", sa.BigInteger, nullable=False),
        sa.Column("person", sa.Text, nullable=False, index=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("scopes", sa.Text, nullable=False),
        sa.Column("revoked", sa.Boolean, nullable=False),
        sa.Column("expires_at", sa.BigInteger),
        sa.Column("created_at", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "credentials",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("subject", sa.Text, nullable=False, index=True),
        sa.Column("secret", sa.Text, nullable=False),
        sa.Column("role", sa.Text, nullable=False),
        sa.Column("expires_at", sa.BigInteger),
    )
    op.create_table(
        "logins",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("person", sa.Text, nullable=False, index=True),
        sa.Column("csrf", sa.Text, nullable=False),
        sa.Column("seen_at", sa.BigInteger, nullable=False),
        sa.Column("expires_at", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "answers",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("request", sa.Text, nullable=False),
        sa.Column("status", sa.BigInteger),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
    )
