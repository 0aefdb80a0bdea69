"""How a customer proves a site: the token, and where it goes, in sentences made from the bot's profile (E08-E10)."""

from __future__ import annotations

from crawler.rules.tokens import token
from models.profile import Profile

METHODS = ("token_file", "dns", "homepage")


def places(profile: Profile, proof: str, site: str) -> dict[str, str]:
    """Method -> where the token goes. Methods that this bot does not know are missing."""
    proofs, found = profile.proofs, {}
    if proofs.file is not None:
        value = proofs.file.value.format(token=proof)
        found["token_file"] = f"Put a file at https://{site}{proofs.file.path} with this one line: {value}"
    if proofs.dns is not None:
        names = " or ".join(name.format(domain=site, host=site) for name in proofs.dns.names)
        found["dns"] = f"Add a DNS TXT record at {names} with this text: {proofs.dns.value.format(token=proof)}"
    if proofs.page is not None:
        meta = f'<meta name="{proofs.page.meta}" content="{proof}">'
        line = f", or a visible line: {proofs.page.text.format(token=proof)}" if proofs.page.text else ""
        found["homepage"] = f"Put into the head of the {proofs.page.page.replace('_', ' ')}: {meta}{line}"
    return found


def proof_token(key: bytes, profile: Profile, account: str, site: str) -> str:
    """The token of (account, site) for this bot."""
    return token(key, profile.name, account, site)
