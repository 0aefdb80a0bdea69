"""Proof tokens: derived from the deployment's key, so that one account's token never proves another's (E08-E10)."""

from __future__ import annotations

import base64
import hashlib
import hmac


def token(key: bytes, bot: str, account: str, site: str) -> str:
    """The token of (account, site): 32 characters of base32, 160 bits.

    Nobody chooses it and nothing stores it: whoever has the key can compute it, and nobody else can. So a command
    on an intake topic cannot bring in a token of its own.
    """
    said = f"{bot}\x00{account}\x00{site}".encode()
    digest = hmac.new(key, said, hashlib.sha256).digest()
    return base64.b32encode(digest[:20]).decode().lower()
