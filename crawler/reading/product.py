"""The buy box: the price and the article number of a product page are never lost (E28).

Three signs: the values that the page's own structured data declares, a label ("SKU", "Item #") with a code
behind it, and amounts close behind the page's heading.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from crawler.reading.boxes import Mark, Tree
from crawler.reading.prices import may_hold_price
from crawler.reading.regions import Regions
from crawler.reading.structured import Json, objects, types
from crawler.reading.words import SKU, has_digit, holds_price

REACH = 60
"""Blocks behind the h1 in which an amount belongs to the page's product."""
CLOSE = 12
"""So close behind the heading even a box named after related products is the product's own."""
_RELATED = int(Mark.RELATED)
_ELSEWHERE = int(Mark.NAV | Mark.FOOTER | Mark.DIALOG | Mark.CONSENT | Mark.RELATED | Mark.FILTER | Mark.COMMENT)
_MONEY = ("$", "€", "£", "¥", "₽", "₹", "₪", "元", "円", "EUR", "USD", "CHF", "kr", "zł")
_FORM = int(Mark.FORM)
_TITLE, _TITLE_MOST = 10, 30
_MOST = 4  # blocks that show one declared value: more are a list of variants
_CODE = re.compile(r"[\w./-]*\d[\w./-]*")
_AMOUNT = re.compile(r"(?<![\d.,])\d{1,3}(?:[.,' ]?\d{3})*[.,]\d{2}(?![\d.,%])")
_NUMBERED = re.compile(
    r"#|№|\b(?:n[uúùo]m[eéè]ro|number|nummer|numer|nr|no|id|code|código|codice|kod|номер|код)\b", re.IGNORECASE
)
_SEPARATORS = re.compile(r"[.,'\u2019\s]")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_CODES = ("sku", "mpn", "gtin", "gtin8", "gtin12", "gtin13", "gtin14", "productID")
_PRICES = ("price", "lowPrice", "highPrice")
_PRICE_METAS = frozenset(("product:price:amount", "og:price:amount"))


def buy_box(tree: Tree, regions: Regions) -> Iterator[int]:
    """The blocks that hold the product's price or number."""
    declared = _is_product(tree)
    if declared:
        yield from _declared(tree)
    text = "\n".join([block.text for block in tree.blocks])
    if declared or any(sign in text for sign in _MONEY):  # most pages sell nothing
        yield from _labelled(tree)
    yield from _near_heading(tree, regions, may_hold_price(tree)[1])


def _is_product(tree: Tree) -> bool:
    return any('Product"' in script for script in tree.scripts) or any(
        meta.get("property") in _PRICE_METAS for meta in tree.metas
    )


def _labelled(tree: Tree) -> Iterator[int]:
    """`SKU: 123`, or a label and the code in the block behind it. Only blocks with a digit are looked at.

    In lower case, because a pattern that ignores case takes three times the time.
    """
    before = ""
    for index, block in enumerate(tree.blocks):
        text = block.text.lower() if len(block.text) <= 120 else ""
        if text and not block.marks & _ELSEWHERE and has_digit(text):
            if _carries_code(text):
                yield index
            elif before and _is_code(text.lstrip(":# ")) and (_ends_with_label(before) or _is_numbered(before, text)):
                yield from (index - 1, index)
        before = text if len(text) <= 60 else ""


def _carries_code(text: str) -> bool:
    label = SKU.search(text)
    rest = text[label.end() :].split() if label else []
    return bool(rest) and _is_code(rest[0].strip("()[]〈〉«»,;"))


def _ends_with_label(text: str) -> bool:
    label = SKU.search(text)
    return label is not None and label.end() == len(text)


def _is_numbered(label: str, text: str) -> bool:
    """A long number alone behind a short label that says number, in whatever language."""
    return len(label) < 40 and sum(map(str.isdigit, text)) >= 5 and _is_code(text) and bool(_NUMBERED.search(label))


