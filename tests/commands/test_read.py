"""`licet read`: pages, a folder as one site, why, and JSON."""

from __future__ import annotations

import gzip
import json
import os
import zlib
from pathlib import Path

import pytest
from click.testing import CliRunner

from commands.read import not_text, read

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


PNG = b"\x89PNG\r\n\x1a\n" + zlib.compress(b"pixels")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.pdf", b"%PDF-1.7\n<html>", "a PDF file"),
        ("a.html", b"%PDF-1.7\n<html>", "a PDF file"),
        ("a.png", PNG, "a PNG image"),
        ("a.html", gzip.compress(PAGE.encode()), "a gzip file"),
        ("a.docx", b"PK\x03\x04rest", "an office document"),
        ("a.html", b"<p>text\0text", "binary data"),
        ("a.html.gz", b"<p>not compressed", "no whole gzip file"),
        ("a.html.gz", gzip.compress(PAGE.encode())[:-12], "no whole gzip file"),
        ("a.html.gz", gzip.compress(PNG), "a PNG image"),
    ],
)
def test_E04_what_is_plainly_no_page_is_refused_in_a_sentence(
    tmp_path: Path, name: str, content: bytes, said: str
) -> None:
    (tmp_path / name).write_bytes(content)
    result = CliRunner().invoke(read, [str(tmp_path / name)], catch_exceptions=False)
    assert (result.exit_code, result.stdout) == (2, "")
    assert said in result.stderr


def test_a_pipe_that_nobody_writes_to_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.html")
    for path in (tmp_path / "a.html", Path("/dev/zero")):
        result = CliRunner().invoke(read, [str(path)], catch_exceptions=False)
        assert result.exit_code == 2
        assert "neither a file nor a folder" in result.stderr
    assert CliRunner().invoke(read, [str(tmp_path)], catch_exceptions=False).exit_code == 2  # no page in the folder


def test_a_bomb_is_not_unpacked(tmp_path: Path) -> None:
    (tmp_path / "a.html.gz").write_bytes(gzip.compress(b" " * 60_000_000, 1))
    result = CliRunner().invoke(read, [str(tmp_path / "a.html.gz")], catch_exceptions=False)
    assert result.exit_code == 2
    assert "more than 50 MB" in result.stderr


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1", "cp1252", "shift_jis"])
def test_text_of_any_encoding_is_text(encoding: str) -> None:
    assert not_text("<p>caffè</p>".encode(encoding, "replace")) is None
    assert not_text(b"") is None
