"""Questions and answers that a page shows: `details`, `dl`, controls with panels, questions as headings.

What looks like a question is common; what makes it a pair is its surroundings: a name or heading that
promises questions, or neighbours of the same build that are questions too.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

from crawler.reading.boxes import Box, Mark, Tree
from crawler.reading.questions import ENDS, could_be_question, is_call, is_question, promises_questions
from crawler.reading.regions import Regions

_REFUSED = int(Mark.CONSENT | Mark.LOGIN | Mark.BREADCRUMB | Mark.SHARE | Mark.COMMENT)
# In these a question is an answer's title only when something promises questions: filters are called
# `accordion` too, and an accordion's panels `drawer`.
_DOUBTFUL = int(Mark.NAV | Mark.FILTER | Mark.FORM | Mark.DIALOG | Mark.RELATED | Mark.FOOTER)
_NAMED = re.compile(
    r"(?<![a-z])faqs?(?![a-z])|faq[-_]|frequently|q-?(?:and|n|&)-?a(?![a-z])|questions?[-_ ]?(?:answer|list|and)"
)
_LEVELS = {f"h{n}": n for n in range(1, 7)}
_TITLED = frozenset((*_LEVELS, "button"))
_MOST_LINKS = 0.7
_ALL_LINKS = 0.9
"""An answer that is links alone is a list of other threads: forums head theirs `Hot network questions`."""
_LONGEST_ANSWER = 6_000
_SHORTEST_ANSWER = 2
_MAJORITY = 0.6


@dataclass(frozen=True, slots=True)
class Shown:
    """A pair that a page shows, and the blocks that hold it."""

    source: str
    question: str
    answer: str
    blocks: tuple[int, ...]


@dataclass(slots=True)
class Candidate:
    """A question (blocks `start` to `end`) and its answer (blocks `end` to `stop`)."""

    source: str
    start: int
    end: int
    stop: int
    group: Hashable  # candidates of one group were built alike
    text: str = ""
    answer: int = -1  # where the answer starts; `end` unless a panel stands elsewhere


def shown_pairs(tree: Tree, regions: Regions) -> Iterator[Shown]:
    """The pairs that a page shows, the most explicit build first; no block answers two questions."""
    context = _Context(tree)
    taken: set[int] = set()
    for index, block in enumerate(tree.blocks):
        if "\n" in block.text and "?" in block.text and context.promises(index):
            for question, answer in _lines(block.text):
                taken.add(index)
                yield Shown("heading", question, answer, (index,))
    for finder in _finders(tree):
        found = [candidate for candidate in finder(tree) if _readable(tree, regions, candidate)]
        for candidate in _accepted(found, context):
            if candidate.start not in taken and candidate.answer not in taken:
                held = (*range(candidate.start, candidate.end), *range(candidate.answer, candidate.stop))
                taken.update(held)
                answer = "\n".join(block.text for block in tree.blocks[candidate.answer : candidate.stop])
                yield Shown(candidate.source, candidate.text, answer, held)


def _finders(tree: Tree) -> list[Callable[[Tree], Iterator[Candidate]]]:
    """The ways to look that this page can answer at all."""
    tags = {box.tag for box in tree.boxes}
    found = [
        (_details, "summary" in tags),
        (_definitions, "dt" in tags),
        (_panels, bool(tree.triggers)),
        (_headings, True),
    ]
    return [finder for finder, possible in found if possible]


def _readable(tree: Tree, regions: Regions, candidate: Candidate) -> bool:
    """Fill in the text; False for what is too long, empty, mostly links or in a part that asks nothing."""
    blocks = tree.blocks
    if candidate.answer < 0:
        candidate.answer = candidate.end
    if candidate.end <= candidate.start or blocks[candidate.start].marks & _REFUSED:
        return False
    text = blocks[candidate.start].text
    while candidate.answer < candidate.stop and blocks[candidate.answer].text == text:
        candidate.answer += 1  # a title for the eye and one for the screen reader
    candidate.text = " ".join(" ".join(block.text.split()) for block in blocks[candidate.start : candidate.end])
    length = regions.of(candidate.answer, candidate.stop)
    if not _SHORTEST_ANSWER <= length <= _LONGEST_ANSWER or len(candidate.text) > 300:
        return False
    linked = regions.links(candidate.answer, candidate.stop)
    return linked <= _MOST_LINKS * length or (length > 300 and linked <= _ALL_LINKS * length)


def _accepted(found: list[Candidate], context: _Context) -> Iterator[Candidate]:
    asked: Counter[object] = Counter()
    sizes: Counter[object] = Counter()
    for candidate in found:
        sizes[candidate.group] += 1
        asked[candidate.group] += is_question(candidate.text) and not is_call(candidate.text)
    for candidate in found:
        many = asked[candidate.group] >= 2 and asked[candidate.group] >= _MAJORITY * sizes[candidate.group]
        promised = context.promises(candidate.start)
        if not promised and context.tree.blocks[candidate.start].marks & _DOUBTFUL:
            continue
        if _is_pair(candidate, many, promised):
            yield candidate


def _is_pair(candidate: Candidate, many: bool, promised: bool) -> bool:
    question, call = is_question(candidate.text), is_call(candidate.text)
    if candidate.source == "heading":
        return promised and ((question and not call) or (many and could_be_question(candidate.text)))
    if promised_by_itself(candidate.text):
        return False
    if promised:
        return question or many or could_be_question(candidate.text) or candidate.source != "panel"
    return (question and not call) or many


def promised_by_itself(text: str) -> bool:
    """A control that opens the whole FAQ is no question."""
    return promises_questions(text) and not is_question(text)


class _Context:
    """Whether names or headings around a block promise questions."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.named: dict[int, bool] = {}
        self.said: dict[int, bool] = {}

    @cached_property
    def above(self) -> list[int]:
        """Of each block the nearest heading above it, of a heading the nearest one of a higher rank; -1 without."""
        above: list[int] = []
        path: list[int] = []
        for index, block in enumerate(self.tree.blocks):
            level = _LEVELS.get(block.kind)
            while level and path and self.level(path[-1]) >= level:
                path.pop()
            above.append(path[-1] if path else -1)
            if level:
                path.append(index)
        return above

    def level(self, heading: int) -> int:
        return _LEVELS[self.tree.blocks[heading].kind]

    def promises(self, block: int) -> bool:
        """A heading above the block or the name of a box around it says FAQ."""
        return self._under(self.above[block]) or self._named(self.tree.blocks[block].box)

    def _under(self, heading: int) -> bool:
        """Whether a heading or one above it says FAQ; only those that a question stands under are ever read."""
        while heading >= 0:
            says = self.said.get(heading)
            if says is None:
                says = self.said[heading] = promises_questions(self.tree.blocks[heading].text)
            if says:
                return True
            heading = self.above[heading]
        return False

    def _named(self, box: int) -> bool:
        """Whether a box around says FAQ; the page's outermost one does not count, its classes are about the site."""
        path: list[int] = []
        while box >= 0 and box not in self.named:
            path.append(box)
            box = self.tree.boxes[box].parent
        says = self.named.get(box, False)
        for inner in reversed(path):
            found = self.tree.boxes[inner]
            says = self.named[inner] = says or (found.parent >= 0 and _says_faq(found.name))
        return says


