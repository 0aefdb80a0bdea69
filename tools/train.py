"""Learn `crawler/reading/weights.json` again from labelled pages.

usage: python tools/train.py DATA [--trees N] [--leaves N] [--folds N] [--write]

DATA is a folder with gold/<id>.json ({id, domain, text}) and html/<id>.html.gz, read in place; nothing of it
enters the table but split points. A block's label is the share of its words that the gold text holds in the
same order. Folds are by domain, so that no site is on both sides; without --write only their figures are
printed. Needs `lightgbm` and `scikit-learn` (extra `train`).
"""

from __future__ import annotations

import argparse
import difflib
import gzip
import json
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from zlib import crc32

import lightgbm
import numpy as np

from crawler.reading import features, weights
from crawler.reading.choose import DROPPED, LEAN, expected_best, smoothed
from crawler.reading.noscript import drop_noscript
from crawler.reading.regions import settle
from crawler.reading.rules import forbidden
from crawler.reading.walk import walk

_WORD = re.compile(r"\w+")
_LARGEST = 6e7  # cells of the alignment; above it words are looked up instead
_RATE = 0.18
_SEED = 7


@dataclass(slots=True)
class Labelled:
    """A page's blocks as numbers, with what the gold says of each."""

    domain: str
    rows: np.ndarray
    labels: np.ndarray
    sizes: np.ndarray
    words: list[list[str]]
    gold: Counter[str]


def labelled(gold: dict[str, str], html: str) -> Labelled:
    """Read a page as the crawler does and label its blocks."""
    tree = walk(html)
    drop_noscript(tree)
    regions = settle(tree)
    found, page = features.rows(tree, regions, forbidden(tree, regions))
    words = [_WORD.findall(block.text.lower()) for block in tree.blocks]
    target = _WORD.findall(gold["text"].lower())
    nothing = [float("nan")] * len(features.NAMES)
    flat = [features.flat(row, page) if row else nothing for row in found]
    rows = np.array(flat, np.float32).reshape(len(found), len(features.NAMES))
    sizes = np.array([len(block) for block in words], float)
    return Labelled(
        gold["domain"] or gold["id"], rows, labels(words, target, gold["text"]), sizes, words, Counter(target)
    )


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


def fit(pages: list[Labelled], trees: int, leaves: int) -> lightgbm.Booster:
    """Trees that tell text from frame; a page's words weigh by the size of its gold, so pages count alike."""
    rows = np.concatenate([page.rows for page in pages])
    wanted = np.concatenate([page.labels > 0.5 for page in pages]).astype(float)
    weight = np.concatenate([100 * page.sizes / max(50, page.gold.total() or page.sizes.sum()) for page in pages])
    asked = ~np.isnan(rows[:, 0])
    options = {
        "objective": "binary", "learning_rate": _RATE, "num_leaves": leaves, "min_data_in_leaf": 100,
        "min_sum_hessian_in_leaf": 100, "feature_fraction": 0.5, "bagging_fraction": 0.7, "bagging_freq": 1,
        "lambda_l2": 5, "max_bin": 63, "verbose": -1, "num_threads": 2, "seed": _SEED, "deterministic": True,
    }  # fmt: skip
    data = lightgbm.Dataset(rows[asked], wanted[asked], weight=np.maximum(weight, 1e-6)[asked])
    return lightgbm.train(options, data, trees)


def token_f1(page: Labelled, raw: np.ndarray) -> tuple[float, float]:
    """F1 and recall of the words of the blocks that these scores choose."""
    lengths = [max(1, len(words)) for words in page.words]
    scores = [1 / (1 + float(np.exp(-value))) for value in smoothed(list(map(float, raw)), lengths)]
    limit = expected_best(scores, lengths)
    chosen = Counter(word for words, score in zip(page.words, scores, strict=True) if score > limit for word in words)
    if not page.gold:
        return (1.0, 1.0) if not chosen else (0.0, 0.0)
    both = (chosen & page.gold).total()
    return 2 * both / (chosen.total() + page.gold.total()), both / page.gold.total()


def validate(pages: list[Labelled], folds: int, trees: int, leaves: int) -> None:
    """Print F1 and recall of pages whose domain was not learned from."""
    figures = []
    for fold in range(folds):
        held = [page for page in pages if crc32(page.domain.encode()) % folds == fold]
        model = fit([page for page in pages if crc32(page.domain.encode()) % folds != fold], trees, leaves)
        for page in held:
            if len(page.rows):
                raw = np.where(np.isnan(page.rows[:, 0]), DROPPED, model.predict(page.rows, raw_score=True))
                figures.append(token_f1(page, raw))
    print(f"{len(figures)} pages, {folds} folds by domain: F1 {mean(f for f, _ in figures):.4f} "
          f"recall {mean(r for _, r in figures):.4f} (threshold {LEAN} of half the expected best)")  # fmt: skip


def node(tree: dict[str, object]) -> weights.Node:
    """A tree of the library as the nested lists of the table."""
    if "leaf_value" in tree:
        return round(float(str(tree["leaf_value"])), 4)
    below, above = tree["left_child"], tree["right_child"]
    assert isinstance(below, dict)
    assert isinstance(above, dict)
    threshold = float(f"{float(str(tree['threshold'])):.6g}")
    return [int(str(tree["split_feature"])), threshold, node(below), node(above)]


def main() -> None:
    """Read, validate, and write the table when asked."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("data", type=Path)
    arguments.add_argument("--trees", type=int, default=60)
    arguments.add_argument("--leaves", type=int, default=24)
    arguments.add_argument("--folds", type=int, default=5)
    arguments.add_argument("--write", action="store_true")
    given = arguments.parse_args()
    pages = []
    for path in sorted((given.data / "gold").glob("*.json")):
        gold = json.loads(path.read_text(encoding="utf-8"))
        raw = gzip.decompress((given.data / "html" / f"{gold['id']}.html.gz").read_bytes())
        pages.append(labelled(gold, raw.decode("utf-8", "replace")))
    if given.folds > 1:
        validate(pages, given.folds, given.trees, given.leaves)
    if given.write:
        dumped = fit(pages, given.trees, given.leaves).dump_model()["tree_info"]
        trees = [node(tree["tree_structure"]) for tree in dumped]
        rows = ",\n".join(json.dumps(tree, separators=(",", ":")) for tree in trees)
        names = json.dumps(list(features.NAMES))
        weights.TABLE.write_text(f'{{"features":{names},\n"trees":[\n{rows}\n]}}\n', encoding="utf-8")


if __name__ == "__main__":
    main()
