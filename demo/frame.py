"""The frame that every page of the sample shop shares: head, header, menu, footer."""

from __future__ import annotations

from html import escape
from typing import Any

from demo import blocks, linked
from demo.content import Page, Shop

_SCRIPT = '<script src="/accordion.js" defer></script>\n'


def render(shop: Shop, page: Page) -> bytes:
    """One page, whole."""
    parts = [_head(shop, page), _header(shop, page), _main(shop, page), _footer(shop, page)]
    return "".join(parts).encode()


def _head(shop: Shop, page: Page) -> str:
    base = f"https://{shop.facts['host']}"
    twins = [twin for language in shop.facts["languages"] if (twin := shop.page(language, page.key))]
    links = [f'<link rel="alternate" hreflang="{twin.language}" href="{base}{twin.path}">' for twin in twins]
    robots = page.meta.get("robots")
    extra = [f'<meta name="robots" content="{robots}">'] if robots else []
    extra += links if len(links) > 1 else []
    extra += [linked.script(data).rstrip() for data in linked.linked_data(shop, page)]
    lines = [
        f'<!doctype html>\n<html lang="{page.language}">\n<head>\n<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{escape(page.title)} | {escape(shop.facts['name'])}</title>",
        f'<meta name="description" content="{escape(page.description)}">',
        f'<link rel="canonical" href="{base}{page.path}">',
        '<link rel="stylesheet" href="/style.css">',
        *extra,
    ]
    return "\n".join(lines) + "\n</head>\n"


def _header(shop: Shop, page: Page) -> str:
    words = shop.words(page.language)
    items = [*words["menu"], words["basket"], [words["switch"], _other(shop, page)]]
    menu = "".join(f"<li>{_link(name, path, page.path)}</li>\n" for name, path in items)
    return (
        f'<body>\n<a class="skip" href="#content">{words["skip"]}</a>\n<header>\n<div class="wrap bar">'
        f'<a class="brand" href="{words["home"]}">{escape(shop.facts["name"])}</a>'
        f"<p>{escape(words['tagline'])}</p>"
        f'</div>\n<nav class="wrap" aria-label="Menu"><ul>\n{menu}</ul></nav>\n</header>\n'
    )


def _link(name: str, path: str, current: str) -> str:
    here = ' aria-current="page"' if path == current else ""
    return f'<a href="{escape(path)}"{here}>{escape(name)}</a>'


def _other(shop: Shop, page: Page) -> str:
    """The same page in the other language, or that language's home page."""
    language = next(name for name in shop.facts["languages"] if name != page.language)
    twin = shop.page(language, page.key)
    home: str = shop.words(language)["home"]
    return twin.path if twin else home


def _main(shop: Shop, page: Page) -> str:
    body = blocks.product(shop, page) if "product" in page.meta else _article(shop, page)
    return f'<main id="content">\n<div class="wrap">\n{body}</div>\n</main>\n'


def _article(shop: Shop, page: Page) -> str:
    meta, parts = page.meta, [f"<h1>{escape(page.title)}</h1>\n"]
    if "date" in meta:
        parts.append(f'<p><time datetime="{meta["date"]}">{meta["date"]:%d.%m.%Y}</time></p>\n')
    parts.append(page.body)
    if "category" in meta:
        parts.append(blocks.category(shop, page))
    if meta.get("cards"):
        parts.append(blocks.cards(shop, page.language))
    if "faq" in meta:
        parts.append(blocks.questions(meta["faq"], page.key))
        parts.append(_SCRIPT if meta["faq"]["style"] == "accordion" else "")
    return "".join(parts)


def _footer(shop: Shop, page: Page) -> str:
    facts, words = shop.facts, shop.words(page.language)
    hours = "".join(f"<li>{escape(day)}: {escape(time)}</li>" for day, time in words["hours"])
    more = [*words["footer_links"], words["offsite"]]
    links = "".join(f"<li>{_link(name, path, page.path)}</li>" for name, path in more)
    return (
        '<footer>\n<div class="wrap">\n<div class="columns">\n'
        f"<section><h2>{words['hours_title']}</h2><ul>{hours}</ul></section>\n"
        f"<section><h2>{words['find_title']}</h2>{_address(facts, words)}</section>\n"
        f"<section><h2>{words['more_title']}</h2><ul>{links}</ul></section>\n</div>\n"
        f'<p class="legal">© {facts["founded"]}-2025 {escape(facts["name"])} · '
        f"{words['vat']} {facts['vat']}</p>\n"
        "</div>\n</footer>\n</body>\n</html>\n"
    )


def _address(facts: dict[str, Any], words: dict[str, Any]) -> str:
    digits = facts["phone"].replace(" ", "")
    return (
        f"<address>{facts['street']}<br>"
        f"{facts['postcode']} {facts['town']} ({facts['province']}), {words['country']}"
        f'<br>{words["phone"]}: <a href="tel:{digits}">{facts["phone"]}</a>'
        f'<br>{words["email"]}: <a href="mailto:{facts["email"]}">{facts["email"]}</a></address>'
    )
