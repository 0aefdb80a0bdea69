"""Score the reading against labelled pages: the table of docs/reading.md.

usage: python tools/eval.py DATA [--only wcxb,sites,pairs,products] [--without-anchors]

DATA holds the evaluation scripts (score.py, faq_score.py, site_score.py) with their data beside them. Each
extractor is scored in this process by the scripts' own functions, on the same pages in the same run:
trafilatura and resiliparse come with the extra `eval`; without them their columns are empty.
"""

from __future__ import annotations

import argparse
import importlib
import statistics
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from crawler.reading.page import page_pairs, page_text
from crawler.reading.site import site_text

Extract = Callable[[str], str]
TYPES = ("service", "product", "collection", "listing", "documentation", "forum", "article")
TARGETS = {
    "WCXB F1": ".865", "WCXB recall": ".94", "WCXB precision": "", "service F1": ".85", "product F1": ".66",
    "collection F1": ".68", "listing F1": ".73", "documentation F1": ".95", "forum F1": ".79", "article F1": ".935",
    "CPU ms mean": "8", "CPU ms median": "6", "CPU ms p95": "25", "site facts kept": ".995", "site repeated": "3 %",
    "site menu noise": "1 %", "site CPU ms a page": "3", "pairs kept in the text": ".98", "pairs precision": ".80",
    "pairs recall": ".90", "pairs F1": ".84", "false pairs a page": ".10", "price kept": ".885", "SKU kept": ".885",
}  # fmt: skip


def extractors(*, anchors: bool) -> dict[str, Extract]:
    """Ours, and those of the two anchors that are installed."""
    found: dict[str, Extract] = {"licet": page_text}
    if not anchors:
        return found
    try:
        import trafilatura  # noqa: PLC0415 - an anchor that need not be installed

        found["trafilatura"] = lambda html: trafilatura.extract(html, include_comments=False) or ""
    except ImportError:
        pass
    try:
        from resiliparse.extract.html2text import extract_plain_text  # noqa: PLC0415

        found["resiliparse"] = lambda html: extract_plain_text(html, main_content=True)
    except ImportError:
        pass
    return found


def pages(score: ModuleType, name: str, extract: Extract, figures: dict[str, str]) -> None:
    """WCXB by its own metric, or the product pages' facts."""
    results = score.run(score.load(score.data_dir(name)), extract)
    if name == "peb":
        facts = score.score(results)["facts"]
        figures |= {"price kept": _share(facts["price"]), "SKU kept": _share(facts["sku"])}
        return
    token = score.score(results)["token"]
    times = sorted(result[3] for result in results)
    figures |= {"WCXB F1": _f(token["F1"]), "WCXB recall": _f(token["R"]), "WCXB precision": _f(token["P"])}
    for kind in TYPES:
        figures[f"{kind} F1"] = _f(score.score([r for r in results if r[0]["type"] == kind])["token"]["F1"])
    figures["CPU ms mean"] = f"{statistics.mean(times):.1f}"
    figures["CPU ms median"] = f"{statistics.median(times):.1f}"
    figures["CPU ms p95"] = f"{times[int(0.95 * (len(times) - 1))]:.1f}"


def sites(scorer: ModuleType, extract: Extract, ours: bool, figures: dict[str, str]) -> None:
    """Whole sites: an anchor's text of a site is its texts of the pages."""
    loaded = [scorer.Site(name, found) for name, found in scorer.load(str(Path(scorer.HERE) / "sites"))]
    results = []
    for site in loaded:
        start = scorer.time.process_time()
        text = site_text(site.pages) if ours else "\n\n".join(extract(html) for _, html in site.pages)
        spent = (scorer.time.process_time() - start) * 1e3
        results.append(site.score(text) | {"cpu": spent})
    total = scorer.add_up(results)
    figures |= {
        "site facts kept": _f(total["mean"]),
        "site repeated": f"{total['repeat']:.1%}",
        "site menu noise": f"{total['noise_share']:.1%}",
        "site CPU ms a page": f"{total['ms']:.1f}",
    }


def kept_pairs(faq: ModuleType, extract: Extract, figures: dict[str, str]) -> None:
    """How many of the known pairs stand in the text."""
    count = both = 0
    for gold, html in faq.load("faq"):
        text = faq.sqz(extract(html))
        for question, answer in gold["pairs"]:
            count += 1
            both += bool(faq.kept(question, answer, text)[1])
    figures["pairs kept in the text"] = _f(both / count)


def found_pairs(faq: ModuleType, figures: dict[str, str]) -> None:
    """Our pairs against the known ones, and pairs found where there is no FAQ."""
    right = found = known = 0
    for gold, html in faq.load("faq"):
        ours = page_pairs(html)
        right += sum(share >= 0.8 for *_, share in faq.match(gold["pairs"], ours))
        found += len(ours)
        known += len(gold["pairs"])
    others = faq.without_faq(2)
    false = sum(len(page_pairs(html)) for html in others) / len(others)
    precision, recall = right / max(1, found), right / known
    figures |= {
        "pairs precision": _f(precision),
        "pairs recall": _f(recall),
        "pairs F1": _f(2 * precision * recall / ((precision + recall) or 1)),
        "false pairs a page": f"{false:.3f}",
    }


def _f(value: float) -> str:
    return f"{value:.4f}".lstrip("0") if value < 1 else f"{value:.3f}"


def _share(pair: tuple[int, int]) -> str:
    return _f(pair[0] / pair[1])


def table(columns: dict[str, dict[str, str]]) -> str:
    """The figures as Markdown, one extractor a column."""
    names = list(columns)
    lines = [f"| what | at least | {' | '.join(names)} |", "|" + " --- |" * (len(names) + 2)]
    for row, target in TARGETS.items():
        if any(row in figures for figures in columns.values()):
            lines.append(f"| {row} | {target} | " + " | ".join(columns[name].get(row, "") for name in names) + " |")
    return "\n".join(lines)


def main() -> None:
    """Score and print."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("data", type=Path)
    arguments.add_argument("--only", default="wcxb,sites,pairs,products")
    arguments.add_argument("--without-anchors", action="store_true")
    given = arguments.parse_args()
    sys.path.insert(0, str(given.data.resolve()))
    score, faq, site = (_module(name) for name in ("score", "faq_score", "site_score"))
    wanted = given.only.split(",")
    columns: dict[str, dict[str, str]] = {}
    for name, extract in extractors(anchors=not given.without_anchors).items():
        print(f"scoring {name} ...", file=sys.stderr, flush=True)
        figures = columns[name] = {}
        extract("<p>warm up</p>")
        if "wcxb" in wanted:
            pages(score, "wcxb", extract, figures)
        if "products" in wanted:
            pages(score, "peb", extract, figures)
        if "sites" in wanted:
            sites(site, extract, name == "licet", figures)
        if "pairs" in wanted:
            kept_pairs(faq, extract, figures)
            if name == "licet":
                found_pairs(faq, figures)
    print(table(columns))


def _module(name: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return importlib.import_module(name)


if __name__ == "__main__":
    main()
