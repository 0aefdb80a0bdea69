"""The first tables: sites, settings, audit rows, content and the erasure ledger."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

TABLES = [
    "pairs",
    "verifications",
    "urls",
    "suspensions",
    "sites",
    "settings",
    "pages",
    "fetches",
    "events",
    "erasures",
    "digests",
    "crawls",
    "address_checks",
]


def upgrade() -> None:
    op.create_table(
        "address_checks",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("job", sa.Uuid(), nullable=False),
        sa.Column("site", sa.Text(), nullable=False),
        sa.Column("account", sa.Text(), nullable=False),
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("answers", sa.Boolean(), nullable=False),
        sa.Column("status", sa.SmallInteger(), nullable=True),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("redirects_to", sa.Text(), nullable=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("inserted_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_address_checks")),
    )
    op.create_index(op.f("ix_address_checks_job"), "address_checks", ["job"])
    op.create_index(op.f("ix_address_checks_site_account_at"), "address_checks", ["site", "account", "at"])
    op.create_table(
        "crawls",
        sa.Column("crawl", sa.Uuid(), nullable=False),
        sa.Column("site", sa.Text(), nullable=False),
        sa.Column("decided_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("requested_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("requested_by", sa.Text(), nullable=True),
        sa.Column("requester", sa.Text(), nullable=True),
        sa.Column("account", sa.Text(), nullable=True),
        sa.Column("host", sa.Text(), nullable=True),
        sa.Column("accepted", sa.Boolean(), nullable=True),
        sa.Column("refusal", sa.Text(), nullable=True),
        sa.Column("verified", sa.Boolean(), nullable=True),
        sa.Column("proof", sa.Text(), nullable=True),
        sa.Column("verified_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("bot", sa.Text(), nullable=True),
        sa.Column("robots_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("robots", sa.Text(), nullable=True),
        sa.Column("robots_reason", sa.Text(), nullable=True),
        sa.Column("robots_sha256", sa.Text(), nullable=True),
        sa.Column("crawl_delay", sa.Double(), nullable=True),
        sa.Column("sitemaps", sa.Integer(), nullable=True),
        sa.Column("terminal_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("terminal_kind", sa.Text(), nullable=True),
        sa.Column("terminal_reason", sa.Text(), nullable=True),
        sa.Column("pages", sa.Integer(), nullable=True),
        sa.Column("pairs", sa.Integer(), nullable=True),
        sa.Column("requests", postgresql.JSONB(astext_type=sa.Text()), nullable=True),
        sa.Column("outcomes", postgresql.JSONB(astext_type=sa.Text()), nullable=True),
        sa.Column("left_over", sa.Integer(), nullable=True),
        sa.Column("inserted_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("crawl", name=op.f("pk_crawls")),
    )
    op.create_index(op.f("ix_crawls_site_requested_at"), "crawls", ["site", "requested_at"])
    op.create_table(
        "digests",
        sa.Column("crawl", sa.Uuid(), nullable=False),
        sa.Column("url_id", sa.String(length=64), nullable=False),
        sa.Column("site", sa.Text(), nullable=False),
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("characters", sa.Integer(), nullable=False),
        sa.Column("pairs", sa.Integer(), nullable=False),
        sa.Column("noindex", sa.Boolean(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("inserted_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("crawl", "url_id", name=op.f("pk_digests")),
    )
    op.create_index(op.f("ix_digests_site"), "digests", ["site"])
    op.create_table(
        "erasures",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("site", sa.Text(), nullable=False),
        sa.Column("erased_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("ticket", sa.Text(), server_default=sa.text("''"), nullable=False),
        sa.Column("inserted_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_erasures")),
    )
    op.create_index(op.f("ix_erasures_site_erased_at"), "erasures", ["site", "erased_at"])
    op.create_table(
        "events",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("site", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("inserted_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_events")),
    )
    op.create_index(op.f("ix_events_site_at"), "events", ["site", "at"])
    op.create_table(
        "fetches",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("job", sa.Uuid(), nullable=False),
        sa.Column("site", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("method", sa.Text(), nullable=False),
        sa.Column("url_id", sa.String(length=64), nullable=False),
        sa.Column("attempt", sa.SmallInteger(), nullable=False),
        sa.Column("sent", sa.Boolean(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("final", sa.Boolean(), nullable=False),
        sa.Column("status", sa.SmallInteger(), nullable=True),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("wire_bytes", sa.BigInteger(), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("worker", sa.Text(), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.Column("inserted_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_fetches")),
    )
    op.create_index(op.f("ix_fetches_job_number"), "fetches", ["job", "number"])
    op.create_index(op.f("ix_fetches_site_started_at"), "fetches", ["site", "started_at"])
    op.create_index(op.f("ix_fetches_url_id"), "fetches", ["url_id"])
    op.create_table(
        "pages",
        sa.Column("page_id", sa.String(length=64), nullable=False),
        sa.Column("crawl", sa.Uuid(), nullable=False),
        sa.Column("site", sa.Text(), nullable=False),
        sa.Column("url_id", sa.String(length=64), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("language", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("text_cut", sa.Boolean(), nullable=False),
        sa.Column("facts", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("frame", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("menu", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("signals", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("noindex", sa.Boolean(), nullable=False),
        sa.Column("etag", sa.Text(), nullable=True),
        sa.Column("last_modified", sa.Text(), nullable=True),
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("encoding", sa.Text(), nullable=False),
        sa.Column("fetched_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("inserted_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("page_id", name=op.f("pk_pages")),
    )
    op.create_index(op.f("ix_pages_crawl"), "pages", ["crawl"])
    op.create_index(op.f("ix_pages_site_fetched_at"), "pages", ["site", "fetched_at"])
    op.create_table(
        "settings",
        sa.Column("account", sa.Text(), nullable=False),
        sa.Column("site", sa.Text(), nullable=False),
        sa.Column("fact", sa.Text(), nullable=False),
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("start", sa.Text(), nullable=False),
        sa.Column("note", sa.Text(), nullable=True),
        sa.Column("scope", postgresql.ARRAY(sa.Text()), nullable=True),
        sa.Column("schedule", sa.Boolean(), nullable=False),
        sa.Column("refused", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("saved_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("inserted_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("account", "site", name=op.f("pk_settings")),
    )
    op.create_index(op.f("ix_settings_site"), "settings", ["site"])
    op.create_table(
        "sites",
        sa.Column("site", sa.Text(), nullable=False),
        sa.Column("first_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("inserted_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("site", name=op.f("pk_sites")),
    )
    op.create_table(
        "suspensions",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("site", sa.Text(), nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("inserted_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint("kind IN ('suspended', 'resumed')", name=op.f("ck_suspensions_kind")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_suspensions")),
    )
    op.create_index(op.f("ix_suspensions_site_at"), "suspensions", ["site", "at"])
    op.create_table(
        "urls",
        sa.Column("url_id", sa.String(length=64), nullable=False),
        sa.Column("site", sa.Text(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("named_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("inserted_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("url_id", name=op.f("pk_urls")),
    )
    op.create_index(op.f("ix_urls_site"), "urls", ["site"])
    op.create_table(
        "verifications",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("site", sa.Text(), nullable=False),
        sa.Column("account", sa.Text(), nullable=False),
        sa.Column("host", sa.Text(), nullable=True),
        sa.Column("job", sa.Uuid(), nullable=True),
        sa.Column("method", sa.Text(), nullable=True),
        sa.Column("weaker", sa.Boolean(), nullable=True),
        sa.Column("by", sa.Text(), nullable=True),
        sa.Column("kept_at", sa.Text(), nullable=True),
        sa.Column("result", sa.Text(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("inserted_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint(
            "kind <> 'verified' OR method <> 'attestation' OR"
            " (coalesce(by, '') <> '' AND coalesce(kept_at, '') <> '')",
            name=op.f("ck_verifications_attested"),
        ),
        sa.CheckConstraint("kind IN ('verified', 'failed', 'withdrawn')", name=op.f("ck_verifications_kind")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_verifications")),
    )
    op.create_index(op.f("ix_verifications_job"), "verifications", ["job"])
    op.create_index(op.f("ix_verifications_site_account_at"), "verifications", ["site", "account", "at"])
    op.create_table(
        "pairs",
        sa.Column("page_id", sa.String(length=64), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("pair_id", sa.Text(), nullable=False),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("answer", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("inserted_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(["page_id"], ["pages.page_id"], name=op.f("fk_pairs_page_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("page_id", "position", name=op.f("pk_pairs")),
    )


def downgrade() -> None:
    for name in TABLES:
        op.drop_table(name)
