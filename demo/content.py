"""Reads the sources of the sample shop: YAML about the shop and its products, Markdown pages."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import yaml
from markdown_it import MarkdownIt

SITE: Final = Path(__file__).parent / "site"
_MARKDOWN: Final = MarkdownIt("commonmark", {"html": True}).enable("table")


@dataclass(frozen=True, slots=True)
class Page:
    """One page of the shop, before the frame (header, menu, footer) is put around it.

    Pages of two languages with the same `key` are translations of each other. `private` pages exist and are
    linked, and robots.txt disallows them; `sitemap: false` pages are found by their links alone.
    """

    language: str
    key: str
    path: str
    title: str
    description: str
    body: str
    meta: dict[str, Any] = field(default_factory=dict)

    @property
    def private(self) -> bool:
        """Whether robots.txt keeps crawlers away (E14)."""
        return bool(self.meta.get("private"))

    @property
    def listed(self) -> bool:
        """Whether the sitemap names the page."""
        return not self.private and bool(self.meta.get("sitemap", True))


@dataclass(frozen=True, slots=True)
class Shop:
    """Everything that the sources say."""

    facts: dict[str, Any]
    products: list[dict[str, Any]]
    pages: list[Page]

    def words(self, language: str) -> dict[str, Any]:
        """The fixed words and menus of one language."""
        words: dict[str, Any] = self.facts["languages"][language]
        return words

    def page(self, language: str, key: str) -> Page | None:
        """The page of that key in that language, if it has been translated."""
        return next((page for page in self.pages if (page.language, page.key) == (language, key)), None)


def load(root: Path = SITE) -> Shop:
    """The whole shop, from the folder `demo/site`."""
    facts = yaml.safe_load((root / "shop.yaml").read_text())
    products = yaml.safe_load((root / "products.yaml").read_text())
    written = [_read(source) for source in sorted((root / "content").glob("*/*.md"))]
    made = [_product(item, language) for item in products for language in facts["languages"]]
    return Shop(facts, products, written + made)


def markdown(text: str) -> str:
    """HTML of a Markdown text."""
    rendered: str = _MARKDOWN.render(text)
    return rendered


def _read(source: Path) -> Page:
    _, head, text = source.read_text().split("---\n", 2)
    meta = yaml.safe_load(head)
    key, path, title, description = (meta.pop(name) for name in ("key", "path", "title", "description"))
    return Page(source.parent.name, key, path, title, description, markdown(text), meta)


def _product(item: dict[str, Any], language: str) -> Page:
    said = item[language]
    text, meta = markdown(said["text"]), {"product": item}
    return Page(language, "product-" + item["image"], said["path"], said["name"], said["description"], text, meta)
