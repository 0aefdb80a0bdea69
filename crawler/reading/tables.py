"""Tables: which ones hold data, and their rows as Markdown (E28).

A layout table (one cell a row, tables inside, cells full of paragraphs) is not a table to a reader: its
blocks are written as paragraphs.
"""

from __future__ import annotations

from crawler.reading.boxes import Tree

MAX_CELL = 400
"""Characters of a cell: a longer one means that the table holds paragraphs."""
MAX_SPAN = 50
MAX_TABLES = 500


def tables_of(tree: Tree) -> dict[int, int]:
    """First block of each data table -> its box. Asked by the choice and by the Markdown, found once."""
    if tree.tables is None:
        tree.tables = _data_tables(tree)
    return tree.tables


def _data_tables(tree: Tree) -> dict[int, int]:
    boxes = tree.boxes
    tables = [i for i, box in enumerate(boxes) if box.tag == "table" and box.end > box.start][:MAX_TABLES]
    outer = {o for i in tables for o in tree.parents(boxes[i].parent) if boxes[o].tag == "table"}
    return {boxes[i].start: i for i in tables if i not in outer and _is_data(tree, i)}


def _is_data(tree: Tree, table: int) -> bool:
    rows = _rows(tree, table)
    if len(rows) < 2 or max(len(row) for row in rows) < 2:
        return False
    lengths = [len(_cell_text(tree, cell)) for row in rows for cell in row]
    wide = sum(len(row) > 1 for row in rows)
    return max(lengths) <= MAX_CELL and wide * 2 >= len(rows)


def _rows(tree: Tree, table: int) -> list[list[int]]:
    """The boxes of the cells, row by row."""
    rows: list[list[int]] = []
    boxes = tree.boxes
    index = table + 1
    while index < len(boxes) and boxes[index].depth > boxes[table].depth:
        if boxes[index].tag == "tr":
            rows.append([])
        elif boxes[index].tag in ("td", "th") and rows:
            rows[-1].append(index)
        index += 1
    return [row for row in rows if row]


def _cell_text(tree: Tree, cell: int) -> str:
    box = tree.boxes[cell]
    return " ".join(" ".join(block.text.split()) for block in tree.blocks[box.start : box.end])


def table_rows(tree: Tree, table: int, wanted: set[int]) -> list[str]:
    """The table as Markdown lines; cells that span columns are followed by empty ones."""
    lines: list[list[str]] = []
    box = tree.boxes[table]
    captions = [i for i in range(box.start, box.end) if tree.blocks[i].kind == "caption" and i in wanted]
    for row in _rows(tree, table):
        cells: list[str] = []
        for cell in row:
            cells.append(_cell_text(tree, cell).replace("|", "\\|"))
            cells.extend([""] * (_span(tree.boxes[cell].attributes) - 1))
        if any(cells):
            lines.append(cells)
    width = max(len(cells) for cells in lines)
    text = ["| " + " | ".join(cells + [""] * (width - len(cells))) + " |" for cells in lines]
    head = [tree.blocks[i].text for i in captions]
    return [*head, text[0], "|" + " --- |" * width, *text[1:]]


def _span(attributes: dict[str, str | None]) -> int:
    span = attributes.get("colspan") or "1"
    return min(int(span), MAX_SPAN) if span.isdecimal() and int(span) > 0 else 1
