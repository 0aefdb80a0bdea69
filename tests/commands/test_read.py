"""`licet read`: pages, a folder as one site, why, and JSON."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from click.testing import CliRunner

from commands.read import read

PAGE = """<meta charset=utf-8><title>Caf\u00e9</title><nav><a href=/a>Home page</a> <a href=/b>All news</a></nav>
<h1>FAQ</h1><details><summary>Are you open?</summary>Yes, \u00e9very day</details>
<script type="application/ld+json">{"@type": "Restaurant", "telephone": "1"}</script>"""


def run(*arguments: str) -> str:
    result = CliRunner().invoke(read, list(arguments), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_E28_a_page_as_it_is_handed_on(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(PAGE, encoding="utf-8")
    output = run(str(tmp_path / "a.html"))
    assert "# FAQ" in output
    assert "Q: Are you open?\nA: Yes, \u00e9very day\n   (details, " in output
    assert '"telephone": "1"' in output


def test_E28_why_blocks_were_dropped(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(PAGE, encoding="utf-8")
    assert "menu\n    Home page All news" in run(str(tmp_path / "a.html"), "--explain")


def test_E28_json_for_programs(tmp_path: Path) -> None:
    (tmp_path / "a.html.gz").write_bytes(gzip.compress(PAGE.encode()))
    told = json.loads(run(str(tmp_path / "a.html.gz"), "--json"))
    assert told["pairs"][0]["question"] == "Are you open?"
    assert told["facts"] == [{"@type": "Restaurant", "telephone": "1"}]


def test_E28_a_folder_is_one_site(tmp_path: Path) -> None:
    for number in range(5):
        (tmp_path / f"{number}.html").write_text(f"<p>Page number {number}</p><p>Call 01353 000000</p>")
    assert run(str(tmp_path)).count("01353 000000") == 1
    assert len(json.loads(run(str(tmp_path), "--json"))["pages"]) == 5


def test_a_folder_without_pages_is_an_error(tmp_path: Path) -> None:
    assert CliRunner().invoke(read, [str(tmp_path)]).exit_code == 2
