from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import webencodings
from hypothesis import given
from hypothesis import strategies as st

from crawler.rules.charset import decode, detect, prescan
from crawler.rules.euc_jp import decode_euc_jp

DATA = Path(__file__).parent.parent / "data" / "html5lib-encoding"
# Its UTF-8 proves itself against the page's own word, which is what mis-declared real pages need.
KNOWN_DIFFERENCES = 1
GERMAN = "Öffnungszeiten: Größe, Übergrößen, Äpfel, Straße, Füße, früh, schön. " * 20


def _cases() -> Iterator[tuple[str, bytes, str]]:
    for path in sorted(DATA.glob("*.dat")):
        for number, block in enumerate(path.read_bytes().split(b"#data\n")[1:]):
            data, _, rest = block.partition(b"\n#encoding\n")
            yield f"{path.stem}-{number}", data, rest.strip().split(b"\n")[0].decode()


def test_html5lib_encoding_cases() -> None:
    wrong = [
        name
        for name, data, label in _cases()
        if detect(data)[0] != str(webencodings.lookup(label).name)  # type: ignore[union-attr]
    ]
    assert len(list(_cases())) == 82
    assert len(wrong) <= KNOWN_DIFFERENCES, wrong


@pytest.mark.parametrize("content_type", ["text/html; charset=iso-8859-1", "text/html; charset=utf-16", None])
@pytest.mark.parametrize(
    "meta", [b"<meta charset=iso-8859-1>", b'<meta http-equiv=content-type content="x; charset=gbk">', b""]
)
def test_utf8_that_proves_itself_wins_over_what_is_said(content_type: str | None, meta: bytes) -> None:
    page = decode(meta + GERMAN.encode(), content_type)
    assert page.encoding == "utf-8"
    assert GERMAN in page.text


def test_windows_1252_declared_as_utf8_is_repaired() -> None:
    page = decode(b"<meta charset=utf-8>" + GERMAN.encode("cp1252"), "text/html; charset=utf-8")
    assert GERMAN in page.text
    assert page.source == "guess"


def test_utf8_with_one_broken_byte_stays_utf8() -> None:
    page = decode(b"<meta charset=utf-8>\xff" + GERMAN.encode())
    assert page.encoding == "utf-8"
    assert GERMAN in page.text


def test_a_declaration_after_the_first_1024_bytes_counts() -> None:
    body = b"<head>" + b"<!-- x -->" * 500 + b"<meta charset=windows-1251>" + "Привет".encode("cp1251")
    assert decode(body).text.endswith("Привет")


def test_the_order_is_bom_header_meta() -> None:
    body = "<meta charset=shift_jis>é".encode("cp1252")
    assert detect(body, "text/html; charset=windows-1250") == ("windows-1250", "header")
    assert detect(body) == ("shift_jis", "meta")
    assert detect(b"\xef\xbb\xbf" + body, "text/html; charset=windows-1250") == ("utf-8", "bom")
    assert decode(b"\xff\xfe" + "é".encode("utf-16-le")).text == "é"


@pytest.mark.parametrize("label", ["nonsense", "replacement", "hz-gb-2312", "iso-2022-kr", "x-user-defined", ""])
def test_unknown_and_dangerous_labels_are_no_declaration(label: str) -> None:
    assert detect(b"<p>plain</p>", f"text/html; charset={label}") == ("windows-1252", "default")


@pytest.mark.parametrize(
    ("text", "label", "codec"),
    [
        ("①㈱㎡テスト", "shift_jis", "cp932"),
        ("똠방각하", "euc-kr", "cp949"),
        ("€䶮", "gb2312", "gb18030"),
        ("€“x”", "iso-8859-1", "cp1252"),
        ("ğşİ", "iso-8859-9", "cp1254"),
    ],
)
def test_wide_codecs_keep_the_vendors_characters(text: str, label: str, codec: str) -> None:
    assert decode(text.encode(codec), f"text/html; charset={label}").text == text


def test_utf16_is_believed_only_where_the_bytes_show_it() -> None:
    assert decode(b"<p>plain</p>", "text/html; charset=utf-16").text == "<p>plain</p>"
    assert decode("<p>\u00e9".encode("utf-16-le"), "text/html; charset=utf-16").text == "<p>\u00e9"


def test_euc_jp_has_the_rows_of_the_vendors() -> None:
    assert decode_euc_jp(b"\xad\xa1\xad\xea\xc6\xfc\x8e\xb1\x8f\xb0\xa1A") == "①㈱日ｱ丂A"
    assert decode_euc_jp(b"\xff\xa1") == "\ufffd\ufffd"


@pytest.mark.parametrize(
    ("page", "label"),
    [
        (b"<!-- <meta charset=gbk> --><meta charset=koi8-r>", "koi8-r"),
        (b"<a title='<meta charset=gbk>'><meta charset=koi8-r>", "koi8-r"),
        (b"<meta charset=utf-16>", "utf-8"),
        (b'<?xml version="1.0" encoding="koi8-r"?><html>', "koi8-r"),
        (b"<meta charset=gbk", None),
        (b"<metacharset=gbk>", None),
    ],
)
def test_the_prescan_reads_tags_as_browsers_do(page: bytes, label: str | None) -> None:
    assert prescan(page) == label


@pytest.mark.parametrize(
    "body",
    [b"<" * 2_000_000, b"<a " * 600_000, b"<meta charset=" * 140_000, b"<!--" * 500_000, b'<a ="' * 400_000,
     b"\xe3\x81" * 1_000_000, bytes(range(256)) * 8_000, b"<meta " + b"a=b " * 500_000],
)  # fmt: skip
def test_a_hostile_page_costs_a_bounded_time(body: bytes) -> None:
    started = time.process_time()
    decode(body)
    assert time.process_time() - started < 2


@given(st.binary(max_size=300), st.text(max_size=40) | st.none())
def test_any_bytes_give_text(body: bytes, content_type: str | None) -> None:
    for content in (body, b"<meta charset=" + body, b"\x8f\xa1" + body):
        page = decode(content, content_type)
        page.text.encode("utf-8", "surrogatepass")
        assert webencodings.lookup(page.encoding) is not None
    decode(body, "text/html; charset=euc-jp")
