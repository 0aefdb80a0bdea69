"""What the origin serves: sites that prove themselves in each way, and one that never does."""

from __future__ import annotations

from tests.house.house import token_of
from tests.support.origin import Answer, Asked

TOKEN_FILE = "/.well-known/ema-site-verification.txt"
TEXT = {"Content-Type": "text/plain"}
HTML = {"Content-Type": "text/html; charset=utf-8"}


def serve(asked: Asked) -> Answer:
    """Any site by its name: `meta.example` has a meta, `closed*` a robots.txt that fails, `bare*` nothing."""
    name = asked.site
    if asked.target == "/robots.txt":
        return (503, TEXT, b"") if name.startswith("closed") else (404, TEXT, b"")
    if asked.target == TOKEN_FILE:
        proved = not name.startswith(("bare", "meta", "dns"))
        return (200, TEXT, token_of(name).encode()) if proved else (404, TEXT, b"")
    if asked.target not in ("/", "/hours", "/faq"):
        return 404, HTML, b"<p>There is no such page here.</p>"
    head = f'<meta name="ema-site-verification" content="{token_of(name)}">' if name == "meta.example" else ""
    said = f"What {name} says at {asked.target}: we are open from nine to five, and on Saturdays until noon. " * 2
    said += f"Whoever writes to {name} before noon has an answer the same day, and a parcel two days after that."
    links = "<a href='/hours'>Opening hours</a> <a href='/faq'>Questions</a>"
    body = f"<html><head><title>{name}{asked.target}</title>{head}</head><body><main><p>{said}</p>{links}</main>"
    return 200, HTML, body.encode()
