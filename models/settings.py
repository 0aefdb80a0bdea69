"""Where a process finds its broker, its database and its folder: one checked value, made once at the start.

Sources, the stronger first: the command line, the environment (`LICET_<NAME>`), the configuration file
(`licet.yaml`, or what `--config` or `LICET_CONFIG` names), the running stack of the folder (`stack.json`,
written by `licet up`), the defaults below. The running stack counts only when nothing else names a broker, so
that a try-out database is never paired with somebody's real broker. docs/configuration.md lists every key.

No key here opens loopback, adds a proxy or widens a published ceiling: those are not configuration.
"""

from __future__ import annotations

import os
import re
import socket
import stat
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    model_validator,
)

from models.allowed import allowed
from models.stack_file import StackFileError, read_running

PREFIX = "LICET_"
DEFAULT_FILE = Path("licet.yaml")
NOT_KEYS = frozenset({"LICET_CONFIG"})  # names of the environment that are no key of the file
NOT_PREFIXES = ("LICET_BOT__", "LICET_TEST_")  # what tightens a profile (bots/), what steers a test run
ENVIRONMENT = "the environment"
Sources = list[tuple[str, dict[str, Any]]]


class SettingsError(Exception):
    """A configuration mistake, as one sentence that names source, key, value and what is allowed."""


def _listed(value: object) -> object:
    """A comma-separated string becomes a list, since an environment variable cannot be one."""
    return [part.strip() for part in value.split(",")] if isinstance(value, str) else value


def _address(value: str) -> str:
    """`host:port` with a port from 1 to 65535."""
    host, _, port = value.rpartition(":")
    if not re.fullmatch(r"[A-Za-z0-9._-]+|\[[0-9A-Fa-f:]+\]", host) or not _is_port(port):
        raise ValueError("host:port, or several of them separated by commas")
    return value


def _is_port(text: str) -> bool:
    return text.isascii() and text.isdigit() and 1 <= int(text) <= 65535


def _database(value: SecretStr) -> SecretStr:
    """A PostgreSQL URL, always with the driver that Licet has."""
    match = re.fullmatch(r"(?:postgres|postgresql|postgresql\+psycopg2)://(.+)", value.get_secret_value())
    if match is None:
        raise ValueError("a URL of the form postgresql://user:password@host:port/database")
    return SecretStr("postgresql+psycopg2://" + match[1])


def _secret_file(path: Path) -> Path:
    """A file of at least 32 bytes that others cannot read."""
    try:
        info = path.stat()
    except OSError as error:
        raise ValueError("the path of a file that can be read") from error
    if not stat.S_ISREG(info.st_mode) or info.st_size < 32:
        raise ValueError("a file of at least 32 bytes")
    if info.st_mode & stat.S_IRWXO:
        raise ValueError("a file that only its owner and group can read (chmod 600)")
    return path


