"""What the database itself refuses, whoever asks: a changed audit row, and erased content that comes back."""

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

APPEND_ONLY = ("verifications", "fetches", "digests", "address_checks", "suspensions", "events", "erasures")

FUNCTIONS = """
CREATE FUNCTION licet_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only: % refused', TG_TABLE_NAME, TG_OP;
END $$;

CREATE FUNCTION licet_crawl_written_once() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (NEW.crawl, NEW.site) IS DISTINCT FROM (OLD.crawl, OLD.site) THEN
        RAISE EXCEPTION 'crawl %: its identity never changes', OLD.crawl;
    END IF;
    IF OLD.decided_at IS NOT NULL AND
        (NEW.decided_at, NEW.requested_at, NEW.requested_by, NEW.requester, NEW.account, NEW.host, NEW.accepted,
         NEW.refusal, NEW.verified, NEW.proof, NEW.verified_at, NEW.bot) IS DISTINCT FROM
        (OLD.decided_at, OLD.requested_at, OLD.requested_by, OLD.requester, OLD.account, OLD.host, OLD.accepted,
         OLD.refusal, OLD.verified, OLD.proof, OLD.verified_at, OLD.bot) THEN
        RAISE EXCEPTION 'crawl %: the decision stands', OLD.crawl;
    END IF;
    IF OLD.robots_at IS NOT NULL AND
        (NEW.robots_at, NEW.robots, NEW.robots_reason, NEW.robots_sha256, NEW.crawl_delay, NEW.sitemaps)
        IS DISTINCT FROM
        (OLD.robots_at, OLD.robots, OLD.robots_reason, OLD.robots_sha256, OLD.crawl_delay, OLD.sitemaps) THEN
        RAISE EXCEPTION 'crawl %: its robots.txt stands', OLD.crawl;
    END IF;
    IF OLD.terminal_kind IS NOT NULL AND
        (NEW.terminal_at, NEW.terminal_kind, NEW.terminal_reason, NEW.pages, NEW.pairs, NEW.requests,
         NEW.outcomes, NEW.left_over) IS DISTINCT FROM
        (OLD.terminal_at, OLD.terminal_kind, OLD.terminal_reason, OLD.pages, OLD.pairs, OLD.requests,
         OLD.outcomes, OLD.left_over) THEN
        RAISE EXCEPTION 'crawl %: it has ended as %', OLD.crawl, OLD.terminal_kind;
    END IF;
    RETURN NEW;
END $$;

-- A sink holds the lock shared from reading the ledger to its commit, so an erasure sees all of its rows.
CREATE FUNCTION licet_erasure_lock() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(1279869765);
    RETURN NEW;
END $$;

CREATE FUNCTION licet_erase() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM pages WHERE site = NEW.site AND fetched_at <= NEW.erased_at;
    DELETE FROM urls WHERE site = NEW.site AND named_at <= NEW.erased_at;
    RETURN NULL;
END $$;

CREATE TRIGGER written_once BEFORE UPDATE ON crawls FOR EACH ROW EXECUTE FUNCTION licet_crawl_written_once();
CREATE TRIGGER never_deleted BEFORE DELETE ON crawls FOR EACH ROW EXECUTE FUNCTION licet_append_only();
CREATE TRIGGER erasure_lock BEFORE INSERT ON erasures FOR EACH ROW EXECUTE FUNCTION licet_erasure_lock();
CREATE TRIGGER erase AFTER INSERT ON erasures FOR EACH ROW EXECUTE FUNCTION licet_erase();
"""


def upgrade() -> None:
    op.execute(FUNCTIONS)
    for table in APPEND_ONLY:
        op.execute(
            f"CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON {table}"
            " FOR EACH ROW EXECUTE FUNCTION licet_append_only()"
        )
    for table in (*APPEND_ONLY, "crawls"):
        op.execute(
            f"CREATE TRIGGER never_truncated BEFORE TRUNCATE ON {table}"
            " FOR EACH STATEMENT EXECUTE FUNCTION licet_append_only()"
        )


def downgrade() -> None:
    for table in (*APPEND_ONLY, "crawls"):
        op.execute(f"DROP TRIGGER never_truncated ON {table}")
    for table in APPEND_ONLY:
        op.execute(f"DROP TRIGGER append_only ON {table}")
    for trigger, table in (
        ("written_once", "crawls"),
        ("never_deleted", "crawls"),
        ("erasure_lock", "erasures"),
        ("erase", "erasures"),
    ):
        op.execute(f"DROP TRIGGER {trigger} ON {table}")
    for function in (
        "licet_append_only",
        "licet_crawl_written_once",
        "licet_erasure_lock",
        "licet_erase",
    ):
        op.execute(f"DROP FUNCTION {function}()")
