"""The compiled reading is the same reading: to the last byte, or not used at all."""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from crawler.reading import COMPILED, native
from crawler.reading.page import page_text, read_html

PAGES = 200
TAGS = (
    "div", "section", "article", "aside", "nav", "footer", "header", "main", "ul", "li", "table", "tr", "td", "th", "p",
    "span", "a", "b", "h1", "h2", "h3", "details", "summary", "dl", "dt", "dd", "form", "button", "label", "pre", "sup",
    "x-card", "noscript", "blockquote", "address",
)  # fmt: skip
NAMES = (
    "", "", "product-card", "site-nav", "comment reply", "sidebar", "faq", "related", "cookie-consent", "price", "share",
    "thread post", "breadcrumb", "modal", "content main", "byline meta", "filter", "login",
)  # fmt: skip
ATTRIBUTES = ("", "", "hidden", "role=dialog", "aria-hidden=true", "itemtype=https://schema.org/Product", "href=/a",
              "href=mailto:a@b.example", "style='display: none'", "aria-controls=p1", "id=p1", "colspan=3")  # fmt: skip
TEXTS = (
    "Open from 9 to 5.", "$ 12.50", "SKU: A-1234", "Is it waterproof?", "Yes, to ten metres and more.", "Home", "\u00a0",
    "A long sentence, with commas, that goes on for a while and says what the house sells, to whom, and since when.",
    "Call 030 1234567", "caf\u00e9 \u2014 \u65e5\u672c\u8a9e", "1,299.00 EUR", "Related products", "\n  \n",
)  # fmt: skip


def page(seed: int) -> str:
    """A page of any structure; the same for the same seed."""
    rng = random.Random(seed)

    def some(depth: int) -> str:
        if depth == 0 or rng.random() < 0.2:
            return rng.choice(TEXTS) + " "
        tag = rng.choice(TAGS)
        inside = "".join(some(depth - 1) for _ in range(rng.randrange(5)))
        return f"<{tag} class='{rng.choice(NAMES)}' {rng.choice(ATTRIBUTES)}>{inside}</{tag}>"

    data = '<script type="application/ld+json">{"@type":"Product","sku":"A-1234","offers":{"price":12.5}}</script>'
    head = f"<title>{rng.choice(TEXTS)}</title>{data if rng.random() < 0.3 else ''}"
    return f"<html lang=en><head>{head}</head><body>{''.join(some(6) for _ in range(12))}</body></html>"


compiled = pytest.mark.skipif(not COMPILED, reason="no C compiler here: make native says so")


def digest() -> str:
    """Of everything that these pages say."""
    found = hashlib.sha256()
    for seed in range(PAGES):
        found.update(repr(read_html(page(seed), "https://shop.example/a")).encode())
    return found.hexdigest()


def told(code: str, **env: str) -> str:
    argv = [sys.executable, "-c", code]
    return subprocess.run(argv, env=os.environ | env, capture_output=True, text=True, check=True).stdout.strip()


@compiled
def test_E28_compiled_and_as_python_it_reads_the_same() -> None:
    code = "from crawler.reading import COMPILED; from tests.reading.test_native import digest; print(COMPILED, digest())"
    assert sum(len(page_text(page(seed))) > 500 for seed in range(PAGES)) > PAGES / 2
    assert told(code, LICET_TEST_PURE="1") == f"False {digest()}"
    assert told(code, LICET_TEST_PURE="") == f"True {digest()}"


def test_a_source_that_was_changed_is_never_run_in_an_older_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(native.PURE, raising=False)
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setattr(sys, "path", list(sys.path))
    shutil.copytree(native.SOURCES, tmp_path / "reading", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(native, "SOURCES", tmp_path / "reading")
    native.folder().mkdir(parents=True)
    path: list[str] = []
    assert native.attach(path)
    assert path == [str(native.folder() / "crawler" / "reading")]
    for name in (*(f"{module}.py" for module in native.MODULES), *native.TREES):
        source = tmp_path / "reading" / name
        kept = source.read_bytes()
        source.write_bytes(kept + b"\n")
        assert not native.attach([]), name
        source.write_bytes(kept)
        assert native.attach([]), name


def test_python_is_used_when_that_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(native.PURE, "1")
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    native.folder().mkdir(parents=True)
    assert not native.attach([])


@pytest.mark.parametrize("tag", ["div", "b", "x-y", "a", "ul><li", "font", "section><b"])
@pytest.mark.parametrize("times", [400, 511, 600, 40_000])
def test_E28_no_depth_of_a_tree_ends_the_process(tag: str, times: int) -> None:
    """Compiled code has no limit of its own to the depth of its calls; the text is there either way."""
    assert "kept" in page_text(f"<{tag}>" * times + "kept" + "<p>kept " * 50)
