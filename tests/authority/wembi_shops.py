"""What the origin serves to WembiBot: a shop whose pages have validators, and one that is busy for an hour."""

from __future__ import annotations

from tests.support.origin import Answer, Asked

KEPT, BUSY = "kept.example", "busy.example"
LINKS = {"/": ("/hours", "/faq"), "/hours": (), "/faq": ("/hours",)}
BESIDE = ("/robots.txt", "/sitemap.xml", "/llms.txt")
HTML = {"Content-Type": "text/html; charset=utf-8"}


def tag(target: str) -> str:
    """A weak tag for each page, as servers give that compress."""
    return f'W/"{len(target)}-{target.strip("/") or "home"}"'


def serve(asked: Asked) -> Answer:
    """Nothing beside the pages; a page that is known already costs a 304 (RFC 9110 13.1.2)."""
    if asked.target in BESIDE:
        return 404, HTML, b"<p>There is no such page here.</p>"
    if asked.site == BUSY:
        return 503, {**HTML, "Retry-After": "3600"}, b"<p>Come again in an hour.</p>"
    if asked.target not in LINKS:
        return 404, HTML, b"<p>There is no such page here.</p>"
    if asked.header("If-None-Match") == tag(asked.target):
        return 304, {"ETag": tag(asked.target)}, b""
    links = "".join(f'<a href="{link}">{link}</a> ' for link in LINKS[asked.target])
    said = (
        f"What {asked.site} says at {asked.target}: we are open from nine to five, and on Saturdays until noon. " * 2
    )
    said += f"Whoever asks about {asked.target} has an answer the same day, and a parcel two days after that."
    body = f"<html><head><title>{asked.target}</title></head><body><main><p>{said}</p>{links}</main></body></html>"
    return 200, {**HTML, "ETag": tag(asked.target)}, body.encode()
