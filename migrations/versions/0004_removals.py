"""Pages above the standard limit are removed when a proof is certainly gone, and listed."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

TRIGGERS = """
CREATE FUNCTION licet_removal_written_once() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.terminal_kind IS NOT NULL AND NEW.remove_above IS DISTINCT FROM OLD.remove_above THEN
        RAISE EXCEPTION 'crawl %: it has ended as %', OLD.crawl, OLD.terminal_kind;
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER removal_written_once BEFORE UPDATE ON crawls
    FOR EACH ROW EXECUTE FUNCTION licet_removal_written_once();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON removals
    FOR EACH ROW EXECUTE FUNCTION licet_append_only();
CREATE TRIGGER never_truncated BEFORE TRUNCATE ON removals
    FOR EACH STATEMENT EXECUTE FUNCTION licet_append_only();
"""


def upgrade() -> None:
    op.add_column("crawls", sa.Column("remove_above", sa.Integer(), nullable=True))
    op.add_column("pages", sa.Column("rank", sa.Float(), server_default=sa.text("0"), nullable=False))
    op.create_table(
        "removals",
        sa.Column("crawl", sa.Uuid(), nullable=False),
        sa.Column("page_id", sa.String(length=64), nullable=False),
        sa.Column("site", sa.Text(), nullable=False),
        sa.Column("url_id", sa.String(length=64), nullable=False),
        sa.Column("rank", sa.Float(), nullable=False),
        sa.Column("inserted_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("crawl", "page_id", name=op.f("pk_removals")),
    )
    op.create_index(op.f("ix_removals_site"), "removals", ["site"])
    op.execute(TRIGGERS)


def downgrade() -> None:
    op.execute("DROP TRIGGER removal_written_once ON crawls")
    op.drop_table("removals")
    op.execute("DROP FUNCTION licet_removal_written_once()")
    op.drop_column("pages", "rank")
    op.drop_column("crawls", "remove_above")
