"""The learned part of the choice: decision trees over the numbers of `features`, from a table in this folder.

`weights.json` holds the trees as `[feature, threshold, at or below, above]`, leaves as numbers; their sum is
the log-odds that a block belongs to the page's own text. `tools/train.py` makes the table again. The trees
are written as one function: walking them as data took three times the time [measured], and a page has 300 blocks.
`tools/native.py` compiles it to machine code; without that it is compiled as Python when this module is loaded.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Container
from importlib import import_module
from math import floor
from pathlib import Path
from typing import cast

from crawler.reading import COMPILED, features

Node = float | list["Node"]
Score = Callable[[tuple[float, ...], tuple[float, ...], tuple[float, ...], int, int], float]

SURE = 3.5
"""Log-odds (97 %) at which the trees that are left are not asked; looked at after every so many trees."""
SURE_AFTER = 6
TABLE = Path(__file__).with_name("weights.json")


def _load() -> list[Node]:
    table = json.loads(TABLE.read_text(encoding="utf-8"))
    if table["features"] != list(features.NAMES):
        raise ValueError("weights.json was learned from other features: run tools/train.py")
    return cast("list[Node]", table["trees"])


def _test(feature: int) -> tuple[str, int]:
    """The name that holds a feature in the compiled function, and its place or its bit."""
    for name, size in (("b", len(features.BLOCK_NAMES)), ("c", len(features.BOX_NAMES))):
        if feature < size:
            return name, feature
        feature -= size
    for name, bits in (("m", features.MARKS), ("n", features.NEAR)):
        if feature < len(bits):
            return name, bits[feature]
        feature -= len(bits)
    return "p", feature


def _expression(node: Node, whole: Container[str]) -> str:
    if not isinstance(node, list):
        return repr(float(node))
    feature = int(cast("float", node[0]))
    name, place = _test(feature)
    if name in "mn":
        return f"({_expression(node[3], whole)} if {name} & {place} else {_expression(node[2], whole)})"
    limit = float(cast("float", node[1]))
    below, above = _expression(node[2], whole), _expression(node[3], whole)
    if features.NAMES[feature] in features.FLAGS and 0 <= limit < 1:
        return f"({above} if {name}{place} else {below})"
    bound = repr(floor(limit) if features.NAMES[feature] in whole else limit)
    return f"({below} if {name}{place} <= {bound} else {above})"


def _unpacked(name: str, size: int) -> list[str]:
    """Locals instead of items: half the time of every comparison."""
    return [", ".join(f"{name}{place}" for place in range(size)) + f", = {name}"]


def _unpacked_typed(name: str, size: int) -> list[str]:
    """Machine numbers of their own: half a microsecond for all of them."""
    return [f"{name}{place}: float = {name}[{place}]" for place in range(size)]


def source(trees: list[Node], *, typed: bool = False) -> str:
    """A module with the function `score`; `typed`, for mypyc, has a machine number for each feature.

    Else an int is compared as an int: against a float it takes three times the time.
    """
    whole: Container[str] = () if typed else features.WHOLE
    rows = "tuple[float, ...]"
    lines = [f"def score(b: {rows}, c: {rows}, p: {rows}, m: int, n: int) -> float:"]
    unpacked = _unpacked_typed if typed else _unpacked
    for name, names in (("b", features.BLOCK_NAMES), ("c", features.BOX_NAMES), ("p", features.PAGE_NAMES)):
        lines += [f"    {line}" for line in unpacked(name, len(names))]
    lines.append("    s = 0.0")
    for count, tree in enumerate(trees, 1):
        lines.append(f"    s += {_expression(tree, whole)}")
        if count % SURE_AFTER == 0:
            lines.append(f"    if s > {SURE} or s < -{SURE}: return s")
    return "\n".join([*lines, "    return s", ""])


def _compile(trees: list[Node]) -> Score:
    if COMPILED:
        return cast("Score", import_module("crawler.reading.trees").score)
    names: dict[str, object] = {}
    exec(source(trees), names)  # noqa: S102 - built from the numbers of our own table, nothing else
    return cast("Score", names["score"])


TREES = _load()
score: Score = _compile(TREES)


def reasons(row: list[float], most: int = 3) -> list[tuple[str, float]]:
    """Which features moved a block's score most, and by how much: the steps down every tree, summed."""
    moved: defaultdict[int, float] = defaultdict(float)
    for tree in TREES:
        node = tree
        while isinstance(node, list):
            feature, threshold, below, above = node
            index = int(cast("float", feature))
            chosen = below if row[index] <= cast("float", threshold) else above
            moved[index] += _mean(chosen) - _mean(node)
            node = chosen
    ranked = sorted(moved.items(), key=lambda item: -abs(item[1]))
    return [(features.NAMES[index], round(change, 2)) for index, change in ranked[:most]]


def _mean(node: Node) -> float:
    if not isinstance(node, list):
        return node
    return (_mean(node[2]) + _mean(node[3])) / 2
