"""Content-Encoding undone: the same for every way of cutting the bytes, and never more than there is room for."""

from __future__ import annotations

import gzip
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.fetch.decode import EncodingError, decoder
from crawler.fetch.verdict import media_type

ENCODE = {
    ("gzip",): gzip.compress,
    ("x-gzip",): gzip.compress,
    ("deflate",): zlib.compress,
    ("Deflate ",): lambda body: zlib.compress(body, wbits=-15),
    ("identity",): bytes,
    ("", "identity"): bytes,
    (): bytes,
}


def undo(lines: tuple[str, ...], wire: bytes, cuts: list[int], room: int = 1 << 20) -> bytes:
    decode = decoder(lines)
    assert decode is not None
    out = bytearray()
    for start, end in zip([0, *cuts], [*cuts, len(wire)], strict=True):
        out += decode.feed(wire[start:end], room - len(out))
        assert len(out) <= room
    decode.finish()
    return bytes(out)


@given(st.binary(max_size=5000), st.sampled_from(sorted(ENCODE)), st.data())
def test_every_cut_gives_the_body(body: bytes, lines: tuple[str, ...], data: st.DataObject) -> None:
    wire = ENCODE[lines](body)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(wire)), max_size=5)))
    assert undo(lines, wire, cuts) == body


@given(st.lists(st.binary(max_size=50), min_size=1, max_size=8), st.integers(0, 400))
def test_members_are_joined(bodies: list[bytes], cut: int) -> None:
    wire = b"".join(map(gzip.compress, bodies))
    assert undo(("gzip",), wire, [min(cut, len(wire))]) == b"".join(bodies)


@given(st.binary(min_size=1, max_size=200), st.integers(1, 30))
def test_a_cut_body_is_no_body(body: bytes, missing: int) -> None:
    wire = gzip.compress(body)
    with pytest.raises(EncodingError):
        undo(("gzip",), wire[: max(1, len(wire) - missing)], [])


@given(st.binary(max_size=50).filter(lambda rest: rest[:1] != b"\x1f"), st.integers(0, 100))
def test_what_follows_the_last_member_is_ignored_wherever_it_is_cut(rest: bytes, cut: int) -> None:
    wire = gzip.compress(b"page") + rest
    assert undo(("gzip",), wire, [min(cut, len(wire))]) == b"page"


@pytest.mark.parametrize("cut", range(30))
def test_a_second_member_that_breaks_is_an_error_wherever_it_is_cut(cut: int) -> None:
    with pytest.raises(EncodingError):
        undo(("gzip",), gzip.compress(b"page") + b"\x1f\x8bgarbage", [cut])


def test_F61_the_room_bounds_a_bomb() -> None:
    decode = decoder(("gzip",))
    assert decode is not None
    assert len(decode.feed(gzip.compress(bytes(50_000_000)), 2_000_001)) == 2_000_001


@pytest.mark.parametrize(
    "lines", [("br",), ("zstd",), ("gzip, gzip",), ("gzip", "deflate"), ("compress",), ("gzip;q=1",), ("aes128gcm",)]
)
def test_F61_what_was_not_asked_for_is_refused(lines: tuple[str, ...]) -> None:
    assert decoder(lines) is None


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        (("text/html",), "text/html"),
        ((" Text/HTML ;charset=utf-8",), "text/html"),
        (("text/html; a=b; c",), "text/html"),
        (("text/html", "text/html; charset=x"), "text/html"),
        ((), None),
        (("",), None),
        (("html",), None),
        (("text/",), None),
        (("text/html, text/plain",), None),
        (("text/html text/plain",), None),
        (("text/html", "text/plain"), None),
        (("text/html\x00",), None),
    ],
)
def test_E04_the_media_type(lines: tuple[str, ...], found: str | None) -> None:
    assert media_type(lines) == found


@given(st.text(max_size=50))
def test_E04_any_header_gives_a_token_pair_or_nothing(line: str) -> None:
    found = media_type((line,))
    assert found is None or (found.count("/") == 1 and found.isascii() and found == found.lower())
