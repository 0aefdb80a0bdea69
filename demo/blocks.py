"""The parts of a page that are made from data: price tables, cards, questions and answers."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from demo.content import Page, Shop


def money(value: float, language: str) -> str:
    """A price as the language writes it."""
    return f"{value:.2f} €".replace(".", ",") if language == "it" else f"€{value:.2f}"


def product(shop: Shop, page: Page) -> str:
    """A product: picture, text, specifications, and one row of the price table for each size."""
    item, words = page.meta["product"], shop.words(page.language)
    told = item[page.language]["specs"].items()
    specs = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in told)
    parent = shop.page(page.language, item["category"])
    assert parent is not None
    return (
        f'<p class="crumb">{words["back"]} <a href="{parent.path}">{escape(parent.title)}</a></p>\n'
        f'<div class="product">{_picture(item, page.title)}<div>\n<h1>{escape(page.title)}</h1>\n'
        f'<p class="lead">{escape(page.description)}</p>\n{page.body}</div></div>\n'
        f"<h2>{words['prices']}</h2>\n{_prices(item, page.language, words['table'])}"
        f"<p><small>{words['vat_note']}</small></p>\n<h2>{words['specs']}</h2>\n<dl>{specs}</dl>\n"
    )


def cards(shop: Shop, language: str) -> str:
    """The categories, each with the picture of its first product."""
    found = [(name, shop.page(language, name)) for name in shop.facts["categories"]]
    return _cards([(page, _of(shop, name)[0]) for name, page in found if page])


def category(shop: Shop, page: Page) -> str:
    """The products of a category, as cards and as a table with the lowest price of each."""
    words, items = shop.words(page.language), _of(shop, page.meta["category"])
    pages = [shop.page(page.language, "product-" + item["image"]) for item in items]
    pairs = [(one, item) for one, item in zip(pages, items, strict=True) if one]
    rows = [
        (f'<a href="{one.path}">{escape(one.title)}</a>', item["sizes"][0][0], _lowest(item, page.language))
        for one, item in pairs
    ]
    return _cards(pairs) + _table(words["list"], rows)


def questions(faq: dict[str, Any], key: str) -> str:
    """Questions and answers as closed `details`, or as an accordion of buttons (`aria-controls`)."""
    show = _details if faq["style"] == "details" else _panel
    out = []
    for number, group in enumerate(faq["groups"]):
        items = [show(item, f"{key}-{number}-{place}") for place, item in enumerate(group["items"])]
        out.append(f"<h2>{escape(group['title'])}</h2>\n")
        out.append(f'<div class="{faq["style"]}">\n{"".join(items)}</div>\n')
    return "".join(out)


def _of(shop: Shop, name: str) -> list[dict[str, Any]]:
    return [item for item in shop.products if item["category"] == name]


def _lowest(item: dict[str, Any], language: str) -> str:
    return money(min(size[3] for size in item["sizes"]), language)


def _picture(item: dict[str, Any], alt: str) -> str:
    return f'<img src="/img/{item["image"]}.svg" alt="{escape(alt)}" width="320" height="240">'


def _cards(pairs: list[tuple[Page, dict[str, Any]]]) -> str:
    each = [
        f'<li><a href="{page.path}">{_picture(item, "")}</a>'
        f'<h3><a href="{page.path}">{escape(page.title)}</a></h3>'
        f"<p>{escape(page.description)}</p></li>\n"
        for page, item in pairs
    ]
    return f'<ul class="cards">\n{"".join(each)}</ul>\n'


def _prices(item: dict[str, Any], language: str, head: list[str]) -> str:
    rows = [
        (code, name[language], _measure(size, language), money(price, language))
        for code, name, size, price in item["sizes"]
    ]
    return _table(head, rows)


def _measure(size: str, language: str) -> str:
    return size if language == "it" else size.replace("2,5", "2.5")


def _table(head: list[str], rows: Sequence[tuple[str, ...]]) -> str:
    last = len(head) - 1
    mark = [' class="price"' if place == last else "" for place in range(len(head))]
    top = "".join(f'<th scope="col"{m}>{name}</th>' for m, name in zip(mark, head, strict=True))
    cells = ["".join(f"<td{m}>{cell}</td>" for m, cell in zip(mark, row, strict=True)) for row in rows]
    body = "".join(f"<tr>{row}</tr>\n" for row in cells)
    return f"<table>\n<thead><tr>{top}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>\n"


def _details(item: dict[str, str], _: str) -> str:
    return f"<details><summary>{escape(item['q'])}</summary><p>{escape(item['a'])}</p></details>\n"


def _panel(item: dict[str, str], name: str) -> str:
    return (
        f'<h3><button type="button" id="b-{name}" aria-expanded="false" aria-controls="p-{name}">'
        f"{escape(item['q'])}</button></h3>\n"
        f'<div id="p-{name}" role="region" aria-labelledby="b-{name}" hidden>'
        f"<p>{escape(item['a'])}</p></div>\n"
    )