@lru_cache(maxsize=8192)
def _says_faq(name: str) -> bool:
    return _NAMED.search(name.lower()) is not None


def _lines(text: str) -> Iterator[tuple[str, str]]:
    """Questions and answers as lines of one paragraph: `<b>How?</b><br>So`."""
    question = ""
    answer: list[str] = []
    for line in text.split("\n"):
        if is_question(line):
            if question and answer:
                yield question, "\n".join(answer)
            question, answer = line, []
        elif question:
            answer.append(line)
    if question and answer:
        yield question, "\n".join(answer)


def _details(tree: Tree) -> Iterator[Candidate]:
    for box in tree.boxes:
        if box.tag == "summary" and box.parent >= 0:
            details = tree.boxes[box.parent]
            outer = tree.boxes[details.parent].parent if details.parent >= 0 else -1
            yield Candidate("details", box.start, box.end, details.end, ("details", outer))


def _definitions(tree: Tree) -> Iterator[Candidate]:
    last: Candidate | None = None
    for box in tree.boxes:
        if box.tag == "dt":
            if last is not None and last.stop > last.end:
                yield last
            last = Candidate("dl", box.start, box.end, box.end, ("dl", box.parent))
        elif box.tag == "dd" and last is not None and box.start >= last.end:
            last.stop = box.end
    if last is not None and last.stop > last.end:
        yield last


