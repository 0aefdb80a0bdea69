"""The schema.org objects on the sample shop's pages, as JSON-LD."""

from __future__ import annotations

import json
from typing import Any

from demo.content import Page, Shop

_SCHEMA = "https://schema.org"


def linked_data(shop: Shop, page: Page) -> list[dict[str, Any]]:
    """The schema.org objects of a page: the shop, a product with its offers, or the questions."""
    found = []
    if page.meta.get("business"):
        found.append(_business(shop))
    if "product" in page.meta:
        found.append(_offers(shop, page))
    if page.meta.get("faq_markup"):
        found.append(_faq_page(page.meta["faq"]))
    return found


def script(data: dict[str, Any]) -> str:
    """One JSON-LD object in a script element; `<` is escaped so that no text can end the element."""
    text = json.dumps({"@context": _SCHEMA, **data}, ensure_ascii=False, indent=1).replace("<", "\\u003c")
    return f'<script type="application/ld+json">\n{text}\n</script>\n'


def _business(shop: Shop) -> dict[str, Any]:
    facts = shop.facts
    week = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday"]
    times = [(week, "09:00", "13:00"), (week, "16:00", "19:30"), (["Saturday"], "09:00", "13:00")]
    return {
        "@type": "LocalBusiness",
        "name": facts["name"],
        "url": f"https://{facts['host']}/",
        "telephone": facts["phone"],
        "email": facts["email"],
        "vatID": facts["vat"],
        "address": {
            "@type": "PostalAddress",
            "streetAddress": facts["street"],
            "postalCode": facts["postcode"],
            "addressLocality": facts["town"],
            "addressRegion": facts["province"],
            "addressCountry": "IT",
        },
        "openingHoursSpecification": [
            {"@type": "OpeningHoursSpecification", "dayOfWeek": days, "opens": start, "closes": end}
            for days, start, end in times
        ],
    }


def _offers(shop: Shop, page: Page) -> dict[str, Any]:
    item, base = page.meta["product"], f"https://{shop.facts['host']}"
    return {
        "@type": "Product",
        "name": page.title,
        "description": page.description,
        "sku": item["sizes"][0][0],
        "image": f"{base}/img/{item['image']}.svg",
        "brand": {"@type": "Brand", "name": shop.facts["name"]},
        "offers": [
            {"@type": "Offer", "sku": code, "price": f"{price:.2f}", "priceCurrency": "EUR"}
            for code, _, _, price in item["sizes"]
        ],
    }


def _faq_page(faq: dict[str, Any]) -> dict[str, Any]:
    items = [item for group in faq["groups"] for item in group["items"]]
    return {
        "@type": "FAQPage",
        "mainEntity": [
            {"@type": "Question", "name": item["q"], "acceptedAnswer": {"@type": "Answer", "text": item["a"]}}
            for item in items
        ],
    }
