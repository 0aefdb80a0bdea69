"""Learn `crawler/reading/weights.json` again from labelled pages.

usage: python tools/train.py DATA [--trees N] [--leaves N]

DATA is a folder with gold/<id>.json ({id, domain, text}) and html/<id>.html.gz, read in place; nothing of it
enters the table but split points. A block's label is the share of its words that the gold text holds in the
same order. What the settings promise on pages of other sites says `tools/crossval.py`, which can be run once the
table is of the present features. Needs `lightgbm` and `scikit-learn` (extra `train`).
"""

from __future__ import annotations

import argparse
import difflib
import gzip
import json
import re
import tempfile
from collections import Counter
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from statistics import mean

import lightgbm
import numpy as np
from publicsuffixlist import PublicSuffixList

from crawler.reading import features
from crawler.reading.guard import is_trap
from crawler.reading.noscript import drop_noscript
from crawler.reading.regions import settle
from crawler.reading.rules import forbidden, own_tables, protected
from crawler.reading.visible import shown_pairs
from crawler.reading.walk import walk

Node = float | list["Node"]
TABLE = Path(features.__file__).with_name("weights.json")

_WORD = re.compile(r"\w+")
_LARGEST = 6e7  # cells of the alignment; above it words are looked up instead
_SUFFIXES = PublicSuffixList()
SMALL = 500  # as in choose.py, which cannot be imported while its table is of other features
_RATE = 0.18
SEED = 7


@dataclass(slots=True)
class Labelled:
    """A page's blocks as numbers, with what the gold says of each and what the rules do."""

    identity: str
    kind: str
    domain: str  # as it is registered: `docs.site.example` and `site.example` are one
    rows: np.ndarray
    labels: np.ndarray
    sizes: np.ndarray
    words: list[list[str]]
    gold: Counter[str]
    lengths: list[int]
    never: dict[int, str]
    always: dict[int, str]
    tables: list[tuple[int, int]]
    small: bool


def labelled(gold: dict[str, str], html: str) -> Labelled:
    """Read a page as the crawler does and label its blocks."""
    tree = walk(html)
    drop_noscript(tree)
    regions = settle(tree)
    answers = {index for pair in shown_pairs(tree, regions) for index in pair.blocks}
    never = forbidden(tree, regions)
    found, page = features.rows(tree, regions, never)
    words = [_WORD.findall(block.text.lower()) for block in tree.blocks]
    target = _WORD.findall(gold["text"].lower())
    nothing = [float("nan")] * len(features.NAMES)
    flat = [features.flat(row, page) if row else nothing for row in found]
    rows = np.array(flat, np.float32).reshape(len(found), len(features.NAMES))
    sizes = np.array([len(block) for block in words], float)
    return Labelled(
        gold["id"], gold.get("type", ""), registered(gold["domain"]) or gold["id"], rows,
        cached_labels(words, target, gold["text"]), sizes, words, Counter(target),
        [block.text.count(" ") + 1 for block in tree.blocks], never, protected(tree, regions, answers),
        own_tables(tree, regions), regions.total < SMALL,
    )  # fmt: skip


def registered(domain: str) -> str:
    """The part of a host name that somebody registered, which is what folds are cut by."""
    host = domain.partition(":")[0].lower()
    return _SUFFIXES.privatesuffix(host) or host


def cached_labels(words: list[list[str]], target: list[str], text: str) -> np.ndarray:
    """The labels, kept in the system's folder for temporary files: aligning takes most of the time."""
    key = sha256(json.dumps([words, text]).encode()).hexdigest()
    path = Path(tempfile.gettempdir()) / "licet-labels" / f"{key}.json"
    if not path.exists():
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(labels(words, target, text).tolist()), encoding="utf-8")
    return np.array(json.loads(path.read_text(encoding="utf-8")))


