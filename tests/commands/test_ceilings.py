"""An attempt to widen a published ceiling is refused at start, by name; a bot's own addresses are used (W11)."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

import bots
from app import internet
from commands.line import licet
from crawler.rules.site import Policy


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("LICET_BOT__BUDGET__PAGES", "70"),
        ("LICET_BOT__BUDGET__PAGE_REQUESTS", "121"),
        ("LICET_BOT__PACE__CRAWL__DELAY", "0.5"),
        ("LICET_BOT__IDENTITY__TOKEN", "Googlebot"),
        ("LICET_BOT__GATE__CUSTOMER_STARTS_PER_DAY", "6"),
        ("LICET_BOT__BODIES__PAGE", "2000001"),
        ("LICET_BOT__NO_SUCH_FIELD", "1"),
    ],
)
def test_E01_E16_E18_E20_E21_a_worker_that_would_widen_a_ceiling_does_not_start(
    variable: str, value: str, tmp_path: Path
) -> None:
    key = tmp_path / "key"
    key.write_bytes(b"k" * 32)
    key.chmod(0o600)
    environ = {"LICET_KAFKA": "127.0.0.1:1", "LICET_TOKEN_KEY_FILE": str(key), variable: value}
    result = CliRunner().invoke(licet, ["worker"], env=environ)
    assert result.exit_code == 2
    assert variable in result.output
    assert value in result.output
    assert "refused" in result.output


def test_W11_the_worker_leaves_from_the_addresses_of_its_bot() -> None:
    network = internet(Policy(bots.load("wembi"), b""))
    assert (network.source_v4, network.source_v6) == ("159.253.19.173", "2a03:f480:1:6::8c")
    assert internet(Policy(bots.load("ema"), b"")).source_v4 is None
