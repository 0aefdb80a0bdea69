"""Questions that a page already answers: where each kind is found, and what is none."""

from __future__ import annotations

import json

import pytest

from crawler.reading.page import page_pairs, read_html

URL = "https://shop.example/faq"
JSON_LD = {
    "@context": "https://schema.org",
    "@graph": [
        {
            "@type": "FAQPage",
            "mainEntity": [
                {
                    "@type": "Question",
                    "name": "Do you deliver?",
                    "acceptedAnswer": {"@type": "Answer", "text": "<p>Yes,&nbsp;to <b>Ely</b>.</p><p>Daily.</p>"},
                }
            ],
        }
    ],
}


def ld(value: object) -> str:
    return f'<script type="application/ld+json">{json.dumps(value)}</script>'


def test_E28_json_ld_pairs_come_first_and_their_markup_becomes_text() -> None:
    (pair,) = read_html(ld(JSON_LD), URL).pairs
    assert (pair.question, pair.answer, pair.source) == ("Do you deliver?", "Yes, to Ely.\nDaily.", "json-ld")


def test_E28_a_pair_in_markup_and_text_is_one_pair() -> None:
    page = ld(JSON_LD) + "<h1>FAQ</h1><details><summary>1. Do you deliver?</summary>Yes, to Ely.</details>"
    assert [pair.source for pair in read_html(page, URL).pairs] == ["json-ld"]


def test_E28_the_id_is_stable_for_page_and_question() -> None:
    one = read_html("<h1>FAQ</h1><details><summary>Do you deliver?</summary>Yes</details>", URL).pairs[0]
    two = read_html("<h1>FAQ</h1><details><summary>Do  you DELIVER ?</summary>Not now</details>", URL).pairs[0]
    elsewhere = read_html("<h1>FAQ</h1><details><summary>Do you deliver?</summary>Yes</details>", URL + "2").pairs[0]
    assert one.id == two.id != elsewhere.id


SHOWN = {
    "microdata": '<div itemscope itemtype="https://schema.org/Question">'
    '<h3 itemprop="name">Do you deliver?</h3>'
    '<div itemprop="acceptedAnswer" itemtype="https://schema.org/Answer"><p>Yes, daily.</p></div></div>',
    "details": "<details><summary>Do you deliver?</summary><p>Yes, daily.</p></details>",
    "dl": "<h2>Questions and answers</h2><dl><dt>Do you deliver?<dd>Yes, daily.</dl>",
    "panel": '<button aria-controls="a1">Do you deliver?</button><p>-</p>'
    '<div id="a1" aria-hidden="true">Yes, daily.</div>',
    "heading": "<h2>Frequently asked questions</h2><h3>Do you deliver?</h3><p>Yes, daily.</p>"
    "<h3>Who are you?</h3><p>We.</p>",
}  # fmt: skip


@pytest.mark.parametrize("source", SHOWN)
def test_E28_pairs_by_the_way_they_are_built(source: str) -> None:
    first = read_html(SHOWN[source], URL).pairs[0]
    assert (first.question, first.answer, first.source) == ("Do you deliver?", "Yes, daily.", source)


def test_E28_questions_and_answers_as_lines_of_a_paragraph() -> None:
    page = "<h2>FAQs</h2><p><b>Do you deliver?</b><br>Yes, daily.<br><b>Where to?</b><br>Ely.</p>"
    assert page_pairs(page) == [("Do you deliver?", "Yes, daily."), ("Where to?", "Ely.")]


@pytest.mark.parametrize(
    "page",
    [
        "<h2>Ready to get started?</h2><p>Talk to us.</p>",
        "<h2>What is a lathe?</h2><p>A machine.</p>",
        "<details><summary>Filter by colour</summary><p>Red</p></details>",
        "<h2>FAQ</h2><div class=login><h3>Forgot your password?</h3><p>Reset it here.</p></div>",
        "<h2>FAQ</h2><h3>Do you deliver?</h3>",
        "<details><summary>Which pages are there?</summary><a href=/a>One page</a> <a href=/b>Another</a></details>",
    ],
)
def test_E28_what_is_no_pair(page: str) -> None:
    assert page_pairs(page) == []


def test_E28_pairs_stand_in_the_text_too_though_they_are_closed() -> None:
    page = (
        "<main><p>" + "Our bread is baked at night. " * 30 + "</p></main>" + "<aside>" + SHOWN["details"] + "</aside>"
    )
    assert "Yes, daily." in read_html(page, URL).markdown
