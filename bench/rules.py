"""How long the rules take: robots.txt, canonical URLs, a decision of the pace. Exit code 1 above a limit.

python bench/rules.py
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))


import bots
from crawler.rules.charset import decode
from crawler.rules.frontier import rank_of_link
from crawler.rules.pace import Asked, PaceState, after
from crawler.rules.robots import parse
from crawler.rules.sitemaps import read
from crawler.rules.urls import admitted, canonical
from models.web import Outcome, Response

BIG_ROBOTS = b"User-agent: *\n" + b"".join(b"Disallow: /%d/*/private$\n" % number for number in range(380_000))
SITEMAP = (
    b"<urlset>"
    + b"".join(b"<url><loc>https://example.com/p/%d</loc></url>" % n for n in range(20_000))
    + b"</urlset>"
)
HTML = "<meta charset=utf-8><p>Öffnungszeiten: täglich, außer feiertags.</p>".encode() * 1500
PAGES = [f"https://www.example.com/shop/product-{number}/reviews?page={number}" for number in range(1000)]
OK = Response(Outcome.OK, 0, 1, 0.3, 200, (("Content-Type", "text/html"), ("Server", "nginx")))
DATES = (("Retry-After", "Sun, 06 Nov 1994 08:49:37 GMT"), ("Date", "Sun, 06 Nov 1994 08:49:00 GMT"))
REFUSED = Response(Outcome.RATE_LIMITED, 0, 1, 0.3, 429, DATES)


def seconds(work: Callable[[], object], times: int) -> float:
    """CPU seconds per call, the best of three rounds: what else runs on the machine does not count."""
    best = float("inf")
    for _ in range(3):
        started = time.process_time()
        for _ in range(times):
            work()
        best = min(best, (time.process_time() - started) / times)
    return best


def main() -> None:
    """Print each figure beside its limit."""
    ema, wembi = bots.load("ema"), bots.load("wembi")
    rules = parse(BIG_ROBOTS, "CatBot")
    rules.allows("https://example.com/")
    asked, state = Asked(), PaceState()
    anchors = iter(range(10**9))
    rows = (
        (
            "robots.txt of 10 MB, read and asked",
            0.5,
            1,
            lambda: parse(BIG_ROBOTS, "CatBot").allows("https://example.com/1"),
        ),
        ("robots.txt, one more question", 0.02, 20, lambda: rules.allows("https://example.com/7/x/private")),
        ("canonical URL", 10e-6, 50, lambda: [canonical(page) for page in PAGES]),
        ("URL admitted to a job", 20e-6, 50, lambda: [admitted(p, "example.com", wembi.scope) for p in PAGES]),
        ("pace after an answer", 20e-6, 5000, lambda: after(state, OK, asked, wembi, 5.0, 1e9)),
        ("pace after a refusal with dates", 20e-6, 5000, lambda: after(state, REFUSED, asked, ema, 5.0, 1e9)),
        (
            "rank of a new link",
            50e-6,
            2000,
            lambda: rank_of_link(f"https://example.com/p/{next(anchors)}", "Opening hours", 2),
        ),
        ("sitemap of 20,000 pages", 1.0, 1, lambda: read(SITEMAP, ("xml",), 10_000_000)),
        ("charset of a 100 kB page", 2e-3, 50, lambda: decode(HTML, "text/html; charset=utf-8")),
    )
    late = 0
    print(f"{len(BIG_ROBOTS) / 1e6:.1f} MB robots.txt")
    for name, limit, times, work in rows:
        took = seconds(work, times) / (len(PAGES) if times == 50 and "URL" in name else 1)
        late += took > limit
        print(
            f"{name:40} {took * 1e6:12.1f} us   limit {limit * 1e6:10.0f} us{'   TOO SLOW' if took > limit else ''}"
        )
    sys.exit(1 if late else 0)


if __name__ == "__main__":
    main()
