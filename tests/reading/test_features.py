"""The numbers of a block, and the trees over them: compiled as they are written down."""

from __future__ import annotations

import pytest

from crawler.reading import COMPILED, features, weights
from crawler.reading.names import marks_of
from crawler.reading.page import Page, page_pairs

PAGE = (
    "<title>Lamps</title><nav class=site-nav><a href=/>Home</a><a href=/shop>Shop</a></nav><main><h1>Lamps</h1>"
    + "<div class=card><h2>Lamp</h2><p>It gives a warm light, and it costs little; it is made in Ely.</p>€ 12.50</div>" * 4
    + "<p>" + "A long paragraph, with commas, about lamps and what they are good for. " * 4 + "</p></main>"
    + "<h3>Related products</h3><ul><li>Chair<li>Table</ul><footer>Open from 9:00</footer>"
)  # fmt: skip
SHORT = "<h1>Lamps</h1><p>We sell lamps.</p>"


def _walked(tree: weights.Node, row: list[float]) -> float:
    while isinstance(tree, list):
        feature, threshold, below, above = tree
        assert not isinstance(feature, list)
        assert not isinstance(threshold, list)
        tree = below if row[int(feature)] <= threshold else above
    return tree


@pytest.mark.parametrize("html", [PAGE, SHORT])
def test_the_compiled_trees_say_what_the_table_says(html: str) -> None:
    choice = Page(html).choice
    for row in filter(None, choice.rows):
        numbers, (around, marks, near) = row
        total = 0.0
        for count, tree in enumerate(weights.TREES, 1):
            total += _walked(tree, features.flat(row, choice.page))
            if count % weights.SURE_AFTER == 0 and abs(total) > weights.SURE:
                break
        assert weights.score(numbers, around, choice.page, marks, near) == total


@pytest.mark.parametrize("html", [PAGE, SHORT])
def test_each_number_has_the_type_that_the_trees_compare_it_in(html: str) -> None:
    """Compiled, they may all be machine numbers; then what is called whole is whole."""
    choice = Page(html).choice
    for numbers, (around, *_) in filter(None, choice.rows):
        named = zip(
            features.BLOCK_NAMES + features.BOX_NAMES + features.PAGE_NAMES,
            (*numbers, *around, *choice.page),
            strict=True,
        )
        for name, value in named:
            if COMPILED and isinstance(value, float):
                assert value in (0.0, 1.0) or name not in features.FLAGS, name
                assert value.is_integer() or name not in features.WHOLE, name
                continue
            assert type(value) is bool or name not in features.FLAGS, name
            assert type(value) is int or name not in features.WHOLE, name


def test_names_are_read_word_by_word_and_two_words_as_one() -> None:
    assert marks_of("siteHeader") == marks_of("site-header") == marks_of("x1 Site_Header")
    assert marks_of("breadcrumb") == marks_of("bread-crumb") == marks_of("bread 7 crumb") != 0
    assert marks_of("qwertz") == marks_of("") == 0


def test_a_panel_is_found_by_its_id_alone() -> None:
    page = '<main><ul><li><a href="#one">Do you deliver to Ely?</a></ul><div id=one><p>Yes, twice a week.</p></div></main>'
    assert page_pairs(page) == [("Do you deliver to Ely?", "Yes, twice a week.")]
