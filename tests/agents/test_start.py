"""What a role imports: a worker that was killed is asking again within five seconds, and imports were half of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
NOT_A_WORKERS = {
    "sqlalchemy", "alembic", "psycopg2", "mako", "click", "selectolax", "commands", "migrations", "stack.supervisor", "stack.restore", "app",
    "crawler.reading.page", "crawler.reading.marks", "crawler.reading.weights", "agents.sink", "agents.storing",
    "models.tables", "pytest",
}  # fmt: skip
NOT_A_SINKS = {"click", "commands", "selectolax", "agents.worker", "agents.pump", "agents.metrics", "crawler.fetch"}
STARTED = """
import json, sys
from agents import run, start
from models.settings import load
def seen(make, health, settings):
    make()
    print(json.dumps(sorted(sys.modules)))
    return 0
run.run_service = seen
sys.exit(start.main(sys.argv[1]))
"""


def environment(folder: Path) -> dict[str, str]:
    (folder / "key").write_bytes(b"k" * 40)
    (folder / "key").chmod(0o600)
    return {
        "PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "LICET_KAFKA": "127.0.0.1:1", "LICET_DATA": str(folder),
        "LICET_TOKEN_KEY_FILE": str(folder / "key"), "LICET_DATABASE_URL": "postgresql://x:y@127.0.0.1:1/z",
    }  # fmt: skip


@pytest.mark.parametrize(("role", "unwanted"), [("worker", NOT_A_WORKERS), ("sink", NOT_A_SINKS)])
def test_A03_a_role_imports_what_it_needs_and_no_more(role: str, unwanted: set[str], tmp_path: Path) -> None:
    """By name and not by time: the whole service is built, and what is loaded by then is looked at."""
    done = subprocess.run(
        [sys.executable, "-c", STARTED, role],
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    loaded = set(json.loads(done.stdout.splitlines()[-1]))
    assert f"agents.{role}" in loaded
    assert loaded & unwanted == set()


def test_a_mistake_in_the_configuration_is_a_sentence_and_no_traceback(tmp_path: Path) -> None:
    env = environment(tmp_path) | {"LICET_SESSION_TIMEOUT": "soon"}
    done = subprocess.run(
        [sys.executable, "-m", "agents.start", "worker"],
        env=env,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("Error: Configuration: ")
    assert "Traceback" not in done.stderr


def test_A03_a_spare_has_imported_everything_and_begins_when_it_is_told(tmp_path: Path) -> None:
    env = environment(tmp_path) | {"LICET_SPARE": "1"}
    told = json.dumps({"LICET_WORKER_LIFE": "told", "LICET_SESSION_TIMEOUT": "soon"}) + "\n"
    done = subprocess.run(
        [sys.executable, "-m", "agents.start", "worker"],
        env=env, input=told, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "LICET_SESSION_TIMEOUT = 'soon'" in done.stderr  # so it has read its settings after it was told


def test_A03_a_spare_whose_supervisor_has_gone_ends(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "agents.start", "worker"],
        env=environment(tmp_path) | {"LICET_SPARE": "1"}, input="", capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
