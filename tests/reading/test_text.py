"""What is never lost from a page's text, what is dropped, and how it is written."""

from __future__ import annotations

import pytest

from crawler.reading.page import Page, page_text, read_html

PROSE = (
    "<p>"
    + "Our oak tables are made by hand in a small workshop near Ely, one at a time, and last for ever. " * 8
    + "</p>"
)
NAV = "<nav><ul><li><a href=/a>About the firm</a><li><a href=/b>All our news</a><li><a href=/c>Contact</a></ul></nav>"


def page(inside: str, outside: str = "") -> str:
    return f"<title>Oak table</title>{NAV}<main><h1>Oak table</h1>{PROSE}{inside}</main>{outside}"


KEPT = {
    "buy box": ("<form action=/cart><b>€ 249,00</b><button>Add to cart</button></form>", "249,00"),
    "declared price": (
        '<div>1 249</div><script type="application/ld+json">{"@type":"Product","offers":{"price":"1249.0"}}</script>',
        "1 249",
    ),
    "article number": ("<p>€ 5</p><div><span>Item #</span></div><div>OAK-77120</div>", "OAK-77120"),
    "closed details": ("<details><summary>How do I oil it?</summary><p>Once a year.</p></details>", "Once a year."),
    "panel": (
        "<h2>FAQ</h2><button aria-controls=p>Is it oiled?</button><div id=p aria-hidden=true>It is, twice.</div>",
        "It is, twice.",
    ),
    "collapsed": (
        '<div class="accordion"><h3>Care of the wood</h3><div class="collapse" style="display:none"><p>'
        + "Wipe it with a damp cloth and let it dry in the air before you put anything on it. " * 2
        + "</p></div></div>",
        "damp cloth",
    ),
    "table": (
        "<h2>Sizes</h2><table><tr><th>Size</th><th>Seats</th></tr><tr><td>180 cm</td><td>6</td></tr></table>",
        "| 180 cm | 6 |",
    ),
}


@pytest.mark.parametrize("name", KEPT)
def test_E28_never_lost(name: str) -> None:
    inside, wanted = KEPT[name]
    assert wanted in page_text(page(inside))


DROPPED = {
    "consent": ('<div id="onetrust-banner-sdk"><p>We value your privacy and use cookies.</p></div>', "privacy"),
    "dialog": ("<div role=dialog aria-modal=true><p>Win a voucher worth one hundred today!</p></div>", "voucher"),
    "share bar": ("<div class=social-share><a href=//x.example>Share on Ex</a> </div>", "Share on"),
    "related list": (
        "<section class=related><h2>You may also like</h2>"
        + "".join(f"<a href=/p{n}><h3>Pine bench {n}</h3></a>" for n in range(5))
        + "</section>",
        "Pine bench",
    ),
    "login": ("<div class=login-modal role=dialog><h2>Sign in</h2><p>Name and password</p></div>", "password"),
}  # fmt: skip


@pytest.mark.parametrize("name", DROPPED)
def test_E28_dropped(name: str) -> None:
    outside, unwanted = DROPPED[name]
    text = page_text(page("", outside))
    assert unwanted not in text
    assert "All our news" not in text
    assert "by hand" in text


def test_E28_address_and_hours_around_the_text_are_handed_to_the_site() -> None:
    reading = read_html(
        page("", "<footer><address>1 Mill Lane, Ely CB7</address><p>Mo-Fr 9:00-17:00</p></footer>"),
        "https://a.example/",
    )
    assert {"1 Mill Lane, Ely CB7", "Mo-Fr 9:00-17:00"} <= set(reading.frame)
    assert "All our news" in reading.menu


def test_E28_a_forum_that_stands_in_noscript_alone_is_read() -> None:
    html = f"<div id=app>Loading</div><noscript><h1>Oak or ash?</h1>{PROSE}</noscript>"
    assert "by hand" in page_text(html)
    assert "Turn on" not in page_text(page("", "<noscript>Turn on JavaScript</noscript>"))


