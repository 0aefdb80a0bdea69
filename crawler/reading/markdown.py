"""Blocks to Markdown: headings, lists, tables with headers, `term: definition`; links as text (E28)."""

from __future__ import annotations

from collections.abc import Iterable

from crawler.reading.boxes import Block, Tree
from crawler.reading.tables import table_rows, tables_of

_TIGHT = frozenset(("li", "row", "dd", "dt"))
_TERMS = {"dt", "dd"}


def markdown(tree: Tree, kept: Iterable[int]) -> str:
    """The kept blocks, in order, as Markdown."""
    wanted = list(kept)
    chosen = set(wanted)
    tables = tables_of(tree)
    out: list[tuple[str, str]] = []
    done = -1
    for index in wanted:
        if index < done:
            continue
        table = tables.get(index)
        if table is not None:
            rows = table_rows(tree, table, chosen)
            out.extend(("row", row) for row in rows)
            done = tree.boxes[table].end
        else:
            out.append((tree.blocks[index].kind, line(tree, index)))
    return _joined(out)


def line(tree: Tree, index: int) -> str:
    """One block as Markdown."""
    block = tree.blocks[index]
    text = block.text
    kind = block.kind
    if kind in ("h1", "h2", "h3", "h4", "h5", "h6"):
        return f"{'#' * int(kind[1])} {' '.join(text.split())}"
    if kind == "pre":
        return f"```\n{text}\n```"
    if kind == "li":
        return _item(tree, block, index)
    if kind == "dd":
        return f": {text}"
    if kind == "blockquote":
        return "> " + text.replace("\n", "\n> ")
    return text


def _item(tree: Tree, block: Block, index: int) -> str:
    """A list item: marked where its text begins, indented by the lists around it."""
    box = tree.boxes[block.box].kind_box
    depth = -1
    for outer in tree.parents(box):
        depth += tree.boxes[outer].tag in ("ul", "ol", "menu")
    indent = "  " * min(max(depth, 0), 6)
    mark = "- " if tree.boxes[box].start == index else "  "
    return f"{indent}{mark}" + block.text.replace("\n", f"\n{indent}  ")


def _joined(lines: list[tuple[str, str]]) -> str:
    """Lines with a blank one between paragraphs; `term: definition` on one line."""
    out: list[str] = []
    last = ""
    for kind, text in lines:
        if kind == "dd" and last == "dt" and len(out[-1]) < 200:
            out[-1] += text if text.startswith(":") else f": {text}"
        else:
            if out and not (kind in _TIGHT and (kind == last or {kind, last} == _TERMS)):
                out.append("")
            out.append(text)
        last = kind
    return "\n".join(out)
