"""EUC-JP as browsers read it: with the vendors' rows that Python's own codec lacks.

The rows of NEC and IBM (circled numbers, one-character abbreviations) stand in every Japanese price list.
They are the same rows as in Shift_JIS, where cp932 knows them, so a pair is shifted and read there.
"""

from __future__ import annotations

import re

_UNIT = re.compile(rb"[\x00-\x7f]+|\x8e[\xa1-\xdf]|\x8f[\xa1-\xfe]{2}|[\xa1-\xfe]{2}|.", re.DOTALL)


def decode_euc_jp(body: bytes) -> str:
    """The text of EUC-JP bytes; what is no character becomes U+FFFD."""
    try:
        return body.decode("euc_jp")
    except UnicodeDecodeError:
        return "".join(_unit(match[0]) for match in _UNIT.finditer(body))


def _unit(raw: bytes) -> str:
    try:
        return raw.decode("euc_jp")
    except UnicodeDecodeError:
        return _shifted(raw).decode("cp932", "replace") if len(raw) == 2 else "\ufffd"


def _shifted(pair: bytes) -> bytes:
    """JIS X 0208 row and cell, as Shift_JIS lays them out."""
    row, cell = pair[0] - 0xA1, pair[1] - 0xA1
    lead = row // 2 + (0x81 if row < 62 else 0xC1)
    trail = cell + (0x9F if row % 2 else 0x40 if cell < 63 else 0x41)
    return bytes((lead, trail))
