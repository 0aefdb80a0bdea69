"""Of each box: the next larger box around it, its section, and what the names close around it say."""

from __future__ import annotations

from dataclasses import dataclass, field

from crawler.reading.boxes import Tree
from crawler.reading.regions import Regions

SECTION = 8
"""Blocks that make a section."""


@dataclass(slots=True)
class Places:
    """Found in one pass, parents before children."""

    tree: Tree
    outer: list[int] = field(default_factory=list)  # the innermost box around with more blocks
    section: list[int] = field(default_factory=list)  # the innermost box around (or at) with eight blocks
    near: list[int] = field(default_factory=list)  # marks of its own name and of the two boxes around it
    known: dict[int, tuple[float, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, tree: Tree) -> Places:
        """Find the places of all boxes."""
        out = cls(tree)
        outer, section, near, boxes = out.outer, out.section, out.near, tree.boxes
        two: list[int] = []  # marks of a box's own name and its parent's
        sizes = [box.end - box.start for box in boxes]
        for index, box in enumerate(boxes):
            parent, size, own = box.parent, sizes[index], box.own
            if parent < 0:
                outer.append(index)
                section.append(index)
                two.append(own)
                near.append(own)
                continue
            outer.append(parent if sizes[parent] > size else outer[parent])
            section.append(index if size >= SECTION else section[parent])
            two.append(own | boxes[parent].own)
            near.append(own | two[parent])
        return out

    def measured(self, index: int, regions: Regions) -> tuple[float, ...]:
        """Length, share of links, blocks, mean; and once more as a section: length, links, mean, share."""
        numbers = self.known.get(index)
        if numbers is None:
            box = self.tree.boxes[index]
            length = regions.of(box.start, box.end)
            count = max(1, box.end - box.start)
            linked = regions.links(box.start, box.end) / max(1, length)
            mean = length / count
            numbers = (length, linked, count, mean, length, linked, mean, length / regions.total)
            self.known[index] = numbers
        return numbers