def _panel(tree: Tree, target: str, block: int) -> int:
    """The box which a control at a block opens: of several with one id the next, -1 without."""
    boxes = tree.boxes
    named = [box for box in tree.ids.get(target, ()) if not boxes[box].start <= block < boxes[box].end]
    return next((box for box in named if boxes[box].start > block), named[0] if named else -1)


def _panels(tree: Tree) -> Iterator[Candidate]:
    boxes, blocks = tree.boxes, tree.blocks
    for block, box, target in tree.triggers:
        panel = _panel(tree, target, block)
        if panel < 0 or block >= len(blocks):
            continue
        control = boxes[box]
        end = block + 1
        if control.start == block and control.tag != "div" and control.end > block:
            end = min(control.end, boxes[panel].start) if boxes[panel].start > block else control.end
        yield Candidate(
            "panel",
            block,
            max(end, block + 1),
            boxes[panel].end,
            ("panel", control.tag, control.name),
            "",
            boxes[panel].start,
        )


def _headings(tree: Tree) -> Iterator[Candidate]:
    """Blocks that are a question; the answer is the rest of its item, or what follows up to the next one."""
    groups: defaultdict[object, list[int]] = defaultdict(list)
    for index, block in enumerate(tree.blocks):
        text = block.text
        titled = block.kind in _TITLED and len(text) < 200
        if (not ENDS.isdisjoint(text[-4:]) and is_question(text)) or (titled and could_be_question(text)):
            groups[_signature(tree.boxes, block.box)].append(index)
    for signature, members in groups.items():
        for place, index in enumerate(members):
            following = members[place + 1] if place + 1 < len(members) else len(tree.blocks)
            before = members[place - 1] if place else -1
            stop = _answer_end(tree, index, before, following)
            yield Candidate("heading", index, index + 1, stop, signature)


def _signature(boxes: list[Box], box: int) -> object:
    """Tag and name of a box, tags of its parent and grandparent."""
    parts: list[str] = [boxes[box].tag, re.sub(r"\d+", "", boxes[box].name)]
    for _ in range(2):
        box = boxes[box].parent
        if box < 0:
            break
        parts.append(boxes[box].tag)
    return tuple(parts)


def _answer_end(tree: Tree, index: int, before: int, following: int) -> int:
    """The end of the largest box that holds this question and no other; if it holds no answer, the next stop."""
    boxes, blocks = tree.boxes, tree.blocks
    item = blocks[index].box
    while True:
        parent = boxes[item].parent
        if parent < 0 or boxes[parent].start <= before or boxes[parent].end > following:
            break
        item = parent
    if before < 0 and following >= len(blocks):  # a lone question: no neighbour bounds it
        item = blocks[index].box
        while boxes[item].parent >= 0 and boxes[item].end <= index + 1:
            item = boxes[item].parent
    end = boxes[item].end
    if end <= index + 1:
        parent = boxes[item].parent
        end = min(following, boxes[parent].end) if parent >= 0 else following
    return _cut(tree, index, min(end, following))


def _cut(tree: Tree, index: int, end: int) -> int:
    """Stop at a heading of the question's level or above."""
    level = _LEVELS.get(tree.blocks[index].kind, 7)
    for place in range(index + 1, end):
        other = _LEVELS.get(tree.blocks[place].kind)
        if other and other <= level and place > index + 1:
            return place
    return end
