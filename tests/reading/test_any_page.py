"""Whatever a page holds, reading it gives clean values and never an error."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.reading.page import read_html

_TAGS = (
    "div", "p", "span", "a", "ul", "ol", "li", "table", "tr", "td", "th", "dl", "dt", "dd", "details", "summary",
    "h1", "h2", "h3", "form", "button", "nav", "main", "article", "aside", "footer", "noscript", "script", "style",
    "svg",
    "template", "select", "option", "textarea", "br", "img", "pre", "blockquote", "title", "head", "body", "html",
    "base", "meta", "link", "x-card", "sup", "caption",
)  # fmt: skip
_ATTRIBUTES = st.sampled_from(
    (
        "", " hidden", " class='faq accordion'", " id=x", " href='#x'", " href=/y rel=nofollow", " aria-controls=x",
        " role=dialog", " style='display: none'", " type=application/ld+json", " itemtype=https://schema.org/Question",
        " itemprop=acceptedAnswer", " colspan=9999999999", " colspan=-1", " lang=en", " name=robots content=noindex",
        " class", " role=heading aria-level=7",
    )
)  # fmt: skip
_TEXTS = st.one_of(
    st.text(max_size=20),
    st.sampled_from(("What is it?", "9:00-17:00", "€ 12,50", '{"@type": 1}', "SKU: A-123", "\x00", "[[[", "|")),
)  # fmt: skip


@st.composite
def _soup(draw: st.DrawFn) -> str:
    """Tags in any order, closed or not."""
    parts = []
    for _ in range(draw(st.integers(0, 40))):
        kind = draw(st.integers(0, 2))
        if kind == 0:
            parts.append(f"<{draw(st.sampled_from(_TAGS))}{draw(_ATTRIBUTES)}>")
        elif kind == 1:
            parts.append(f"</{draw(st.sampled_from(_TAGS))}>")
        else:
            parts.append(draw(_TEXTS))
    return "".join(parts)


@settings(max_examples=300, deadline=None)
@given(_soup())
def test_E28_any_soup_is_read(html: str) -> None:
    reading = read_html(html, "https://shop.example/a/b")
    assert "\x00" not in reading.markdown
    assert all(link.href.startswith(("https://", "http://")) for link in reading.links)
    assert all(pair.question and pair.answer and pair.id for pair in reading.pairs)
    assert len({pair.id for pair in reading.pairs}) == len(reading.pairs)
    assert read_html(html, "https://shop.example/a/b") == reading