def _is_code(text: str) -> bool:
    return 3 <= len(text) <= 40 and _CODE.fullmatch(text) is not None


def _declared(tree: Tree) -> Iterator[int]:
    """The blocks that show what the structured data declare: short ones, and not in a list of others."""
    codes, amounts = _values(tree)
    seen: dict[str, int] = {}
    for index, block in enumerate(tree.blocks):
        if len(block.text) > 200 or block.marks & _ELSEWHERE:
            continue
        lowered = block.text.casefold()
        digits = _SEPARATORS.sub("", block.text)
        for value in (*(code for code in codes if code in lowered), *(a for a in amounts if _stands(a, digits))):
            seen[value] = seen.get(value, 0) + 1
            if seen[value] <= _MOST:
                yield index


def _stands(digits: str, text: str) -> bool:
    at = text.find(digits)
    if at < 0:
        return False
    end = at + len(digits)
    return not text[max(0, at - 1) : at].isdigit() and not text[end : end + 1].isdigit()


def _values(tree: Tree) -> tuple[set[str], set[str]]:
    """The codes and the amounts (digits alone, with and without cents) of the page's products."""
    codes: set[str] = set()
    amounts: set[str] = set()
    for item in objects([script for script in tree.scripts if 'Product"' in script or 'Offer"' in script]):
        if {"Product", "ProductGroup", "Offer", "AggregateOffer"}.intersection(types(item)):
            codes.update(code for code in _strings(item, _CODES) if len(code) >= 4)
            for offer in (item, *_offers(item)):
                amounts.update(_digits(_strings(offer, _PRICES)))
    metas = [meta.get("content") or "" for meta in tree.metas if meta.get("property") in _PRICE_METAS]
    return codes, amounts | set(_digits(metas))


def _offers(item: Json) -> list[Json]:
    """The offers of a product, which often have no type of their own."""
    offers = item.get("offers")
    return [offer for offer in (offers if isinstance(offers, list) else [offers]) if isinstance(offer, dict)][:20]


def _strings(item: Json, names: tuple[str, ...]) -> list[str]:
    values = (item.get(name) for name in names)
    return [str(value).strip().casefold() for value in values if isinstance(value, str | int | float)]


def _digits(values: list[str]) -> Iterator[str]:
    for value in values[:50]:
        if found := _NUMBER.fullmatch(value.replace(",", "")):
            amount = float(found.group())
            if amount >= 1:
                yield f"{amount:.2f}".replace(".", "")
                if amount == int(amount) and amount >= 10:
                    yield str(int(amount))


def _near_heading(tree: Tree, regions: Regions, signs: tuple[str, ...]) -> Iterator[int]:
    """Amounts close behind the heading, or in a form: what is sold is put into a cart there."""
    for index, block in enumerate(tree.blocks) if signs else ():
        marks = block.marks
        if marks & _FORM and not marks & _ELSEWHERE and len(block.text) < 80 and holds_price(block.text, signs):
            yield index
    heading = regions.h1 if regions.h1 >= 0 else _titled(tree)
    if heading < 0:
        return
    for index in range(heading, min(len(tree.blocks), heading + REACH)):
        block = tree.blocks[index]
        elsewhere = block.marks & (_ELSEWHERE if index > heading + CLOSE else _ELSEWHERE & ~_RELATED)
        short = len(block.text) < 80 and not elsewhere
        if short and (holds_price(block.text, signs) or _holds_amount(block.text)):
            yield index


def _holds_amount(text: str) -> bool:
    return ("." in text or "," in text) and _AMOUNT.search(text) is not None


def _titled(tree: Tree) -> int:
    """For a page without an h1: the first block whose beginning its title holds, -1 without."""
    title = " ".join(tree.title.split()).casefold()
    for index, block in enumerate(tree.blocks):
        opening = block.text[:_TITLE_MOST].casefold()
        if len(opening) >= _TITLE and opening in title and not block.marks & _ELSEWHERE:
            return index
    return -1
