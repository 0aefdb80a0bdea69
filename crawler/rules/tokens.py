"""Proof tokens: derived from the deployment's key, so that one account's token never proves another's (E08-E10)."""

from __future__ import annotations

import base64
import hashlib
import hmac
from dataclasses import dataclass

from models.profile import Profile

PERIOD = 14 * 86_400
"""Seconds. A token is issued in one period and accepted in that one and the next, so an unused one lives 14 to 28
days; whoever proved a site is not asked again (E13), or is asked for the very token that was found (C06)."""


@dataclass(frozen=True, slots=True)
class Issued:
    """A token, and when it expires if it has not been used: seconds since the epoch."""

    token: str
    expires: float


def name_for(profile: Profile, site: str, host: str) -> str:
    """The name that a token is bound to: the site, or the exact host where the policy knows no other (E06, C03)."""
    return host if profile.proofs.exact_host else site


def token(key: bytes, bot: str, account: str, name: str, period: int) -> str:
    """The token of (account, name) in a period: 32 characters of base32, 160 bits.

    Nobody chooses it and nothing stores it: whoever has the key can compute it, and nobody else can. So a command
    on an intake topic cannot bring in a token of its own.
    """
    said = f"{bot}\x00{account}\x00{name}\x00{period}".encode()
    digest = hmac.new(key, said, hashlib.sha256).digest()
    return base64.b32encode(digest[:20]).decode().lower()


def issued(key: bytes, bot: str, account: str, name: str, at: float) -> Issued:
    """The token to show at second `at`."""
    period = int(at // PERIOD)
    return Issued(token(key, bot, account, name, period), float((period + 2) * PERIOD))


def accepted(key: bytes, bot: str, account: str, name: str, at: float) -> tuple[str, ...]:
    """The tokens that prove at second `at`: this period's, and the one before it."""
    period = int(at // PERIOD)
    return tuple(token(key, bot, account, name, number) for number in (period, period - 1))


def instructions(profile: Profile, site: str, host: str, found: str) -> dict[str, tuple[str, ...]]:
    """Method -> the lines to follow, ready to paste; only the methods that this bot knows (E08-E10, C03-C05)."""
    lines: dict[str, tuple[str, ...]] = {}
    proofs = profile.proofs
    if proofs.dns is not None:
        names = [name.format(domain=name_for(profile, site, host)) for name in proofs.dns.names]
        where = " or ".join(names)
        lines["dns"] = (f"Add a TXT record at {where}:", proofs.dns.value.format(token=found))
    if proofs.file is not None:
        at = f"https://{host}{proofs.file.path}"
        lines["token_file"] = (f"Serve a plain text file at {at} with this one line:", found)
    if proofs.page is not None:
        lines["homepage"] = tuple(_page_lines(profile, found))
    return lines


def _page_lines(profile: Profile, found: str) -> list[str]:
    rule = profile.proofs.page
    assert rule is not None
    page = "the homepage" if rule.page == "homepage" else "the page where the crawl starts"
    lines = [f"Put this into the <head> of {page}:", f'<meta name="{rule.meta}" content="{found}">']
    if rule.text:
        lines += [
            "Or, where that is not possible, show this as a line of text of its own:",
            rule.text.format(token=found),
        ]
    if rule.header:
        lines += [f"Or send this header with {page}:", f"{rule.header}: {found}"]
    return lines
