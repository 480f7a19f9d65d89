"""Which jobs read untrusted text, and which paths of a project no night may change.

Effect on a running system: two columns are added; a job whose first tainting call is in the journal, and every job that
continues one, is marked. No entry is changed.
"""

import sqlalchemy as sa
from alembic import op

revision = "v2"
down_revision = "v1"
branch_labels = None
depends_on = None

MARK = "tainted:"


def upgrade() -> None:
    """Forward only."""
    op.add_column("projects", sa.Column("do_not_touch", sa.Text(), nullable=False, server_default="[]"))
    op.add_column("jobs", sa.Column("tainted", sa.Boolean(), nullable=False, server_default=sa.false()))
    connection = op.get_bind()
    journal = sa.table("journal", sa.column("key"))
    jobs = sa.table(
        "jobs", sa.column("id"), sa.column("number"), sa.column("retry_of"), sa.column("tainted", sa.Boolean())
    )
    keys = connection.execute(sa.select(journal.c.key).where(journal.c.key.startswith(MARK, autoescape=True)))
    tainted = {key.removeprefix(MARK) for (key,) in keys}
    for name, former in connection.execute(sa.select(jobs.c.id, jobs.c.retry_of).order_by(jobs.c.number)).all():
        if former in tainted:
            tainted.add(name)
        if name in tainted:
            connection.execute(sa.update(jobs).where(jobs.c.id == name).values(tainted=True))
