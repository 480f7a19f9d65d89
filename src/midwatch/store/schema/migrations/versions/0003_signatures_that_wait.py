"""A signature that waits for its preflight is kept with the draft.

Effect on a running system: three columns are added to sessions; no signature waits in an older database.
"""

import sqlalchemy as sa
from alembic import op

revision = "v3"
down_revision = "v2"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Forward only."""
    for name in ("signing_by", "signing_hash", "unsigned_because"):
        op.add_column("sessions", sa.Column(name, sa.Text(), nullable=False, server_default=""))
