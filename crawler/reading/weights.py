"""The learned part of the choice: decision trees over the numbers of `features`, from a table in this folder.

`weights.json` holds the trees as `[feature, threshold, at or below, above]`, leaves as numbers; their sum is
the log-odds that a block belongs to the page's own text. `tools/train.py` makes the table again. The trees
are compiled into one Python function when this module is loaded: walking them as data took three times the
time [measured], and a page has 300 blocks.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable
from math import floor
from pathlib import Path
from typing import cast

from crawler.reading import features

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


def _expression(node: Node) -> str:
    if not isinstance(node, list):
        return repr(float(node))
    feature = int(cast("float", node[0]))
    name, place = _test(feature)
    if name in "mn":
        return f"({_expression(node[3])} if {name} & {place} else {_expression(node[2])})"
    return _comparison(f"{name}{place}", features.NAMES[feature], *node[1:])


def _comparison(local: str, feature: str, threshold: Node, below: Node, above: Node) -> str:
    """The test of a number in its own type: an int against a float takes three times an int against an int."""
    limit = float(cast("float", threshold))
    if feature in features.FLAGS and 0 <= limit < 1:
        return f"({_expression(above)} if {local} else {_expression(below)})"
    bound = repr(floor(limit) if feature in features.WHOLE else limit)
    return f"({_expression(below)} if {local} <= {bound} else {_expression(above)})"


def _unpacked(name: str, size: int) -> str:
    """Locals instead of items: half the time of every comparison."""
    return ", ".join(f"{name}{place}" for place in range(size)) + f", = {name}"


def _compile(trees: list[Node]) -> Score:
    lines = ["def score(b, c, p, m, n):"]
    lines += ["    " + _unpacked("b", len(features.BLOCK_NAMES)), "    " + _unpacked("c", len(features.BOX_NAMES))]
    lines += ["    " + _unpacked("p", len(features.PAGE_NAMES)), "    s = 0.0"]
    for count, tree in enumerate(trees, 1):
        lines.append(f"    s += {_expression(tree)}")
        if count % SURE_AFTER == 0:
            lines.append(f"    if s > {SURE} or s < -{SURE}: return s")
    lines.append("    return s")
    names: dict[str, object] = {}
    exec("\n".join(lines), names)  # noqa: S102 - built from the numbers of our own table, nothing else
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
