"""A PDF of one page of text, so that the sample site links to a real one."""

from __future__ import annotations

from collections.abc import Sequence

_A4 = b"[0 0 595 842]"
_FONTS = b"<< /Font << /F1 5 0 R >> >>"


def one_page(lines: Sequence[str]) -> bytes:
    """A4, Helvetica, one line under the other; the first is the title (ISO 32000-1, 7.5)."""
    stream = _text(lines)
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox %s /Contents 4 0 R /Resources %s >>" % (_A4, _FONTS),
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    return _file(objects)


def _text(lines: Sequence[str]) -> bytes:
    shown = [b"(%s) Tj T*" % _escape(line) for line in lines]
    return b"\n".join([b"BT /F1 18 Tf 24 TL 60 780 Td", *shown[:1], b"/F1 11 Tf 18 TL", *shown[1:], b"ET"])


def _escape(line: str) -> bytes:
    raw = line.encode("cp1252", "replace")
    return raw.replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)")


def _file(objects: Sequence[bytes]) -> bytes:
    out = bytearray(b"%PDF-1.4\n")
    offsets = []
    for number, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(out)
    size = len(objects) + 1
    out += b"xref\n0 %d\n0000000000 65535 f \n" % size
    out += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    out += b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (size, start)
    return bytes(out)
