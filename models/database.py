"""Connections to PostgreSQL: one place for the driver's settings, which every process shares."""

from __future__ import annotations

from sqlalchemy import Engine, create_engine

CONNECT_TIMEOUT = 3
"""Seconds; a stop must not wait for an unreachable database (F35)."""
STATEMENT_TIMEOUT = 8_000
"""Milliseconds; above the slow database of F22 (2 s a statement), below the 10 s that a stop may take."""
LOCK_TIMEOUT = 5_000
"""Milliseconds; a held lock is not a slow statement (F22)."""


def make_engine(url: str, name: str, *, read_only: bool = False) -> Engine:
    """An engine of one connection that is checked before use. `name` is what pg_stat_activity shows."""
    options = f"-c statement_timeout={STATEMENT_TIMEOUT} -c lock_timeout={LOCK_TIMEOUT}"
    options += " -c idle_in_transaction_session_timeout=60000"
    if read_only:
        options += " -c default_transaction_read_only=on"
    arguments = {
        "connect_timeout": CONNECT_TIMEOUT,
        "application_name": name,
        "options": options,
        # a peer that vanished without a word is noticed in about 10 s, not after the kernel's two hours
        "keepalives_idle": 5,
        "keepalives_interval": 2,
        "keepalives_count": 3,
    }
    return create_engine(
        url, pool_size=1, max_overflow=1, pool_pre_ping=True, hide_parameters=True, connect_args=arguments
    )