def test_E28_a_shell_is_read_from_what_it_declares() -> None:
    data = '{"@type":"Article","headline":"Oak","articleBody":"Oak lasts."}'
    html = f'<div id=root></div><script type="application/ld+json">{data}</script>'
    assert page_text(html) == "Oak\n\nOak lasts."


def test_every_block_has_a_reason() -> None:
    found = Page(page("<form>€ 249,00</form>", DROPPED["dialog"][0]))
    reasons = [found.choice.reason(index) for index in range(len(found.tree.blocks))]
    assert "dialog" in reasons
    assert "menu" in reasons
    assert any("score" in reason for reason in reasons)


MARKDOWN = {
    "heading by role": ("<div role=heading aria-level=2>Hours</div>", "## Hours"),
    "list in a list": ("<ol><li>one<ul><li>a</li></ul></li><li>two</li></ol>", "- one\n  - a\n- two"),
    "term and definition": ("<dl><dt>Hours</dt><dd>9-17</dd><dt>Phone</dt><dd>1</dd></dl>", "Hours: 9-17\nPhone: 1"),
    "spanning cell": (
        "<table><tr><th colspan=2>Day</th></tr><tr><td>Mo</td><td>9|17</td></tr></table>",
        "| Day |  |\n| --- | --- |\n| Mo | 9\\|17 |",
    ),
    "layout table": ("<table><tr><td>Welcome</td></tr><tr><td>to Ely</td></tr></table>", "Welcome\n\nto Ely"),
    "preformatted": ("<pre>a\n  b</pre>", "```\na\n  b\n```"),
    "line breaks": ("<p>1 Mill Lane<br>Ely</p>", "1 Mill Lane\nEly"),
    "link as text": ('<p>See <a href="/x">the list</a>.</p>', "See the list."),
    "address in a link": ('<p><a href="tel:+441353000000">Call us</a></p>', "Call us (+441353000000)"),
    "raised cents": ("<p>$63<sup>07</sup></p>", "$63 07"),
    "row of links": ("<div><a href=/a>Home</a><a href=/b>News</a></div>", "Home News"),
    "quotation": ("<blockquote><p>Fine bread</p></blockquote>", "> Fine bread"),
}


@pytest.mark.parametrize("name", MARKDOWN)
def test_E28_markdown(name: str) -> None:
    html, wanted = MARKDOWN[name]
    assert page_text(f"<body>{html}") == wanted


@pytest.mark.parametrize(
    ("href", "target"),
    [
        ("../c?d=1#e", "https://a.example/c?d=1#e"),
        ("//b.example/x", "https://b.example/x"),
        ("mailto:a@b.example", None),
        ("javascript:void(0)", None),
        ("#top", None),
        ("http://[", None),
        ("  ", None),
        (" HTTPS://B.example/ ", "https://b.example/"),
    ],
)
def test_W07_links_are_resolved_or_left_out(href: str, target: str | None) -> None:
    found = read_html(f'<a href="{href}">x</a>', "https://a.example/a/b").links
    assert [link.href for link in found] == ([target] if target else [])


def test_W07_a_link_is_nofollow_when_all_its_anchors_are() -> None:
    html = '<a rel="nofollow" href=/a>a</a><a href=/a>a</a><a rel="noopener NOFOLLOW" href=/b>b</a><area href=/c>'
    found = read_html(html, "https://a.example/").links
    assert [(link.href[-1], link.nofollow) for link in found] == [("a", False), ("b", True), ("c", False)]


def test_C09_a_directive_counts_wherever_it_stands() -> None:
    html = (
        "<meta name=robots content=index><body><p>x</p><meta name=CertantBot content=noindex>"
        "<template><meta name=robots content=none></template>"
    )
    assert read_html(html, "https://a.example/").metas == (("robots", "index"), ("certantbot", "noindex"))
