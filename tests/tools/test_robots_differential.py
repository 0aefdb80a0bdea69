from __future__ import annotations

import pytest
from click.testing import CliRunner

from tools.robots_differential import main


@pytest.mark.parametrize("seed", [7, 8])
def test_nothing_is_allowed_that_googles_reader_forbids(seed: int) -> None:
    pytest.importorskip("jwm.robotstxt.googlebot")
    result = CliRunner().invoke(main, ["--seed", str(seed), "--count", "1000"])
    assert result.exit_code == 0, result.output
    assert " 0 over-allows" in result.output
