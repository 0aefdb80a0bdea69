"""Boxes that are alike (cards, rows, posts), and the box that holds most of the running text."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from crawler.reading.boxes import Tree
from crawler.reading.regions import Regions

LEAST = 3
"""Three boxes of one tag and class under one parent are a group."""
_NOTHING = (0, 0.0, 0, 0.0)


@dataclass(slots=True)
class Groups:
    """Of each box: how many are like it or like the nearest grouped box around it."""

    alike: list[int]
    card: list[int]  # the nearest box around (or at) the box which belongs to a group, -1 without
    group: list[int]  # the first box of the same tag and class under the same parent: the group's name
    sums: dict[int, list[int]] = field(default_factory=dict)  # characters, boxes
    lengths: list[int] = field(default_factory=list)
    total: int = 1

    @classmethod
    def of(cls, tree: Tree, regions: Regions) -> Groups:
        """Find the groups of a page."""
        boxes = tree.boxes
        first: dict[tuple[int, str, str], int] = {}
        groups = [first.setdefault((box.parent, box.tag, box.name), index) for index, box in enumerate(boxes)]
        counts = Counter(groups)
        chars = regions.chars
        lengths = [chars[box.end] - chars[box.start] for box in boxes]
        alike: list[int] = []
        card: list[int] = []
        sums: dict[int, list[int]] = {}
        for index, (group, length) in enumerate(zip(groups, lengths, strict=True)):
            own = counts[group]
            if own >= LEAST and length:
                total = sums.setdefault(group, [0, 0])
                total[0] += length
                total[1] += 1
                alike.append(own)
                card.append(index)
            else:
                parent = boxes[index].parent
                alike.append(alike[parent] if parent >= 0 else 1)
                card.append(card[parent] if parent >= 0 else -1)
        return cls(alike, card, groups, sums, lengths, regions.total)

    def numbers(self, index: int) -> tuple[float, float, float, float]:
        """Length of the card around a box, the group's share of the page, its cards, their mean length."""
        card = self.card[index]
        if card < 0:
            return _NOTHING
        chars, count = self.sums[self.group[card]]
        return self.lengths[card], chars / self.total, count, chars / count


def best_box(tree: Tree, longs: list[int]) -> tuple[int, int]:
    """The blocks of the box with most running text, (0, 0) without any.

    A paragraph counts for the box that holds it and its parent in full, for the next in part: so the box
    that holds all paragraphs wins over one paragraph's wrapper, and over the body.
    """
    boxes, blocks = tree.boxes, tree.blocks
    score: dict[int, float] = {}
    for index in longs:
        length = float(len(blocks[index].text))
        box = blocks[index].box
        for weight in (1.0, 1.0, 0.6):
            if box < 0:
                break
            score[box] = score.get(box, 0.0) + weight * length
            box = boxes[box].parent
    if not score:
        return 0, 0
    best = max(score, key=lambda box: (score[box], box))
    return boxes[best].start, boxes[best].end