def _name(value: str) -> str:
    """A name that a broker, a log and a file can carry."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", value):
        raise ValueError("1 to 64 letters, digits, dots, hyphens and underscores, a letter or digit first")
    return value


Name = Annotated[str, AfterValidator(_name)]
Port = Annotated[int, Field(ge=1, le=65535)]


def _resolver(value: str) -> str:
    """An https URL of a resolver (RFC 8484)."""
    if not re.fullmatch(r"https://[A-Za-z0-9.-]+(:[0-9]{1,5})?/[!-~]*", value):
        raise ValueError("URLs of the form https://resolver.example/dns-query, separated by commas")
    return value


Resolvers = Annotated[
    tuple[Annotated[str, AfterValidator(_resolver)], ...], BeforeValidator(_listed), Field(min_length=2)
]
Holidays = Annotated[tuple[date, ...], BeforeValidator(_listed)]
Addresses = Annotated[
    tuple[Annotated[str, AfterValidator(_address)], ...], BeforeValidator(_listed), Field(min_length=1)
]


class Settings(BaseModel):
    """The whole configuration of a process. Frozen: nothing changes it once the process has started."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    bot: Literal["ema", "wembi", "certant"] = Field(
        "ema", description="The one bot of this deployment: the profile `bots/<bot>.yaml`."
    )
    data: Path = Field(Path("var"), description="The folder of `licet up`: everything it keeps is in it.")
    kafka: Addresses | None = Field(None, description="Bootstrap servers, `host:port`, separated by commas.")
    broker_kind: Literal["kafka", "tansu"] = Field(
        "kafka", description="`tansu` for the embedded broker, which needs one record a batch and no names."
    )
    replication: Annotated[int, Field(ge=1, le=9)] | None = Field(
        None, description="Copies of each partition. Without it: 3 on three brokers or more, else 1."
    )
    database_url: Annotated[SecretStr, AfterValidator(_database)] | None = Field(
        None, description="PostgreSQL, `postgresql://user:password@host:port/database`. Shown nowhere."
    )
    worker_name: Name | None = Field(
        None, description="The stable name of this worker; never the same for two processes at once."
    )
    worker_life: Name | None = Field(
        None, description="Set by a supervisor, fresh for each process: its proof that a worker is gone names it."
    )
    token_key_file: Annotated[Path, AfterValidator(_secret_file)] | None = Field(
        None, description="A file of 32 bytes or more, the secret behind proof tokens; closed to others."
    )
    dns_resolvers: Resolvers = Field(
        ("https://cloudflare-dns.com/dns-query", "https://dns.google/dns-query"),
        description="DNS-over-HTTPS resolvers that proofs in the DNS are asked of; two operators or more.",
    )
    holidays: Holidays = Field((), description="Days (YYYY-MM-DD) that are no business days, beside weekends.")
    metrics_host: str = Field("127.0.0.1", min_length=1, description="Where /metrics and /ready listen.")
    metrics_port: Port = Field(9464, description="The port of /metrics and /ready, one for each process.")
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field("INFO", description="How much is logged.")
    session_timeout: float = Field(
        20.0, ge=6, le=300, description="Seconds after which a silent worker's sites go to another."
    )
    heartbeat_interval: float = Field(
        3.0, ge=0.5, le=30, description="Seconds between heartbeats; at most a third of `session_timeout`."
    )

    @model_validator(mode="after")
    def _heartbeats_fit(self) -> Settings:
        """Three heartbeats must fit into a session, or one lost packet evicts a worker."""
        if self.heartbeat_interval * 3 > self.session_timeout:
            raise ValueError(
                f"heartbeat_interval ({self.heartbeat_interval:g}) must be at most a third of"
                f" session_timeout ({self.session_timeout:g})"
            )
        return self

    @property
    def name(self) -> str:
        """The worker's name; without one, this machine's and the process's, which nobody else has."""
        return self.worker_name or f"{socket.gethostname()}-{os.getpid()}"

    @property
    def silence(self) -> float:
        """Seconds without a word after which a supervisor ends a process: before its sites are somebody else's."""
        return max(5.0, self.session_timeout / 2)

    @property
    def embedded(self) -> bool:
        """Whether the broker is Tansu: then `producer_max_batch_size=1`, and no instance id."""
        return self.broker_kind == "tansu"

    def require_kafka(self) -> str:
        """The bootstrap servers as clients take them, or a sentence that says how to name them."""
        if self.kafka is None:
            raise SettingsError(
                "No broker is known: set LICET_KAFKA or `kafka` in licet.yaml,"
                f" or start a stack with `licet up` (no stack is running on {self.data})."
            )
        return ",".join(self.kafka)

    def require_database(self) -> str:
        """The SQLAlchemy URL, or a sentence that says how to name it. It holds a password: never log it."""
        if self.database_url is None:
            raise SettingsError(
                "No database is known: set LICET_DATABASE_URL or `database_url` in licet.yaml,"
                f" or start a stack with `licet up` (no stack is running on {self.data})."
            )
        return self.database_url.get_secret_value()

    def token_key(self) -> bytes:
        """The secret that proof tokens are derived from; read when it is needed, never kept."""
        if self.token_key_file is None:
            raise SettingsError("No token key is known: set LICET_TOKEN_KEY_FILE or `token_key_file`.")
        return _secret_file(self.token_key_file).read_bytes()


