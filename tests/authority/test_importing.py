"""`licet attest import`: every line is judged first, and a file with a mistake imports nothing (E11)."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commands import importing
from commands.options import Sentence
from stack.net import free_port
from tests.commands.conftest import licet_in

GOOD = "account,address,by,kept_at\nacme,www.shop.example,ann,drawer 3\nacme,other.example,ann,drawer 3\n"


def read(tmp_path: Path, text: str | bytes) -> list[importing.Line]:
    file = tmp_path / "sites.csv"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return importing.read(file)


def test_E11_a_good_file_has_a_line_for_each_site(tmp_path: Path) -> None:
    lines = read(tmp_path, GOOD)
    assert [(line.site, line.error) for line in lines] == [("shop.example", ""), ("other.example", "")]
    assert [line.report() for line in lines] == ["line 2: shop.example for acme", "line 3: other.example for acme"]


def test_E11_the_same_file_again_is_the_same_events_and_another_file_is_not(tmp_path: Path) -> None:
    first, again = read(tmp_path, GOOD), read(tmp_path, GOOD)
    assert [line.event for line in first] == [line.event for line in again]
    assert len({line.event for line in first}) == 2
    assert first[0].event != read(tmp_path, GOOD.replace("drawer 3", "drawer 4"))[0].event


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("acme,shop.example,ann,", "kept_at"),
        ("acme,shop.example,,drawer 3", "by"),
        (",shop.example,ann,drawer 3", "account"),
        ("acme,,ann,drawer 3", "address"),
        ("acme,co.uk,ann,drawer 3", "Many owners"),
        ("acme,127.0.0.1,ann,drawer 3", "number of a machine"),
        ("acme,shop.example,ann", "number of fields"),
        ("acme,shop.example,ann,drawer 3,more", "number of fields"),
        (f"acme,shop.example,ann,{'x' * 300}", "kept_at"),
        ("acme,other.example,bob,drawer 9", "the same account and site as line 3"),
        ("acme,WWW.Other.Example,bob,drawer 9", "the same account and site as line 3"),
    ],
)
def test_E11_a_wrong_line_says_what_is_wrong(tmp_path: Path, line: str, says: str) -> None:
    lines = read(tmp_path, GOOD + line + "\n")
    assert says in lines[2].report()
    assert lines[2].report().startswith("line 4: ")
    assert not lines[0].error


@pytest.mark.parametrize("text", [b"", b"\xff\xfe", "a,b\n1,2\n", 'account,address,by,kept_at\n"open', "\x00"])
def test_E11_a_file_that_is_no_such_csv_is_one_sentence(tmp_path: Path, text: str | bytes) -> None:
    with pytest.raises(Sentence, match=r"columns|CSV"):
        read(tmp_path, text)


def test_E11_a_spreadsheet_s_bom_and_line_ends_are_read(tmp_path: Path) -> None:
    lines = read(tmp_path, "\ufeff" + GOOD.replace("\n", "\r\n"))
    assert [line.error for line in lines] == ["", ""]


@given(st.text(max_size=200))
def test_E11_any_text_is_lines_or_a_sentence(text: str) -> None:
    digest = "0" * 64
    for number, row in enumerate(text.split("\n")):
        cells = dict(zip(importing.COLUMNS, [*row.split(","), "", "", "", ""], strict=False))
        line = importing._judged(number, cells, digest)
        assert line.error or line.site


def test_E11_one_wrong_line_and_nothing_is_imported(tmp_path: Path) -> None:
    """Nobody listens where the broker should be: had anything been said, the sentence would be another."""
    file = tmp_path / "sites.csv"
    file.write_text(GOOD + "acme,co.uk,ann,drawer 3\n")
    closed = {"LICET_KAFKA": f"127.0.0.1:{free_port()}", "LICET_DATABASE_URL": "postgresql://a:b@127.0.0.1:1/x"}
    result = licet_in(tmp_path, "attest", "import", str(file), **closed)
    assert result.exit_code == 2
    assert "1 of 3 lines are wrong; nothing was imported." in result.stderr
    assert "line 4" in result.stdout


def test_E11_a_file_can_be_checked_without_a_stack(tmp_path: Path) -> None:
    file = tmp_path / "sites.csv"
    file.write_text(GOOD)
    result = licet_in(tmp_path, "attest", "import", "--check", str(file))
    assert result.exit_code == 0
    assert result.stdout.count("line ") == 2


def test_E25_a_stop_request_from_the_future_or_without_a_zone_is_refused(tmp_path: Path) -> None:
    for when in ("2026-03-02T09:30", "yesterday", "2999-01-01T00:00Z"):
        result = licet_in(tmp_path, "stop", "shop.example", "--by", "ann", "--from", "him", "--received", when)
        assert result.exit_code == 2
