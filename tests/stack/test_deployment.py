"""docker/ and monitoring/ name the same settings as everything else. No engine runs here: the files are read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from commands.line import licet
from models.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker" / "compose.yaml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
OURS = {name: service for name, service in SERVICES.items() if "build" in service}


def environment(name: str) -> dict[str, str]:
    return {key: str(value) for key, value in SERVICES[name].get("environment", {}).items()}


def test_the_services_of_a_production_stack_are_all_there() -> None:
    wanted = {"kafka", "postgres", "topics", "migrate", "worker-1", "worker-2", "sink", "prometheus", "grafana"}
    assert wanted <= SERVICES.keys()


@pytest.mark.parametrize("name", sorted(OURS))
def test_every_variable_of_ours_is_a_setting_with_a_value_that_it_allows(name: str) -> None:
    given = {
        key.removeprefix("LICET_").lower(): value.replace("${POSTGRES_PASSWORD}", "secret")
        for key, value in environment(name).items()
    }
    assert given.keys() <= Settings.model_fields.keys()
    given.pop("token_key_file", None)  # is there only inside the container
    assert Settings.model_validate(given).require_kafka() == "kafka:9092"


def test_workers_have_names_of_their_own_and_no_database() -> None:
    workers = [name for name in OURS if name.startswith("worker")]
    assert [environment(name)["LICET_WORKER_NAME"] for name in workers] == workers
    assert not any("LICET_DATABASE_URL" in environment(name) for name in workers)


def test_nothing_is_published_beyond_loopback_and_no_password_stands_in_the_file() -> None:
    published = [port for service in SERVICES.values() for port in service.get("ports", [])]
    assert published
    assert all(port.startswith("127.0.0.1:") for port in published)
    secrets = [v for name in SERVICES for k, v in environment(name).items() if "PASSWORD" in k or "URL" in k]
    assert all("PASSWORD" in value and value.count("${") == 1 for value in secrets)


def test_every_image_has_a_version() -> None:
    images = [service["image"] for service in SERVICES.values()]
    assert [image for image in images if ":" not in image or image.endswith(":latest")] == []


def test_every_command_of_ours_exists() -> None:
    for name, service in OURS.items():
        result = CliRunner().invoke(licet, [*service["command"], "--help"])
        assert result.exit_code == 0, (name, result.output)


def test_prometheus_scrapes_every_process_that_has_metrics() -> None:
    jobs = yaml.safe_load((ROOT / "monitoring" / "prometheus.yml").read_text())["scrape_configs"]
    targets = {target for job in jobs for group in job["static_configs"] for target in group["targets"]}
    port = Settings.model_fields["metrics_port"].default
    serving = {name for name in OURS if name.startswith(("worker", "sink"))}
    assert targets == {f"{name}:{port}" for name in serving}
    assert f"EXPOSE {port}" in (ROOT / "docker" / "Dockerfile").read_text()


def test_the_image_has_no_embedded_servers_and_no_root() -> None:
    text = (ROOT / "docker" / "Dockerfile").read_text()
    code = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    assert "embedded" not in code
    assert "USER licet" in code
