"""Our robots.txt reading against Google's own code (jwm.robotstxt), on random files.

    python tools/robots_differential.py --seed 7 --count 6000

Exit code 1 if anything is allowed here that Google's reader forbids. What is forbidden here and allowed there
is listed with its reason; each reason is a decision, not an accident.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path

import click

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from jwm.robotstxt.googlebot import RobotsMatcher

from crawler.rules.robots import Rules, parse
from crawler.rules.urls import UrlRefused, canonical
from tools.robots_files import TOKEN, case

_ALLOW_TYPO = re.compile(rb"(?i)(?:\A|[\r\n])[ \t]*allow[^:\s]+[ \t]*:")


def reason(body: bytes, rules: Rules) -> str:
    """Why we forbid what Google's reader allows."""
    if _ALLOW_TYPO.search(body):
        return "a typo in Allow permits nothing"
    if b"/index.htm" in body:
        return "Google reads every Allow of /index.htm... as one of the folder, we only /index.html"
    if any(b"$" in pattern or b"%" in pattern for _, pattern in rules.rules):
        return "RFC 9309 2.2.2, 2.2.3: how % and $ are written"
    return "UNEXPLAINED"


@click.command()
@click.option("--seed", type=int, default=1, show_default=True)
@click.option("--count", type=int, default=6000, show_default=True)
@click.option("--verbose", is_flag=True, help="Print each over-block, not only their number.")
def main(seed: int, count: int, verbose: bool) -> None:
    """Compare COUNT random files of SEED."""
    over_allows, asked = 0, 0
    blocks: Counter[str] = Counter()
    for number in range(count):
        one = case(seed, number)
        rules = parse(one.body, TOKEN)
        for written in one.urls:
            try:
                url = canonical(written)
            except UrlRefused:
                continue
            ours, theirs = rules.allows(url), bool(_google(one.body, url))
            asked += 1
            if ours and not theirs:
                over_allows += 1
                click.echo(f"OVER-ALLOW file {number} {url} {one.body!r} rule {rules.decide(url).rule!r}")
            elif theirs and not ours:
                why = reason(one.body, rules)
                blocks[why] += 1
                if verbose or why == "UNEXPLAINED":
                    click.echo(f"over-block file {number} {url} {one.body!r} rule {rules.decide(url).rule!r}: {why}")
    click.echo(
        f"seed {seed}: {count} files, {asked} questions, {over_allows} over-allows, {blocks.total()} over-blocks"
    )
    for why, times in blocks.most_common():
        click.echo(f"  {times:6} {why}")
    sys.exit(1 if over_allows or blocks["UNEXPLAINED"] else 0)


def _google(body: bytes, url: str) -> bool:
    return bool(RobotsMatcher().OneAgentAllowedByRobots(body, TOKEN, url))


if __name__ == "__main__":
    main()
