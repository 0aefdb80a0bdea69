"""The mutants: one promise each broken on purpose, by a changed number or a guard taken away."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    """In `path`, the one place that reads `old` becomes `new`; a test of promise `id` must fail."""

    id: str
    what: str
    path: str
    old: str
    new: str


EMA, WEMBI, CERTANT = "bots/ema.yaml", "bots/wembi.yaml", "bots/certant.yaml"
RULES = "crawler/rules/"
IDENTITY, PACE, URLS = RULES + "identity.py", RULES + "pace.py", RULES + "urls.py"
VERDICT, READER, BUDGET = RULES + "robots_verdict.py", RULES + "robots_reader.py", RULES + "budget.py"
FRONTIER, DIRECTIVES = RULES + "frontier.py", RULES + "directives.py"

MUTANTS = (
    Mutant("E01", "another link in the User-Agent", EMA, "puglieseweb.com/crawler", "puglieseweb.com/bot"),
    Mutant("E01", "the link may be replaced", EMA, "page_set_by: product ", "page_set_by: operator "),
    Mutant("E01", "the note in place of the link", IDENTITY, "(+{who.page}{tail})", "({note or '+' + who.page})"),
    Mutant(
        "E01",
        "the name may be changed",
        "models/ceilings.py",
        "if rule is Change.FIXED:\n        return False",
        "if rule is Change.FIXED:\n        return True",
    ),
    Mutant("E02", "a longer note", EMA, "note_max: 80 ", "note_max: 81 "),
    Mutant("E02", "names are not looked for", IDENTITY, "    _refuse_names(final)\n", ""),
    Mutant("E02", "checked before it is stripped", IDENTITY, "_refuse_names(final)", "_refuse_names(note)"),
    Mutant("E02", "brackets stay", IDENTITY, 'frozenset("()[]{}<>;")', 'frozenset("")'),
    Mutant("E02", "look-alike letters are not folded", IDENTITY, ".translate(_HOMOGLYPHS)", ""),
    Mutant("E14", "the RFC's table", EMA, "policy: strict ", "policy: rfc9309 "),
    Mutant("E14", "403 allows", VERDICT, "absent = status in (404, 410) if", "absent = status in (403, 404, 410) if"),
    Mutant("E14", "an HTML page is a file", EMA, "html_is_unreadable: true", "html_is_unreadable: false"),
    Mutant("E14", "six hops", EMA, "max_hops: 5                  # E14", "max_hops: 6"),
    Mutant(
        "E14", "off-site redirects are followed", VERDICT, "if not profile.robots.offsite_hops and", "if False and"
    ),
    Mutant("E14", "a challenge is a page", VERDICT, 'if blocked and blocked.kind == "challenge":', "if False:"),
    Mutant(
        "E14",
        "no answer allows",
        VERDICT,
        "Verdict(Ground.UNREACHABLE, status=status,",
        "Verdict(Ground.ABSENT, status=status,",
    ),
    Mutant("E15", "kept across crawls", EMA, "lifetime: 0  ", "lifetime: 60  "),
    Mutant("E15", "the rules are lost in storing", VERDICT, "Rules.from_bytes(rules) if rules else None", "None"),
    Mutant(
        "E15",
        "Crawl-delay is cut at 5 s",
        EMA,
        "crawl: {delay: 1.0, response_factor: 0, crawl_delay_cap: 10}",
        "crawl: {delay: 1.0, response_factor: 0, crawl_delay_cap: 5}",
    ),
    Mutant("E16", "0.9 s in a crawl", EMA, "crawl: {delay: 1.0", "crawl: {delay: 0.9"),
    Mutant("E16", "0.4 s in a listing", EMA, "listing: {delay: 0.5", "listing: {delay: 0.4"),
    Mutant("E16", "two in flight", EMA, "max_in_flight: 1 ", "max_in_flight: 2 "),
    Mutant(
        "E16",
        "the delay is not the floor",
        PACE,
        "max(rule.delay, rule.response_factor",
        "max(0.0, rule.response_factor",
    ),
    Mutant("E17", "31 s for a page", EMA, "crawl: 30", "crawl: 31"),
    Mutant(
        "E17",
        "a listing has the time of a crawl",
        "models/profile.py",
        "if phase is Phase.LISTING else",
        "if False else",
    ),
    Mutant("E18", "61 pages", EMA, "pages: 60                    #", "pages: 61 #"),
    Mutant("E18", "121 page requests", EMA, "page_requests: 120", "page_requests: 121"),
    Mutant("E18", "six sitemap requests", EMA, "sitemap_requests: 5", "sitemap_requests: 6"),
    Mutant("E18", "21 pages for their pairs", EMA, "pairs_only_pages: 20", "pairs_only_pages: 21"),
    Mutant(
        "E18",
        "one page request too many",
        BUDGET,
        "spent.page_requests < limit.page_requests",
        "spent.page_requests <= limit.page_requests",
    ),
    Mutant("E18", "traps are not last", FRONTIER, "(int(trap), 2)", "(0, 2)"),
    Mutant("E19", "three retries", EMA, "retries: 2 ", "retries: 3 "),
    Mutant("E19", "13 s", EMA, "wait_cap: 12 ", "wait_cap: 13 "),
    Mutant("E19", "a long Retry-After is waited for", EMA, "long_retry_after: fail", "long_retry_after: pause"),
    Mutant(
        "E19", "the wait does not double", PACE, "base * 2.0 ** min(attempt, 60)", "base * 1.0 ** min(attempt, 60)"
    ),
    Mutant("E19", "robots.txt and sitemaps are retried", PACE, "asked.kind is Kind.PAGE and", ""),
    Mutant("E20", "queries are fetched", EMA, "query: drop", "query: strip_tracking"),
    Mutant(
        "E20",
        "links to other hosts are followed",
        URLS,
        "if host != authority and site_key(host) != site_key(authority):",
        "if False:",
    ),
    Mutant("E20", "one byte more", EMA, "{page: 2000000,", "{page: 2000001,"),
    Mutant("W03", "two days in the cache", WEMBI, "lifetime: 86400 ", "lifetime: 172800 "),
    Mutant(
        "W03",
        "max-age is not looked at",
        VERDICT,
        "max(min(age, robots.lifetime), robots.lifetime_floor)",
        "robots.lifetime",
    ),
    Mutant("W03", "a 5xx allows", VERDICT, "else 400 <= status < 500", "else 400 <= status < 600"),
    Mutant("W05", "2.9 s", WEMBI, "  crawl: {delay: 3.0", "  crawl: {delay: 2.9"),
    Mutant(
        "W05",
        "twice the response time",
        WEMBI,
        "crawl: {delay: 3.0, response_factor: 3",
        "crawl: {delay: 3.0, response_factor: 2",
    ),
    Mutant("W05", "0.4 s on own sites", WEMBI, "own_sites: {delay: 0.5", "own_sites: {delay: 0.4"),
    Mutant("W05", "Crawl-delay is ignored", PACE, ", _crawl_delay(rule, robots_delay))", ")"),
    Mutant("W06", "Retry-After is ignored", PACE, "told = retry_after(response, now_wall)", "told = None"),
    Mutant("W06", "no pause of the site", WEMBI, "pause_scope: site", "pause_scope: none"),
    Mutant("W06", "a pause may shrink", PACE, "max(state.pause_until, until)", "until"),
    Mutant("W06", "two days", WEMBI, "pause_cap: 86400 ", "pause_cap: 172800 "),
    Mutant("W06", "the site's clock is not looked at", PACE, "now_wall if sent is None else sent", "now_wall"),
    Mutant("W07", "all links are followed", WEMBI, "links: sitemap_then_unlisted", "links: always"),
    Mutant(
        "W07",
        "links on the extra pages are followed",
        FRONTIER,
        "links is Links.UNLISTED_ONCE and wave == 0",
        "links is Links.UNLISTED_ONCE",
    ),
    Mutant("W07", "nofollow is not obeyed", WEMBI, "obey_nofollow: true", "obey_nofollow: false"),
    Mutant("W07", "linked pages before the sitemap's", FRONTIER, "(candidate.wave, 2)", "(0, 2)"),
    Mutant(
        "C07",
        "a star adds to our own group",
        RULES + "robots.py",
        "rules=tuple(chosen.rules)",
        "rules=tuple({**own.rules, **star.rules})",
    ),
    Mutant("C07", "a prefix of our token is our token", READER, "token == wanted", "wanted.startswith(token)"),
    Mutant(
        "C07",
        "other records end a group",
        READER,
        "_read_other(key, value, current, records)\n",
        "_read_other(key, value, current, records)\n            closed = True\n",
    ),
    Mutant("C07", "lines end at a form feed", READER, r'rb"\r\n|\r|\n"', r'rb"\r\n|\r|\n|\f"'),
    Mutant(
        "C08",
        "Crawl-delay without a cap",
        CERTANT,
        "crawl: {delay: 0.5, response_factor: 0, crawl_delay_cap: 10}",
        "crawl: {delay: 0.5, response_factor: 0, crawl_delay_cap: null}",
    ),
    Mutant(
        "C08",
        "the last of several delays",
        RULES + "robots.py",
        "max(chosen.delays, default=None)",
        "chosen.delays[-1] if chosen.delays else None",
    ),
    Mutant("C09", "noindex is only recorded", CERTANT, "noindex: skip", "noindex: record"),
    Mutant("C09", "our own meta is not read", DIRECTIVES, 'if owner in ("robots", ours):', 'if owner == "robots":'),
    Mutant(
        "C09",
        "every bot's header is ours",
        DIRECTIVES,
        'applies = _name(before) in (ours, "*", "robots")',
        "applies = True",
    ),
    Mutant("C10", "it does not slow down", CERTANT, "slow_after: 2 ", "slow_after: null "),
    Mutant("C10", "it does not pause", CERTANT, "pause_after: 4 ", "pause_after: null "),
    Mutant("C10", "Retry-After is ignored", PACE, "told = retry_after(response, now_wall)", "told = None"),
    Mutant("C11", "2.5 pages a second", CERTANT, "crawl: {delay: 0.5", "crawl: {delay: 0.4"),
    Mutant("C11", "five in flight", CERTANT, "max_in_flight: 4 ", "max_in_flight: 5 "),
)
