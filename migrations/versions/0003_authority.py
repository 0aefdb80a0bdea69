"""Authority complete: lists and blocks, confirmations, stop requests, pauses, listings, what a plan allows."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

CRAWLS = {
    "kind": sa.Text(),
    "plan": sa.Text(),
    "page_limit": sa.Integer(),
    "confirmed_by": sa.Text(),
    "confirmed_at": sa.DateTime(timezone=True),
}
VERIFICATIONS = ("cause", "path", "token")
APPEND_ONLY = ("confirmations",)
NEW = ("confirmations", "listings", "pauses", "stop_requests")
STAFF = "kind IN ('suspended', 'resumed', 'blocked', 'unblocked', 'listed', 'unlisted')"
FOUND = "kind IN ('verified', 'failed', 'withdrawn', 'rechecked')"

TRIGGERS = """
CREATE FUNCTION licet_decision_written_once() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.decided_at IS NOT NULL AND
        (NEW.kind, NEW.plan, NEW.page_limit, NEW.confirmed_by, NEW.confirmed_at) IS DISTINCT FROM
        (OLD.kind, OLD.plan, OLD.page_limit, OLD.confirmed_by, OLD.confirmed_at) THEN
        RAISE EXCEPTION 'crawl %: the decision stands', OLD.crawl;
    END IF;
    RETURN NEW;
END $$;

CREATE FUNCTION licet_stop_written_once() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (NEW.stop_request, NEW.site) IS DISTINCT FROM (OLD.stop_request, OLD.site)
        OR (OLD.recorded_at IS NOT NULL AND
            (NEW.recorded_at, NEW.recorded_by, NEW.received_at, NEW.due_at, NEW.from_whom, NEW.channel)
            IS DISTINCT FROM
            (OLD.recorded_at, OLD.recorded_by, OLD.received_at, OLD.due_at, OLD.from_whom, OLD.channel))
        OR (OLD.done_at IS NOT NULL AND (NEW.done_at, NEW.done_by) IS DISTINCT FROM (OLD.done_at, OLD.done_by))
        OR (OLD.confirmed_at IS NOT NULL AND
            (NEW.confirmed_at, NEW.confirmed_by) IS DISTINCT FROM (OLD.confirmed_at, OLD.confirmed_by)) THEN
        RAISE EXCEPTION 'stop request %: what is recorded stands', OLD.stop_request;
    END IF;
    RETURN NEW;
END $$;

CREATE FUNCTION licet_erase_listings() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM listings WHERE site = NEW.site AND listed_at <= NEW.erased_at;
    RETURN NULL;
END $$;

CREATE TRIGGER decision_written_once BEFORE UPDATE ON crawls
    FOR EACH ROW EXECUTE FUNCTION licet_decision_written_once();
CREATE TRIGGER written_once BEFORE UPDATE ON stop_requests FOR EACH ROW EXECUTE FUNCTION licet_stop_written_once();
CREATE TRIGGER never_deleted BEFORE DELETE ON stop_requests FOR EACH ROW EXECUTE FUNCTION licet_append_only();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON confirmations
    FOR EACH ROW EXECUTE FUNCTION licet_append_only();
CREATE TRIGGER never_truncated BEFORE TRUNCATE ON stop_requests
    FOR EACH STATEMENT EXECUTE FUNCTION licet_append_only();
CREATE TRIGGER never_truncated BEFORE TRUNCATE ON confirmations
    FOR EACH STATEMENT EXECUTE FUNCTION licet_append_only();
CREATE TRIGGER erase_listings AFTER INSERT ON erasures FOR EACH ROW EXECUTE FUNCTION licet_erase_listings();
"""


def _inserted() -> sa.Column:
    return sa.Column("inserted_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False)


def _text(name: str, *, nullable: bool = False) -> sa.Column:
    return sa.Column(name, sa.Text(), nullable=nullable)


def _time(name: str, *, nullable: bool = False) -> sa.Column:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=nullable)


def _kinds(table: str, condition: str) -> None:
    op.drop_constraint(op.f(f"ck_{table}_kind"), table, type_="check")
    op.create_check_constraint(op.f(f"ck_{table}_kind"), table, condition)


def upgrade() -> None:
    for name, kind in CRAWLS.items():
        op.add_column("crawls", sa.Column(name, kind, nullable=True))
    for name in VERIFICATIONS:
        op.add_column("verifications", _text(name, nullable=True))
    op.add_column("pages", sa.Column("pairs_only", sa.Boolean(), server_default=sa.text("false"), nullable=False))
    _kinds("verifications", FOUND)
    _kinds("suspensions", STAFF)
    op.create_table(
        "confirmations", _text("id"), _text("site"), _text("account"), _text("by"), _time("at"), _inserted(),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_confirmations")),
    )  # fmt: skip
    op.create_index(op.f("ix_confirmations_site_account_at"), "confirmations", ["site", "account", "at"])
    op.create_table(
        "stop_requests", _text("stop_request"), _text("site"), _time("recorded_at", nullable=True),
        _text("recorded_by", nullable=True), _time("received_at", nullable=True), _time("due_at", nullable=True),
        _text("from_whom", nullable=True), _text("channel", nullable=True), _time("done_at", nullable=True),
        _text("done_by", nullable=True), _time("confirmed_at", nullable=True), _text("confirmed_by", nullable=True),
        _inserted(), sa.PrimaryKeyConstraint("stop_request", name=op.f("pk_stop_requests")),
    )  # fmt: skip
    op.create_index(op.f("ix_stop_requests_site"), "stop_requests", ["site"])
    op.create_index(op.f("ix_stop_requests_due_at"), "stop_requests", ["due_at"])
    op.create_table(
        "pauses", _text("site"), _text("fact"), _time("until"), sa.Column("strikes", sa.Integer(), nullable=False),
        _time("paused_at"), _inserted(), sa.PrimaryKeyConstraint("site", name=op.f("pk_pauses")),
    )  # fmt: skip
    op.create_table(
        "listings", sa.Column("job", sa.Uuid(), nullable=False), _text("site"), _text("account"), _text("host"),
        _text("end"), _text("reason"), sa.Column("pages", postgresql.JSONB(), nullable=False),
        sa.Column("cut", sa.Boolean(), nullable=False), _time("listed_at"), _inserted(),
        sa.PrimaryKeyConstraint("job", name=op.f("pk_listings")),
    )  # fmt: skip
    op.create_index(op.f("ix_listings_site_listed_at"), "listings", ["site", "listed_at"])
    op.execute(TRIGGERS)


def downgrade() -> None:
    for trigger, table in (("erase_listings", "erasures"), ("decision_written_once", "crawls")):
        op.execute(f"DROP TRIGGER {trigger} ON {table}")
    for table in NEW:
        op.drop_table(table)
    for function in ("licet_decision_written_once", "licet_stop_written_once", "licet_erase_listings"):
        op.execute(f"DROP FUNCTION {function}()")
    _kinds("suspensions", "kind IN ('suspended', 'resumed')")
    _kinds("verifications", "kind IN ('verified', 'failed', 'withdrawn')")
    op.drop_column("pages", "pairs_only")
    for name in VERIFICATIONS:
        op.drop_column("verifications", name)
    for name in CRAWLS:
        op.drop_column("crawls", name)