def load(config: Path | None = None, environ: Mapping[str, str] | None = None, **options: object) -> Settings:
    """The settings of this process. `options` are command-line options that were given, strongest of all."""
    env = os.environ if environ is None else environ
    named = config or (Path(env["LICET_CONFIG"]) if env.get("LICET_CONFIG") else None)
    sources: Sources = [
        ("the command line", {key: value for key, value in options.items() if value is not None}),
        (ENVIRONMENT, _from_environment(env)),
        (str(named or DEFAULT_FILE), _from_file(named)),
    ]
    merged = _merge(sources)
    _check(merged, sources)
    if "kafka" not in merged:
        sources.append(_from_stack(Path(merged.get("data", Settings.model_fields["data"].default))))
        merged = _merge(sources)
    return _check(merged, sources)


def _merge(sources: Sources) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    for _, values in sources:
        merged = {**values, **merged}
    return merged


def _check(merged: dict[str, Any], sources: Sources) -> Settings:
    try:
        return Settings.model_validate(merged)
    except ValidationError as error:
        raise SettingsError(_sentence(error, merged, sources)) from None


def _sentence(error: ValidationError, merged: dict[str, Any], sources: Sources) -> str:
    """The first mistake, with its source, its key as that source spells it, its value and what is allowed."""
    first = error.errors(include_url=False)[0]
    if not first["loc"]:  # a rule about two keys speaks for itself
        return f"Configuration: {first['msg'].removeprefix('Value error, ')}."
    key = str(first["loc"][0])
    source = next((name for name, values in sources if key in values), "the defaults")
    spelt = PREFIX + key.upper() if source == ENVIRONMENT else key
    if first["type"] == "extra_forbidden":
        known = ", ".join(Settings.model_fields)
        return f"Configuration: {source} has an unknown key {spelt}; known are {known}."
    shown = "(not shown)" if key == "database_url" else repr(merged[key])
    return f"Configuration: {source} has {spelt} = {shown}; allowed is {allowed(first)}."


def _from_environment(env: Mapping[str, str]) -> dict[str, Any]:
    """`LICET_KAFKA` is the key `kafka`. An empty variable counts as not set: compose files leave them so."""
    return {
        name.removeprefix(PREFIX).lower(): value
        for name, value in env.items()
        if name.startswith(PREFIX) and name not in NOT_KEYS and not name.startswith(NOT_PREFIXES) and value
    }


def _from_file(named: Path | None) -> dict[str, Any]:
    """The configuration file; one that is named must exist, `licet.yaml` may be missing."""
    path = named or DEFAULT_FILE
    if named is None and not path.exists():
        return {}
    if path.exists() and not path.is_file():  # a pipe may never end
        raise SettingsError(f"Configuration: {path} cannot be read (it is no file).")
    try:
        found = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"Configuration: {path} cannot be read ({error}).") from None
    except yaml.YAMLError as error:
        raise SettingsError(f"Configuration: {path} is not YAML ({' '.join(str(error).split())}).") from None
    if found is None:
        return {}
    if not isinstance(found, dict) or not all(isinstance(key, str) for key in found):
        raise SettingsError(f"Configuration: {path} must be a list of `key: value` lines.")
    return found


def _from_stack(data: Path) -> tuple[str, dict[str, Any]]:
    """What the running stack of this folder says of its broker and database."""
    try:
        return str(data / "stack.json"), read_running(data)
    except StackFileError as error:
        raise SettingsError(f"Configuration: {error}") from None
    except OSError as error:
        shown = str(data)[:100]
        raise SettingsError(f"Configuration: the data folder {shown} cannot be used ({error.strerror}).") from None
