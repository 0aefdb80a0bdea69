"""The command line as a whole: what `--help` says and costs, and that every mistake is a sentence and a code."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from commands.line import COMMANDS, licet
from stack.net import free_port
from tests.sink.conftest import database_url, template

__all__ = ["database_url", "template"]

ROOT = Path(__file__).parent.parent.parent
HEAVY = {
    "sqlalchemy",
    "alembic",
    "faust",
    "mode",
    "aiokafka",
    "aiohttp",
    "selectolax",
    "psycopg2",
    "rich",
    "pydantic",
}


def imported_by(code: str) -> set[str]:
    """The top names of what a fresh interpreter has imported after `code`."""
    told = f"{code}\nimport sys, json\nprint('\\n' + json.dumps(sorted(sys.modules)))"
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    run = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, env=environ, check=True)
    return set(json.loads(run.stdout.splitlines()[-1]))


def test_help_imports_nothing_that_is_heavy() -> None:
    found = imported_by(
        "import app\nfrom commands.line import licet\n"
        "try: licet(['--help'])\nexcept SystemExit as end: assert end.code == 0"
    )
    assert not HEAVY & found
    assert {name for name in found if name.startswith("commands.")} == {"commands.line"}


def test_a_worker_carries_no_command_and_no_database() -> None:
    found = imported_by("import app, agents.worker")
    assert not [name for name in found if name.split(".")[0] in ("commands", "sqlalchemy", "alembic", "psycopg2")]


def every(command: click.Command, *path: str) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None
            yield from every(found, *path, name)


ALL = dict(every(licet))


@pytest.mark.parametrize("name", COMMANDS)
def test_the_line_in_the_help_is_the_command_s_own_first_sentence_and_whole(name: str) -> None:
    line, command = COMMANDS[name].line, ALL[(name,)]
    assert (command.help or "").split("\n\n")[0].strip() == line
    assert command.name == name
    shown = CliRunner().invoke(licet, ["--help"], terminal_width=80).stdout
    assert f"  {name:14}  {line}\n" in shown


@pytest.mark.parametrize("path", [path for path in ALL if path], ids=" ".join)
def test_no_help_is_cut_off(path: tuple[str, ...]) -> None:
    shown = CliRunner().invoke(licet, [*path, "--help"], terminal_width=80)
    assert shown.exit_code == 0
    assert not re.search(
        r"\.\.\.$", shown.stdout.replace("COMMAND [ARGS]...", "").replace("PATHS...", ""), re.MULTILINE
    )


def test_the_help_says_what_the_codes_and_the_names_of_promises_mean() -> None:
    shown = CliRunner().invoke(licet, ["--help"]).stdout
    assert "docs/promises.md" in shown
    assert all(f"{code} " in shown for code in (0, 1, 2, 3, 4, 130))


def test_every_command_and_its_exit_codes_stand_in_the_docs() -> None:
    page = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    for path, command in ALL.items():
        if path and not command.hidden and not (isinstance(command, click.Group) and path != ("attest",)):
            assert re.search(rf"\| `licet {' '.join(path)}[ `]", page), path


def test_attest_shows_the_options_of_attest_host_and_crawl_its_choices_and_default() -> None:
    shown = CliRunner().invoke(licet, ["attest", "--help"]).stdout
    assert all(option in shown for option in ("--account", "--by", "--kept-at", "import"))
    shown = CliRunner().invoke(licet, ["crawl", "--help"]).stdout
    assert "[trial|paid]" in shown
    assert "[default: 14700" in shown


# --- mistakes


def run(*arguments: str, **environ: str) -> Result:
    return CliRunner().invoke(
        licet, arguments, env={"LICET_DATA": "/nonexistent/here", **environ}, catch_exceptions=False
    )


def told(result: Result) -> str:
    """The one sentence: the last line of standard error."""
    assert result.exit_code == 2, result.output
    assert "Traceback" not in result.output
    assert not re.search(
        r"pydantic|Input should|Value error|ValidationError|KafkaError|psycopg2|\(Background", result.output
    )
    return result.stderr.strip().splitlines()[-1]


def wanted(path: tuple[str, ...], command: click.Command, address: str) -> list[str]:
    """A call with whatever the command insists on, and this address."""
    said: list[str] = []
    for param in command.params:
        if isinstance(param, click.Option) and param.required:
            said += [
                param.opts[0],
                {"--zone": "UTC", "--from": "2026-03-02", "--to": "2026-03-03"}.get(param.opts[0], "x"),
            ]
    head = [*path[:-1]] if path[-1] == "site" else [*path]
    return [*head, *said, "--", address] if path[0] != "attest" else [*head, address, *said]


SITES = {
    path: command
    for path, command in ALL.items()
    if any(isinstance(param, click.Argument) and param.name == "address" for param in command.params)
}


@pytest.mark.parametrize("address", ["127.0.0.1", "shop", "shop.local", "a b.example", "shop.example:8443"])
@pytest.mark.parametrize("path", SITES, ids=" ".join)
def test_E07_a_bad_address_is_one_sentence_for_every_command(path: tuple[str, ...], address: str) -> None:
    assert "is no address of a website" in told(run(*wanted(path, SITES[path], address)))


@pytest.mark.parametrize("path", SITES, ids=" ".join)
def test_without_a_database_every_command_names_the_folder_and_the_remedy(path: tuple[str, ...]) -> None:
    said = told(run(*wanted(path, SITES[path], "shop.example")))
    assert "/nonexistent/here" in said
    assert "licet up" in said


@pytest.mark.parametrize("path", SITES, ids=" ".join)
def test_a_broker_and_a_database_that_are_away_are_one_sentence(path: tuple[str, ...]) -> None:
    away = {
        "LICET_KAFKA": f"127.0.0.1:{free_port()}",
        "LICET_DATABASE_URL": f"postgresql://a:secret-word@127.0.0.1:{free_port()}/b",
    }
    said = told(run(*wanted(path, SITES[path], "shop.example"), **away))
    assert "secret-word" not in said
    assert "is it running" in said or "licet up" in said or "No token key" in said


@pytest.mark.parametrize("command", [("restore",), ("migrate",), ("stops",), ("stop-confirmed", "x", "--by", "a")])
def test_a_command_without_a_site_says_it_in_one_sentence_too(command: tuple[str, ...]) -> None:
    away = {
        "LICET_KAFKA": f"127.0.0.1:{free_port()}",
        "LICET_DATABASE_URL": f"postgresql://a:secret-word@127.0.0.1:{free_port()}/b",
    }
    said = told(run(*command, **away))
    assert "is it running" in said
    assert "secret-word" not in said


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        ("LICET_METRICS_PORT", "99999", "allowed is at most 65535"),
        ("LICET_METRICS_PORT", "many", "allowed is a whole number"),
        ("LICET_SESSION_TIMEOUT", "1", "allowed is at least 6"),
        ("LICET_SESSION_TIMEOUT", "nan", "allowed is"),
        ("LICET_BOT", "google", "allowed is 'ema', 'wembi' or 'certant'"),
        ("LICET_DNS_RESOLVERS", "https://one.example/dns-query", "2 of them or more"),
        ("LICET_HOLIDAYS", "christmas", "a day such as"),
        ("LICET_WORKER_NAME", "a b", "letters, digits"),
        ("LICET_KAFKA", "nowhere", "host:port"),
        ("LICET_DATABASE_URL", "mysql://x", "postgresql://"),
        ("LICET_NO_SUCH", "1", "unknown key"),
        ("LICET_BOT__BUDGET__PAGES", "70", "at most 60"),
        ("LICET_BOT__BUDGET__PAGES", "many", "allowed is a whole number"),
        ("LICET_BOT__BUDGET__PAGES", "[", "as YAML writes it"),
        ("LICET_CONFIG", "/nonexistent.yaml", "cannot be read"),
    ],
)
def test_a_wrong_setting_names_value_and_what_is_allowed_in_our_own_words(
    variable: str, value: str, said: str
) -> None:
    where = {"LICET_KAFKA": "127.0.0.1:9", "LICET_DATABASE_URL": "postgresql://a@127.0.0.1:9/b"}
    found = told(run("save", "shop.example", "--account", "a", **{**where, variable: value}))
    assert said in found
    assert variable.removeprefix("LICET_").split("__")[-1].lower() in found.lower() or variable == "LICET_CONFIG"


LONG = "x" * 600


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("suspend", "shop.example", "--by", "", "--reason", "x"), "--by is ''"),
        (("suspend", "shop.example", "--by", "ann", "--reason", LONG), "200 characters or less"),
        (("save", "shop.example", "--account", " "), "--account is ' '"),
        (("save", "shop.example", "--account", "a", "--note", LONG), "--note is"),
        (("save", "shop.example", "--account", "a", "--page", ""), "--page is"),
        (("attest", "shop.example", "--account", "a", "--by", "b", "--kept-at", ""), "--kept-at is ''"),
        (("stop", "shop.example", "--by", "a", "--from", ""), "--from is ''"),
        (("erase", "shop.example", "--by", "a", "--reason", "b", "--ticket", LONG), "--ticket is"),
        (("confirm", "shop.example", "--account", "a", "--by", ""), "--by is ''"),
        (("crawl", "shop.example", "--account", LONG), "--account is"),
        (("listing", "shop.example", "--account", ""), "--account is"),
        (("save", "facebook.com/shop", "--account", "a"), "Many people have pages"),
    ],
)
def test_what_intake_would_set_aside_is_a_sentence_and_nothing_is_waited_for(
    tmp_path: Path, database_url: str, arguments: tuple[str, ...], said: str
) -> None:
    """Nobody listens where the broker should be: had it been said, the sentence would be another."""
    key = tmp_path / "key"
    key.write_bytes(b"k" * 32)
    key.chmod(0o600)
    where = {"LICET_KAFKA": f"127.0.0.1:{free_port()}", "LICET_DATABASE_URL": database_url}
    assert said in told(run(*arguments, **where, LICET_TOKEN_KEY_FILE=str(key)))


@pytest.mark.parametrize("command", ["worker", "sink"])
def test_a_port_that_is_taken_is_a_sentence(tmp_path: Path, command: str) -> None:
    key = tmp_path / "key"
    key.write_bytes(b"k" * 32)
    key.chmod(0o600)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        environ = {
            **os.environ, "PYTHONPATH": str(ROOT), "LICET_KAFKA": "127.0.0.1:9", "LICET_TOKEN_KEY_FILE": str(key),
            "LICET_DATABASE_URL": "postgresql://a@127.0.0.1:9/b", "LICET_METRICS_PORT": str(taken.getsockname()[1]),
        }  # fmt: skip
        ended = subprocess.run(
            [sys.executable, "-m", "app", command], env=environ, capture_output=True, text=True, check=False
        )
    assert ended.returncode == 2
    assert "Traceback" not in ended.stderr
    assert "LICET_METRICS_PORT" in ended.stderr.splitlines()[-1]


@pytest.mark.parametrize("arguments", [("attest", "import"), ("read",), ("--config",)], ids=" ".join)
def test_a_pipe_is_no_file_and_is_not_waited_for(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    os.mkfifo(tmp_path / "pipe")
    more = ("stops",) if arguments == ("--config",) else ()
    assert "no file" in told(run(*arguments, str(tmp_path / "pipe"), *more)).replace("neither a file", "no file")


@pytest.mark.parametrize("ended", [("resume", "suspended"), ("unblock", "blocked"), ("unlist", "listed")])
def test_E25_W01_W13_what_does_not_hold_cannot_be_ended(database_url: str, ended: tuple[str, str]) -> None:
    where = {"LICET_KAFKA": f"127.0.0.1:{free_port()}", "LICET_DATABASE_URL": database_url}
    result = run(ended[0], "shop.example", "--by", "a", "--reason", "b", **where)
    assert (result.exit_code, result.stdout) == (1, "")
    assert f"shop.example is not {ended[1]}" in result.stderr


def test_topics_check_of_a_dead_broker_is_no_drift_and_no_library_s_text() -> None:
    for command in ("check", "apply"):
        said = told(run("topics", command, "--kafka", f"127.0.0.1:{free_port()}"))
        assert "No broker answers at 127.0.0.1:" in said
        assert "Unable to bootstrap" not in said


def test_kafka_without_java_says_so_before_it_announces_anything(tmp_path: Path) -> None:
    result = run("kafka", "--data", str(tmp_path), PATH="/nonexistent", JAVA_HOME="")
    assert "Java" in told(result)
    assert "starting" not in result.output
    assert not list(tmp_path.iterdir())


def test_up_on_a_folder_that_cannot_be_names_it_and_the_remedy() -> None:
    said = told(run("up", "--data", "/proc/foo"))
    assert "/proc/foo" in said
    assert "--data" in said


@pytest.mark.parametrize(
    ("received", "said"),
    [
        ("2026-03-02T09:30", "has no zone"),
        ("2999-03-02T09:30+01:00", "still to come"),
        ("yesterday", "is no time such as"),
    ],
)
def test_E25_each_fault_of_a_time_has_its_own_sentence(received: str, said: str) -> None:
    assert said in told(run("stop", "shop.example", "--by", "a", "--from", "b", "--received", received))
