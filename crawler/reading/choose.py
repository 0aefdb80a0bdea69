"""Which blocks are the page's own text: learned scores, and rules for what must never be lost or kept.

The scores decide between text and frame; the rules hold whatever the scores say. Every drop has a reason
that `licet read --explain` prints.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import accumulate
from math import exp
from operator import add, mul

from crawler.reading import weights
from crawler.reading.boxes import Tree
from crawler.reading.features import Row, flat, rows
from crawler.reading.regions import Regions
from crawler.reading.rules import forbidden, own_tables, protected

LEAN = 0.97
"""The best threshold for F1 is half the best F1 that can be expected of a page; a little lower keeps more."""
DROPPED = -4.0
"""The log-odds of a block that a rule dropped, for its neighbours."""
TABLE = 0.5
"""Of the threshold: tables of the page's own part score low, because most tables on the web are furniture."""
SMALL = 500
"""Characters of a page below which it is kept whole, but for what a rule drops: there is little to tell by."""
_OWN, _NEIGHBOURS = 0.7, 0.3
_CAP = 30


@dataclass(slots=True)
class Choice:
    """The kept blocks in order, and of every block why."""

    kept: list[int]
    scores: list[float]
    threshold: float
    ruled: dict[int, str] = field(default_factory=dict)  # block -> the rule that decided it
    rows: list[Row | None] = field(default_factory=list)
    page: tuple[float, ...] = ()

    def reason(self, index: int) -> str:
        """Why a block was kept or dropped."""
        if index in self.ruled:
            return self.ruled[index]
        row = self.rows[index]
        if row is None:
            return "dropped by rule"
        moved = weights.reasons(flat(row, self.page))
        told = ", ".join(f"{name} {change:+.1f}" for name, change in moved)
        return f"score {self.scores[index]:.2f} against {self.threshold:.2f}: {told}"


def choose(tree: Tree, regions: Regions, answers: set[int]) -> Choice:
    """Choose the page's text; `answers` are blocks of pairs, which are kept."""
    never = forbidden(tree, regions)
    found, page = rows(tree, regions, never)
    lengths = [block.text.count(" ") + 1 for block in tree.blocks]
    score = weights.score
    raw = [score(row[0], row[1][0], page, row[1][1], row[1][2]) if row else DROPPED for row in found]
    scores = [1 / (1 + exp(-value)) for value in smoothed(raw, lengths)]
    threshold = expected_best(scores, lengths)
    choice = Choice([], scores, threshold, rows=found, page=page)
    _lift_tables(scores, own_tables(tree, regions), threshold)
    small = regions.total < SMALL
    always = protected(tree, regions, answers)
    for index, value in enumerate(scores):
        if (reason := never.get(index)) is not None:
            choice.ruled[index] = reason
        elif small:
            choice.ruled[index] = "a short page is kept whole"
            choice.kept.append(index)
        elif (reason := always.get(index)) is not None and value <= threshold:
            choice.ruled[index] = reason
            choice.kept.append(index)
        elif value > threshold:
            choice.kept.append(index)
    return choice


def _lift_tables(scores: list[float], tables: list[tuple[int, int]], threshold: float) -> None:
    """A data table of the main part is kept whole when its best row is anywhere near the threshold."""
    for start, end in tables:
        if max(scores[start:end]) > TABLE * threshold:
            scores[start:end] = [max(score, threshold + 1e-6) for score in scores[start:end]]


def smoothed(raw: list[float], lengths: list[int]) -> list[float]:
    """Each block's log-odds drawn towards those of its neighbours, long ones counting more."""
    if len(raw) < 3:
        return raw
    weight = [_CAP if length >= _CAP else length or 1 for length in lengths]
    weighted = list(map(mul, raw, weight))
    totals = map(add, map(add, weighted, weighted[1:]), weighted[2:])
    sizes = map(add, map(add, weight, weight[1:]), weight[2:])
    drawn = zip(raw[1:], totals, sizes, strict=False)
    inner = [_OWN * value + _NEIGHBOURS * total / size for value, total, size in drawn]
    return [raw[0], *inner, raw[-1]]


def expected_best(scores: list[float], lengths: list[int]) -> float:
    """The threshold which keeps the best expected F1 of this page.

    With probabilities p and sizes n, keeping the set S promises 2 sum_S(pn) / (sum_S(n) + sum(pn)); the best
    S holds exactly the blocks with p above half of that value, so one pass over the sorted blocks finds it.
    """
    expected = sum(map(mul, scores, lengths))
    ordered = sorted(zip(scores, lengths, strict=True), reverse=True)
    kept = accumulate([score * length for score, length in ordered])
    sizes = accumulate([length for _, length in ordered])
    best = max([2 * part / (size + expected) for part, size in zip(kept, sizes, strict=True) if size], default=0.0)
    return best / 2 * LEAN
