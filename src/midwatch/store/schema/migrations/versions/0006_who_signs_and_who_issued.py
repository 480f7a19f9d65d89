"""Who made a token is kept with it, and whether a signature that waits may begin only what an owner granted.

Effect on a running system: a column is added to tokens and one to sessions. Who made the tokens that exist is in the
journal, from which every upgrade writes the records again; a signature that waits over the upgrade is capped by the
role that its person has when it is carried out.
"""

import sqlalchemy as sa
from alembic import op

revision = "v6"
down_revision = "v5"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Forward only."""
    op.add_column("sessions", sa.Column("signing_capped", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.add_column("tokens", sa.Column("issued_by", sa.Text(), nullable=False, server_default=""))