def labels(words: list[list[str]], target: list[str], text: str) -> np.ndarray:
    """Share of each block's words that the gold holds in order; short blocks also count as a gold line."""
    flat = [word for block in words for word in block]
    covered = aligned(flat, target)
    shingles = {tuple(target[i : i + 4]) for i in range(len(target) - 3)}
    lines = Counter(" ".join(_WORD.findall(line.lower())) for line in text.split("\n"))
    out, at = [], 0
    for block in words:
        size = len(block)
        share = float(covered[at : at + size].mean()) if size else 0.0
        at += size
        if size >= 6:
            known = mean(tuple(block[i : i + 4]) in shingles for i in range(size - 3))
            share = max(share, known) if known > 0.5 else min(share, known + 0.2)
        elif lines[" ".join(block)] > 0:
            lines[" ".join(block)] -= 1
            share = 1.0
        out.append(share)
    return np.array(out)


def aligned(flat: list[str], target: list[str]) -> np.ndarray:
    """1 for each word that the longest matching runs cover."""
    if len(flat) * len(target) > _LARGEST:
        known = set(target)
        return np.array([word in known for word in flat], float)
    out = np.zeros(len(flat))
    for run in difflib.SequenceMatcher(None, flat, target, autojunk=False).get_matching_blocks():
        out[run.a : run.a + run.size] = 1
    return out


def fit(pages: list[Labelled], trees: int, leaves: int, seed: int = SEED) -> lightgbm.Booster:
    """Trees that tell text from frame; a page's words weigh by the size of its gold, so pages count alike."""
    rows = np.concatenate([page.rows for page in pages])
    wanted = np.concatenate([page.labels > 0.5 for page in pages]).astype(float)
    weight = np.concatenate([100 * page.sizes / max(50, page.gold.total() or page.sizes.sum()) for page in pages])
    asked = ~np.isnan(rows[:, 0])
    options = {
        "objective": "binary", "learning_rate": _RATE, "num_leaves": leaves, "min_data_in_leaf": 100,
        "min_sum_hessian_in_leaf": 100, "feature_fraction": 0.35, "bagging_fraction": 0.7, "bagging_freq": 1,
        "lambda_l2": 5, "max_bin": 63, "verbose": -1, "num_threads": 2, "seed": seed, "deterministic": True,
        "force_col_wise": True,
    }  # fmt: skip
    data = lightgbm.Dataset(rows[asked], wanted[asked], weight=np.maximum(weight, 1e-6)[asked])
    return lightgbm.train(options, data, trees)


def node(tree: dict[str, object]) -> Node:
    """A tree of the library as the nested lists of the table."""
    if "leaf_value" in tree:
        return round(float(str(tree["leaf_value"])), 4)
    below, above = tree["left_child"], tree["right_child"]
    assert isinstance(below, dict)
    assert isinstance(above, dict)
    threshold = float(f"{float(str(tree['threshold'])):.6g}")
    return [int(str(tree["split_feature"])), threshold, node(below), node(above)]


def load(data: Path) -> list[Labelled]:
    """The pages in the order of their ids; those that the reading would not parse have no blocks to learn from."""
    pages = []
    for path in sorted((data / "gold").glob("*.json")):
        gold = json.loads(path.read_text(encoding="utf-8"))
        html = gzip.decompress((data / "html" / f"{gold['id']}.html.gz").read_bytes()).decode("utf-8", "replace")
        if not is_trap(html):
            pages.append(labelled(gold, html))
    return pages


def main() -> None:
    """Learn from all pages and write the table."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("data", type=Path)
    arguments.add_argument("--trees", type=int, default=60)
    arguments.add_argument("--leaves", type=int, default=24)
    given = arguments.parse_args()
    dumped = fit(load(given.data), given.trees, given.leaves).dump_model()["tree_info"]
    trees = [node(tree["tree_structure"]) for tree in dumped]
    rows = ",\n".join(json.dumps(tree, separators=(",", ":")) for tree in trees)
    names = json.dumps(list(features.NAMES))
    TABLE.write_text(f'{{"features":{names},\n"trees":[\n{rows}\n]}}\n', encoding="utf-8")


if __name__ == "__main__":
    main()
