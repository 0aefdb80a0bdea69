"""Puts the sample shop together: every path of the site and what stands there.

`python -m demo.build FOLDER` writes the pages as files, for looking at them in a browser.
"""

from __future__ import annotations

import sys
from html import escape
from pathlib import Path
from typing import Final

from demo.blocks import money
from demo.content import SITE, Shop, load
from demo.frame import render
from demo.pdf import one_page
from demo.resources import Finder, Resource, media_type, redirect

HOST: Final = "bottega.example"
REDIRECTS: Final = {
    "/spedizioni/": "/spedizioni-e-resi/",
    "/index.html": "/",
    "/en/shop/": "/en/products/",
}
MISSING: Final = "/notizie/mercatino-2022/"
"""Linked from the news, and gone: the site's 404."""


def build(shop: Shop | None = None) -> dict[str, Resource]:
    """Every path of the site, with its answer. The same sources give the same bytes."""
    shop = shop or load()
    site = {page.path: Resource(render(shop, page)) for page in shop.pages}
    site |= {path: redirect(target) for path, target in REDIRECTS.items()}
    for file in sorted((SITE / "files").rglob("*")):
        if file.is_file():
            path = "/" + file.relative_to(SITE / "files").as_posix()
            site[path] = Resource(file.read_bytes(), media_type(file.name))
    site["/sitemap.xml"] = Resource(_sitemap(shop), media_type("sitemap.xml"))
    site["/listino-2025.pdf"] = Resource(_price_list(shop), media_type("listino.pdf"))
    return site


def finder(site: dict[str, Resource] | None = None) -> Finder:
    """Looks paths up in the site; a directory without its slash is redirected to the one with it."""
    found = site if site is not None else build()

    def find(path: str) -> Resource | None:
        if path not in found and path + "/" in found:
            return redirect(path + "/")
        return found.get(path)

    return find


def write(target: Path, site: dict[str, Resource] | None = None) -> int:
    """Writes the pages and files below `target`; redirects have no file. Says how many were written."""
    count = 0
    for path, resource in (site or build()).items():
        if not resource.location:
            file = target / (path.lstrip("/") + ("index.html" if path.endswith("/") else ""))
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(resource.body)
            count += 1
    return count


def _sitemap(shop: Shop) -> bytes:
    rows = [
        f"<url><loc>https://{shop.facts['host']}{escape(page.path)}</loc>"
        f"<lastmod>{page.meta.get('date', '2025-03-14')}</lastmod></url>\n"
        for page in shop.pages
        if page.listed
    ]
    head = '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
    return (head + "".join(rows) + "</urlset>\n").encode()


def _price_list(shop: Shop) -> bytes:
    lines = [f"{shop.facts['name']}: listino 2025 per la ristorazione", ""]
    for item in shop.products:
        name = item["it"]["name"]
        for code, size, _, price in item["sizes"]:
            lines.append(f"{code}   {name}, {size['it']}   {money(price, 'it')}")
    return one_page([*lines, "", f"Prezzi IVA inclusa. {shop.facts['phone']}, {shop.facts['email']}"])


if __name__ == "__main__":
    print(f"{write(Path(sys.argv[1]))} files written to {sys.argv[1]}")
