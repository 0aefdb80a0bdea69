"""`licet robots URL`: may this bot read this page, and which rule of which robots.txt says so."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import asdict
from pathlib import Path
from typing import IO

import ada_url
import click
import orjson

import bots
from commands.options import Sentence, in_one_sentence, settings_for
from crawler.fetch.client import Fetcher
from crawler.fetch.network import Network
from crawler.rules import sentences
from crawler.rules.identity import user_agent
from crawler.rules.pace import Asked, gap
from crawler.rules.robots import parse
from crawler.rules.robots_verdict import Ground, Verdict, judge
from crawler.rules.urls import UrlRefused, canonical, host_of
from models.profile import Profile
from models.web import Kind, Request

ALLOWED, DENIED, ERROR = 0, 1, 2


@click.command("robots")
@click.argument("url")
@click.option(
    "--file", "file", type=click.File("rb"), help="A robots.txt to judge by, - for stdin; none: the site's."
)
@click.option(
    "--bot", type=click.Choice(bots.NAMES), default=None, help="Whose rules hold.  [default: this deployment's]"
)
@click.option("--token", default=None, help="Another product token, in place of the bot's.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of words.")
@click.pass_obj
@in_one_sentence
def robots(
    config: Path | None, url: str, file: IO[bytes] | None, bot: str | None, token: str | None, as_json: bool
) -> None:
    """Tell whether a URL may be read, and the rule that decides.

    Exit code 0: allowed, 1: denied, 2: an error. Without --file the site's own robots.txt is asked for; one that
    cannot be reached denies everything, as in a crawl (E14).
    """
    if bot is not None and token is not None:
        raise click.UsageError("--bot and --token exclude each other")
    profile = bots.load(bot or settings_for(config).bot)
    wanted = profile.identity.token if token is None else token
    try:
        matched = _as_matched(url)
        verdict = _of_file(file.read(), wanted) if file else asyncio.run(_of_site(url, wanted, profile))
    except UrlRefused as error:
        raise Sentence(f"{url[:200]}: {sentences.of(error.reason)}", ERROR) from None
    except OSError as error:
        raise Sentence(str(error), ERROR) from None
    decision = verdict.decide(matched)
    report = _report(matched, wanted, verdict, decision.rule, allowed=decision.allowed)
    click.echo(orjson.dumps(report).decode() if as_json else _in_words(report))
    sys.exit(ALLOWED if decision.allowed else DENIED)


def _as_matched(url: str) -> str:
    """The URL as rules see it: whatever a robots.txt may speak of, not only what a bot would ask for."""
    try:
        parts = ada_url.URL(url)
    except (ValueError, UnicodeError):
        raise click.UsageError(f"{url[:200]!r} is no URL") from None
    if parts.protocol not in ("https:", "http:"):
        raise click.UsageError("only https and http URLs have a robots.txt")
    return str(parts.href).partition("#")[0]


def _of_file(body: bytes, token: str) -> Verdict:
    return Verdict(Ground.READABLE, parse(body, token))


async def _of_site(url: str, token: str, profile: Profile) -> Verdict:
    """Ask the site itself: under this bot's name, at its pace, through the address guard (A02)."""
    first = at = f"https://{host_of(canonical(url))}/robots.txt"
    fetcher = Fetcher(Network())
    try:
        for hops in range(profile.robots.max_hops + 1):
            response = await fetcher.fetch(_request(at, profile))
            verdict = judge(response, at, first, hops, profile)
            if isinstance(verdict, Verdict):
                return _for_token(verdict, response.body, token, profile)
            at = verdict
            await asyncio.sleep(gap(profile, Asked(Kind.ROBOTS), response.elapsed, None))
    finally:
        await fetcher.close()
    return Verdict(Ground.HOPS)


def _for_token(verdict: Verdict, body: bytes, token: str, profile: Profile) -> Verdict:
    if verdict.rules is None or token == profile.identity.token:
        return verdict
    return Verdict(verdict.ground, parse(body, token), verdict.status)


def _request(at: str, profile: Profile) -> Request:
    headers = (
        ("User-Agent", user_agent(profile)),
        ("Accept", "text/plain"),
        ("Accept-Encoding", "gzip, deflate"),
    )
    timeout, most = profile.timeout(Kind.ROBOTS), profile.max_bytes(Kind.ROBOTS)
    return Request(Kind.ROBOTS, at, headers, timeout, most, truncate=True)


def _report(url: str, token: str, verdict: Verdict, rule: str, *, allowed: bool) -> dict[str, object]:
    rules = verdict.rules
    facts = asdict(rules) if rules else {}
    names = ("group", "named", "crawl_delay", "sitemaps", "signals", "sha256", "size", "dropped")
    kept = {name: facts.get(name) for name in names}
    head = {"url": url, "token": token, "allowed": allowed, "rule": rule}
    return {**head, "ground": verdict.ground, "status": verdict.status, "detail": verdict.detail, **kept}


_GROUPS = {"own": "the groups for this token", "*": "the groups for *", "none": "no group: nothing is forbidden"}


def _in_words(report: dict[str, object]) -> str:
    lines = [f"{'allow' if report['allowed'] else 'deny'}  {report['url']}"]
    lines.append(f"  token        {report['token']}")
    lines.append(f"  rule         {report['rule'] or 'none matches'}")
    if report["group"] is not None:
        lines.append(f"  group        {_GROUPS[str(report['group'])]}")
        lines.append(f"  file         {report['size']} bytes, sha256 {report['sha256']}")
        if report["crawl_delay"] is not None:
            lines.append(f"  crawl-delay  {report['crawl_delay']} s")
    else:
        lines.append(f"  robots.txt   {report['ground']} {report['status'] or ''} {report['detail']}".rstrip())
    dropped = report["dropped"]
    lines += [f"  dropped      {what}" for what in (dropped if isinstance(dropped, tuple) else ())]
    return "\n".join(lines)
