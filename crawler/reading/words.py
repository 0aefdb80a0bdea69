"""What headings, labels and lines say, in eleven languages: patterns over the words of `words.yaml`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, cast

import yaml

WORDS: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("words.yaml").read_text(encoding="utf-8"))
_RARE = ("USD", "GBP", "CHF", "NOK", "SEK", "DKK", "AUD", "CAD", "PLN", "RUB", "CZK", "INR")


def alternatives(name: str) -> str:
    """One of the lists as alternatives of a pattern."""
    return "(?:" + "|".join(cast("list[str]", WORDS[name])) + ")"


_TAIL_HEADING = re.compile(alternatives("tail_headings") + "[\\s:.…!>»→]*", re.IGNORECASE)
SKU = re.compile(rf"\b{alternatives('number_labels')}(?![a-z])[\s.:\uff1a#№\u200e\u200f]*", re.IGNORECASE)
_DIGIT = re.compile("[0-9]")
_SIGN = re.compile(alternatives("currency_signs"))
_CURRENCY = rf"(?:[$€£¥₹₽]|(?<![^\W\d_])(?:{'|'.join(('EUR', *_RARE))}|zł|kr|\u0440\u0443\u0431)(?![^\W\d_]))"
PRICE = re.compile(rf"{_CURRENCY}\.?\s?\d|\d(?:[.,]\d{{1,2}}|,-|\.-)?\s?{_CURRENCY}")
"""An amount with its currency before or behind it."""


def holds_price(text: str) -> bool:
    """Whether an amount with a currency stands in the text; looks for a digit and a sign first, which is faster."""
    return _DIGIT.search(text) is not None and _SIGN.search(text) is not None and PRICE.search(text) is not None


def is_tail_heading(text: str) -> bool:
    """Whether a heading opens what follows a page's own content: related pages, sharing, comments."""
    return len(text) <= 80 and _TAIL_HEADING.fullmatch(text.strip()) is not None
