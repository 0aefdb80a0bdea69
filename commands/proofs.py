"""How a customer proves a site: the token, and where it goes, in sentences made from the bot's profile (E08-E10)."""

from __future__ import annotations

from commands.desk import Place
from crawler.rules.tokens import Issued, issued, name_for
from models.profile import Profile

METHODS = ("token_file", "dns", "homepage")


def places(profile: Profile, proof: str, place: Place) -> dict[str, str]:
    """Method -> where the token goes, ready to paste. Methods that this bot does not know are missing."""
    proofs, found = profile.proofs, {}
    domain = name_for(profile, place.site, place.host)
    if proofs.file is not None:
        value = proofs.file.value.format(token=proof)
        found["token_file"] = f"Put a file at https://{domain}{proofs.file.path} with this one line: {value}"
    if proofs.dns is not None:
        names = " or ".join(name.format(domain=domain) for name in proofs.dns.names)
        found["dns"] = f"Add a DNS TXT record at {names} with this text: {proofs.dns.value.format(token=proof)}"
    if proofs.page is not None:
        meta = f'<meta name="{proofs.page.meta}" content="{proof}">'
        line = f", or a visible line: {proofs.page.text.format(token=proof)}" if proofs.page.text else ""
        header = f", or send it with the header {proofs.page.header}: {proof}" if proofs.page.header else ""
        page = proofs.page.page.replace("_", " ")
        found["homepage"] = f"Put into the head of the {page}: {meta}{line}{header}"
    return found


def proof_token(key: bytes, profile: Profile, account: str, place: Place, at: float) -> Issued:
    """The token of an account for a site, or an exact host, of this bot (E06, C03); and until when it is good."""
    return issued(key, profile.name, account, name_for(profile, place.site, place.host), at)
