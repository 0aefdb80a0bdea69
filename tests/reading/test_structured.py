"""JSON-LD: read leniently, kept apart from the text."""

from __future__ import annotations

import json

import pytest

from crawler.reading.page import read_html
from crawler.reading.structured import facts, objects

SHOP = {
    "@context": "https://schema.org",
    "@type": "Bakery",
    "name": "Crumb &amp; Co",
    "telephone": "+44 1353 000000",
    "image": "x.jpg",
    "openingHoursSpecification": [{"@type": "OpeningHoursSpecification", "opens": "09:00", "closes": "17:00"}],
    "address": {"@type": "PostalAddress", "addressLocality": "Ely"},
}


def test_E28_facts_are_kept_apart_each_once() -> None:
    reading = read_html(
        f'<p>Hello</p><script type="application/ld+json">{json.dumps([SHOP, SHOP])}</script>', "https://a.example/"
    )
    (fact,) = reading.facts
    assert fact["name"] == "Crumb & Co"
    assert fact["openingHoursSpecification"] == [
        {"@type": "OpeningHoursSpecification", "opens": "09:00", "closes": "17:00"}
    ]
    assert "image" not in fact
    assert "1353" not in reading.markdown


@pytest.mark.parametrize(
    "written",
    [
        '<!-- {"@type": "Product", "sku": "a1",} -->',
        '//<![CDATA[\n{"@type": ["Product"], "sku": "a1"}\n//]]>',
        '{"@type": "https://schema.org/Product", "sku": "a1", "name": "two\nlines"}',
        '{"@graph": [{"@type": "WebPage", "mainEntity": {"@type": "Product", "sku": "a1"}}]}',
    ],
)
def test_json_ld_as_plugins_write_it(written: str) -> None:
    assert [fact.get("sku") for fact in facts(objects([written]))] == ["a1"]


def test_nonsense_is_left_out() -> None:
    assert objects(["", "{", "[1, 2", "null", "[" * 100_000]) == []
    assert facts(objects(['{"@type": "Product", "price": NaN, "offers": {"price": 1e400}}'])) == ()
