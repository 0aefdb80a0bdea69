"""The embedded broker and database: they start, hold, stop, and keep what they should."""

from __future__ import annotations

import os
from pathlib import Path

import psutil
import psycopg2
import pytest

from stack.errors import StackError
from stack.kept import kept_rows
from stack.net import RANGE, free_port, is_free
from stack.postgres import Postgres
from stack.tansu import Tansu
from stack.topics_admin import admin

pytestmark = pytest.mark.stack


def test_ports_are_outside_the_range_of_outgoing_connections() -> None:
    first_outgoing = 32768
    assert max(RANGE) < first_outgoing
    assert is_free(free_port())


async def test_tansu_is_usable_and_empty_at_each_start(tmp_path: Path) -> None:
    for _ in range(2):
        async with Tansu(tmp_path) as broker, admin(broker.bootstrap) as client:
            assert await client.describe_topics() == []
        assert not broker.alive


async def test_tansu_says_when_its_port_is_taken(tmp_path: Path) -> None:
    async with Tansu(tmp_path) as first:
        other = Tansu(tmp_path, first.port)
        with pytest.raises(StackError):
            await other.start()
        assert not other.alive


async def test_postgres_keeps_its_data_and_its_password_over_a_restart(tmp_path: Path) -> None:
    async with Postgres(tmp_path) as first:
        with first.connect().cursor() as cursor:
            cursor.execute("CREATE TABLE t (a int); INSERT INTO t VALUES (1), (2)")
        assert await kept_rows(first.url()) == "t 2"
    assert "database system is shut down" in (tmp_path / "database.log").read_text()
    async with Postgres(tmp_path) as second:
        assert await kept_rows(second.url()) == "t 2"
        assert (tmp_path / "postgres.password").stat().st_mode & 0o777 == 0o600


async def test_postgres_survives_kill_9(tmp_path: Path) -> None:
    async with Postgres(tmp_path) as server:
        with server.connect().cursor() as cursor:
            cursor.execute("CREATE TABLE t (a int); INSERT INTO t VALUES (1)")
        assert server.process is not None
        await server.process.kill()
        await server.start()
        assert await kept_rows(server.url()) == "t 1"


def test_postgres_listens_on_loopback_alone_and_asks_for_the_password(postgres: Postgres) -> None:
    assert postgres.process is not None
    found = psutil.Process(postgres.process.pid).net_connections("inet")
    assert {c.laddr.ip for c in found if c.status == psutil.CONN_LISTEN} == {"127.0.0.1"}
    with pytest.raises(psycopg2.OperationalError, match="password authentication failed"):
        psycopg2.connect(host="127.0.0.1", port=postgres.port, user="licet", password="wrong", dbname="licet")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has to become somebody else")
async def test_postgres_runs_as_nobody_below_a_closed_folder_and_opens_no_folder(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    async with Postgres(closed / "data", durable=False) as server:
        assert server.process is not None
        assert psutil.Process(server.process.pid).username() == "nobody"
    assert closed.stat().st_mode & 0o777 == 0o700


async def test_postgres_that_cannot_start_says_why(tmp_path: Path) -> None:
    async with Postgres(tmp_path, durable=False):
        pass
    (tmp_path / "postgres" / "postgresql.conf").write_text("nonsense = 1\n")
    with pytest.raises(StackError, match="nonsense"):
        await Postgres(tmp_path).start()


def test_each_database_is_made_once(postgres: Postgres, database: str) -> None:
    assert postgres.create_database("once") == postgres.create_database("once")
    assert database.rpartition("/")[2].startswith("test_")
    with pytest.raises(StackError):
        postgres.create_database("no; DROP")
