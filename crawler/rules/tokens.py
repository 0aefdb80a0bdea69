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


def _derived(key: bytes, bot: str, account: str, name: str, period: int) -> str:
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
    return Issued(_derived(key, bot, account, name, period), float((period + 2) * PERIOD))


def accepted(key: bytes, bot: str, account: str, name: str, at: float) -> tuple[str, ...]:
    """The tokens that prove at second `at`: this period's, and the one before it."""
    period = int(at // PERIOD)
    return tuple(_derived(key, bot, account, name, number) for number in (period, period - 1))


def token(key: bytes, bot: str, account: str, name: str, at: float) -> str:
    """The token to show at second `at`, without its expiry."""
    return issued(key, bot, account, name, at).token
