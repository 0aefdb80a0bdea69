"""The configuration: sources in their order, and one clear sentence for every mistake."""

from __future__ import annotations

import fcntl
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.settings import Settings, SettingsError, load
from models.stack_file import StackFile

DOCS = Path(__file__).resolve().parents[2] / "docs" / "configuration.md"
STACK = StackFile(
    kafka="127.0.0.1:1",
    broker_kind="tansu",
    database_url="postgresql://licet:secret@127.0.0.1:2/licet",
    token_key_file="",
    bot="ema",
)


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def sentence(environ: dict[str, str], config: Path | None = None) -> str:
    with pytest.raises(SettingsError) as caught:
        load(config, environ)
    text = str(caught.value)
    assert "\n" not in text
    assert text.endswith(".")
    return text


def test_defaults_are_the_ema_bot_on_loopback() -> None:
    found = load(environ={})
    assert (found.bot, found.metrics_host, found.kafka, found.embedded) == ("ema", "127.0.0.1", None, False)


def test_environment_wins_over_the_file_and_the_command_line_over_both(tmp_path: Path) -> None:
    (tmp_path / "licet.yaml").write_text("bot: wembi\nkafka: [file:1]\nlog_level: ERROR\n")
    found = load(environ={"LICET_KAFKA": "a:1, b:2", "LICET_LOG_LEVEL": "DEBUG"}, log_level="WARNING", bot=None)
    assert (found.bot, found.kafka, found.log_level) == ("wembi", ("a:1", "b:2"), "WARNING")
    assert found.require_kafka() == "a:1,b:2"


@pytest.mark.parametrize(
    ("environ", "parts"),
    [
        ({"LICET_BOT": "zoe"}, ["environment", "LICET_BOT", "'zoe'", "'ema', 'wembi' or 'certant'"]),
        ({"LICET_KAFKA": "broker"}, ["LICET_KAFKA", "'broker'", "host:port"]),
        ({"LICET_KAFKA": "a:1,b:70000"}, ["LICET_KAFKA", "host:port"]),
        ({"LICET_KAFAK": "a:1"}, ["environment", "unknown key LICET_KAFAK", "kafka"]),
        ({"LICET_METRICS_PORT": "0"}, ["LICET_METRICS_PORT", "'0'", "allowed is at least 1."]),
        ({"LICET_SESSION_TIMEOUT": "nan"}, ["LICET_SESSION_TIMEOUT", "'nan'"]),
        ({"LICET_SESSION_TIMEOUT": "6"}, ["heartbeat_interval (3)", "third of session_timeout (6)"]),
        ({"LICET_WORKER_NAME": "a b"}, ["LICET_WORKER_NAME", "'a b'"]),
        ({"LICET_CONFIG": "nowhere.yaml"}, ["nowhere.yaml", "cannot be read"]),
    ],
)
def test_a_mistake_in_the_environment_is_one_sentence(environ: dict[str, str], parts: list[str]) -> None:
    text = sentence(environ)
    assert all(part in text for part in parts), text


@pytest.mark.parametrize(
    ("body", "parts"),
    [
        ("brokers: a:1\n", ["licet.yaml", "unknown key brokers"]),
        ("log_level: loud\n", ["licet.yaml", "log_level", "'loud'", "'DEBUG'"]),
        ("- a\n", ["licet.yaml", "key: value"]),
        ("kafka: [a:1\n", ["licet.yaml", "not YAML"]),
        ("kafka: []\n", ["licet.yaml", "kafka"]),
    ],
)
def test_a_mistake_in_the_file_is_one_sentence(tmp_path: Path, body: str, parts: list[str]) -> None:
    (tmp_path / "licet.yaml").write_text(body)
    text = sentence({})
    assert all(part in text for part in parts), text


def test_database_url_is_never_shown() -> None:
    assert "hunter2" not in sentence({"LICET_DATABASE_URL": "mysql://u:hunter2@h/d"})
    found = load(environ={"LICET_DATABASE_URL": "postgres://u:hunter2@h/d"})
    assert "hunter2" not in repr(found)
    assert found.require_database() == "postgresql+psycopg2://u:hunter2@h/d"


def test_token_key_file_that_others_can_read_is_refused(tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_bytes(b"k" * 32)
    key.chmod(0o644)
    assert "chmod 600" in sentence({"LICET_TOKEN_KEY_FILE": str(key)})
    key.chmod(0o600)
    assert load(environ={"LICET_TOKEN_KEY_FILE": str(key)}).token_key() == b"k" * 32
    key.write_bytes(b"short")
    assert "32 bytes" in sentence({"LICET_TOKEN_KEY_FILE": str(key)})


def test_missing_things_say_what_to_do() -> None:
    found = load(environ={})
    for ask in (found.require_kafka, found.require_database, found.token_key):
        with pytest.raises(SettingsError, match="LICET_"):
            ask()


def test_a_running_stack_is_found_and_a_dead_one_is_not(tmp_path: Path) -> None:
    STACK.write(tmp_path)
    assert (tmp_path / "stack.json").stat().st_mode & 0o777 == 0o600
    (tmp_path / "lock").touch()
    environ = {"LICET_DATA": str(tmp_path)}
    assert load(environ=environ).kafka is None
    with (tmp_path / "lock").open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        found = load(environ=environ)
        assert (found.kafka, found.embedded) == (("127.0.0.1:1",), True)
        assert found.require_database().startswith("postgresql+psycopg2://licet:secret@")
        mixed = load(environ={**environ, "LICET_KAFKA": "real:9092"})
        assert mixed.database_url is None  # a try-out database is never paired with a real broker


def test_no_key_opens_loopback_or_widens_a_ceiling() -> None:
    loud = ("loopback", "allow", "insecure", "proxy", "ceiling", "max_", "pages", "pace", "agent", "verify")
    assert [key for key in Settings.model_fields if any(word in key for word in loud)] == []


def test_every_key_is_documented() -> None:
    text = DOCS.read_text(encoding="utf-8")
    for key, field in Settings.model_fields.items():
        assert f"| `{key}` | `LICET_{key.upper()}` |" in text, key
        assert field.description is not None
        assert field.description in text, key


@given(st.dictionaries(st.sampled_from([*Settings.model_fields, "zzz"]), st.text(min_size=1).filter(str.strip)))
def test_any_environment_gives_settings_or_one_sentence(values: dict[str, str]) -> None:
    values.pop("data", None)  # any text is a folder
    with suppress(SettingsError):  # nothing else may escape
        load(environ={f"LICET_{key.upper()}": value for key, value in values.items()})
