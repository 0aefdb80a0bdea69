"""What the reading is worth on sites that it has not seen: a cross-validation whose figures do not move.

usage: python tools/crossval.py DATA [--trees N] [--leaves N] [--folds N] [--seeds N] [--worst KIND]

DATA as in `tools/train.py`. Pages come in the order of their ids, a fold is the checksum of the registered
domain, the trees are seeded and built column by column, so one tree of source code has one set of figures;
trees of other seeds differ by .002 in F1, which is why a change is judged by the mean of several. The rules
take part as they do in the reading; only the writing as Markdown is left out. `--worst` lists a kind's pages
of the lowest F1, to look for what they have in common. Needs the extra `train`.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from math import exp
from pathlib import Path
from statistics import mean
from zlib import crc32

import numpy as np

from crawler.reading.choose import DROPPED, LEAN, TABLE, expected_best, smoothed
from tools.train import SEED, Labelled, fit, load

Figures = tuple[float, float, float]
"""F1, recall and precision of a page's words."""


def chosen(page: Labelled, raw: np.ndarray, lean: float) -> list[int]:
    """The blocks that `choose` would keep by these log-odds."""
    if not len(raw):
        return []
    odds = np.where(np.isnan(page.rows[:, 0]), DROPPED, raw)
    scores = [1 / (1 + exp(-value)) for value in smoothed(list(map(float, odds)), page.lengths)]
    threshold = expected_best(scores, page.lengths) / LEAN * lean
    for start, end in page.tables:
        if max(scores[start:end]) > TABLE * threshold:
            scores[start:end] = [max(score, threshold + 1e-6) for score in scores[start:end]]
    return [
        index
        for index, score in enumerate(scores)
        if index not in page.never and (page.small or index in page.always or score > threshold)
    ]


def figures(page: Labelled, kept: list[int]) -> Figures:
    """The benchmark's own measure: F1, recall and precision of the words as a multiset."""
    words = Counter(word for index in kept for word in page.words[index])
    if not page.gold:
        return (1.0, 1.0, 1.0) if not words else (0.0, 0.0, 0.0)
    both = (words & page.gold).total()
    return 2 * both / (words.total() + page.gold.total()), both / page.gold.total(), both / max(1, words.total())


def held_out(pages: list[Labelled], folds: int, trees: int, leaves: int, seed: int) -> list[np.ndarray]:
    """Of each page the log-odds by trees that saw no page of its registered domain."""
    out: list[np.ndarray] = [np.zeros(0)] * len(pages)
    fold_of = [crc32(page.domain.encode()) % folds for page in pages]
    for fold in range(folds):
        model = fit([page for page, own in zip(pages, fold_of, strict=True) if own != fold], trees, leaves, seed)
        for index, page in enumerate(pages):
            if fold_of[index] == fold and len(page.rows):
                out[index] = np.asarray(model.predict(page.rows, raw_score=True), float)
    return out


def table(found: list[tuple[Labelled, Figures]]) -> str:
    """F1 and recall of all pages and of each kind, one line."""
    by_kind: defaultdict[str, list[Figures]] = defaultdict(list)
    for page, one in found:
        by_kind["all"].append(one)
        by_kind[page.kind].append(one)
    return " | ".join(f"{kind} {_mean(ones, 0)} / {_mean(ones, 1)}" for kind, ones in sorted(by_kind.items()))


def _mean(ones: list[Figures], place: int) -> str:
    return f"{mean(one[place] for one in ones):.4f}".removeprefix("0")


def main() -> None:
    """Print the figures: F1 / recall."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("data", type=Path)
    for name, default in (("trees", 60), ("leaves", 24), ("folds", 5), ("seeds", 3)):
        arguments.add_argument(f"--{name}", type=int, default=default)
    arguments.add_argument("--lean", type=float, nargs="*", default=[LEAN])
    arguments.add_argument("--worst", default="")
    given = arguments.parse_args()
    pages = load(given.data)
    runs = [held_out(pages, given.folds, given.trees, given.leaves, seed) for seed in range(SEED, SEED + given.seeds)]
    for lean in given.lean:
        found = [
            (page, figures(page, chosen(page, raw, lean)))
            for run in runs
            for page, raw in zip(pages, run, strict=True)
        ]
        print(f"lean {lean}: {table(found)}", flush=True)
    worst = sorted((one, page.identity) for page, one in found if page.kind == given.worst)
    for one, identity in worst[:30]:
        print(identity, " ".join(f"{value:.3f}" for value in one))


if __name__ == "__main__":
    main()
