"""FAQPage and QAPage in microdata: itemtype Question with itemprop name, text and an Answer."""

from __future__ import annotations

from crawler.reading.boxes import Tree


def questions(tree: Tree) -> list[tuple[str, str]]:
    """(question, answer) of every Question item of the page."""
    out = []
    for index, box in enumerate(tree.boxes):
        if "schema.org/Question" in (box.attributes.get("itemtype") or ""):
            answer = _first(tree, index, _is_answer)
            if answer is None:
                continue
            start, end = answer
            name = _first(tree, index, _is_name) or (box.start, start)
            name = (name[0], min(name[1], start)) if name[0] < start else name
            pair = (_text(tree, *name, " "), _text(tree, start, end, "\n"))
            if all(pair):
                out.append(pair)
    return out


def _first(tree: Tree, around: int, wanted: object) -> tuple[int, int] | None:
    box = tree.boxes[around]
    index = around + 1
    while index < len(tree.boxes) and tree.boxes[index].depth > box.depth:
        inner = tree.boxes[index]
        if callable(wanted) and wanted(inner.attributes) and inner.end > inner.start:
            return inner.start, inner.end
        index += 1
    return None


def _is_answer(attributes: dict[str, str | None]) -> bool:
    itemtype, itemprop = attributes.get("itemtype") or "", attributes.get("itemprop") or ""
    return "schema.org/Answer" in itemtype or "acceptedAnswer" in itemprop or "suggestedAnswer" in itemprop


def _is_name(attributes: dict[str, str | None]) -> bool:
    return (attributes.get("itemprop") or "") == "name"


def _text(tree: Tree, start: int, end: int, glue: str) -> str:
    return glue.join(block.text for block in tree.blocks[start:end])
