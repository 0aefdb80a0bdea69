"""What a page is asked for again by, and which crawls found it unchanged."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

TRIGGERS = """
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON sightings
    FOR EACH ROW EXECUTE FUNCTION licet_append_only();
CREATE TRIGGER never_truncated BEFORE TRUNCATE ON sightings
    FOR EACH STATEMENT EXECUTE FUNCTION licet_append_only();
"""


def upgrade() -> None:
    op.add_column("pages", sa.Column("fingerprint", sa.Text(), server_default=sa.text("''"), nullable=False))
    op.add_column("pages", sa.Column("links", postgresql.ARRAY(sa.Text()), nullable=True))
    op.create_table(
        "sightings",
        sa.Column("crawl", sa.Uuid(), nullable=False),
        sa.Column("page_id", sa.String(length=64), nullable=False),
        sa.Column("site", sa.Text(), nullable=False),
        sa.Column("url_id", sa.String(length=64), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("inserted_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("crawl", "page_id", name=op.f("pk_sightings")),
    )
    op.create_index(op.f("ix_sightings_page_id"), "sightings", ["page_id"])
    op.create_index(op.f("ix_sightings_site"), "sightings", ["site"])
    op.execute(TRIGGERS)


def downgrade() -> None:
    op.drop_table("sightings")
    op.drop_column("pages", "links")
    op.drop_column("pages", "fingerprint")
