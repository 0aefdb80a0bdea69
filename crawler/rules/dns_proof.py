"""A proof in the DNS (E08, C03): which names to ask for, what an answer says, and when answers agree.

Pure: the messages are carried by crawler.fetch.doh. HTTP 200 says nothing about the DNS: the RCODE is looked at
(RFC 8484 4.2.1). Three values, never two: a resolver that fails has not said that there is no record.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import dns.exception
import dns.flags
import dns.message
import dns.name
import dns.rcode
import dns.rdatatype

from crawler.rules.proofs import record_proves
from models.profile import DnsProof
from models.web import Lookup, Reply

MAX_MESSAGE = 64 * 1024  # RFC 1035 4.2.2: what a length of 16 bits can say
PAYLOAD = 1232  # of EDNS (RFC 6891 6.2.5); resolvers ask each other in such pieces
TRIES = 2

Found = Literal["found", "absent", "undetermined"]
Result = Literal["found", "absent", "undetermined", "again"]


class Undetermined(ValueError):
    """A reply that says neither yes nor no; the text says why."""


@dataclass(frozen=True, slots=True)
class Said:
    """What one resolver says about one name."""

    resolver: str
    name: str
    found: Found
    token: str = ""
    authentic: bool = False
    """The resolver validated it (AD, RFC 6840 5.8)."""
    why: str = ""


@dataclass(frozen=True, slots=True)
class Agreed:
    """What the resolvers say together. `again`: not yet agreed; the same question once more may settle it."""

    result: Result
    reason: str
    token: str = ""


def lookup(rule: DnsProof, domain: str) -> Lookup:
    """The names to ask for (E08: the apex and `_ema-verify`, both; C03: one, per exact host)."""
    names = tuple(name.format(domain=domain) for name in rule.names)
    return Lookup(names=names, timeout=rule.timeout, url=f"dns:{domain}")


def query(name: str) -> bytes:
    """The question for a name's TXT records, in wire format; ID 0 (RFC 8484 4.1), AD asked for (RFC 6840 5.7)."""
    message = dns.message.make_query(name, "TXT", use_edns=0, payload=PAYLOAD, id=0)
    message.flags |= dns.flags.AD
    return message.to_wire()


def read(reply: Reply, tokens: Sequence[str], rule: DnsProof) -> Said:
    """What one reply says. Whatever a resolver sends, this gives one of three values and a reason."""
    try:
        values, authentic = _records(reply)
    except Undetermined as error:
        return Said(reply.resolver, reply.name, "undetermined", why=str(error))
    token = record_proves(values, tokens, rule.value)
    if token is None:
        why = f"{len(values)} TXT record(s), none of them this account's" if values else "no TXT record"
        return Said(reply.resolver, reply.name, "absent", authentic=authentic, why=why)
    return Said(reply.resolver, reply.name, "found", token, authentic, "the record is there")


def _records(reply: Reply) -> tuple[list[bytes], bool]:
    """The TXT values of the name, CNAMEs followed within the answer; character-strings joined without a gap."""
    if reply.error:
        raise Undetermined(reply.error)
    message = _message(reply)
    code = message.rcode()
    authentic = bool(message.flags & dns.flags.AD)
    if code == dns.rcode.NXDOMAIN:
        return [], authentic
    if code != dns.rcode.NOERROR:
        raise Undetermined(" ".join([dns.rcode.to_text(code), *_explained(message)])[:200])
    try:
        answer = message.resolve_chaining().answer
    except dns.exception.DNSException as error:
        raise Undetermined(f"a chain of CNAMEs that does not end ({type(error).__name__})") from None
    return [b"".join(record.strings) for record in answer or ()], authentic


def _message(reply: Reply) -> dns.message.QueryMessage:
    asked = dns.message.from_wire(query(reply.name))
    try:
        message = dns.message.from_wire(reply.message)
    except (dns.exception.DNSException, ValueError) as error:
        raise Undetermined(f"the answer is no DNS message ({type(error).__name__})") from None
    if not isinstance(message, dns.message.QueryMessage) or not asked.is_response(message):
        raise Undetermined("the answer is to another question")
    if message.flags & dns.flags.TC:
        raise Undetermined("the answer is cut off (TC)")
    return message


def _explained(message: dns.message.Message) -> list[str]:
    """The resolver's own words for a failure (RFC 8914)."""
    return [f"({option.to_text()})" for option in message.options if option.otype == 15]


def agree(said: Sequence[Said], attempt: int) -> Agreed:
    """What the replies mean together.

    Found: a validated match from one resolver; a match from two; or one match where every other resolver failed
    twice, so that one broken resolver cannot lock a customer out. Absent: no match anywhere, and somebody was sure.
    """
    matches = {one.resolver: one for one in said if one.found == "found"}
    told = "; ".join(f"{one.resolver} about {one.name}: {one.why}" for one in said)
    if matches:
        return _matched(said, matches, told, last=attempt >= TRIES)
    if any(one.found == "absent" for one in said):
        return Agreed("absent", f"The TXT record was not found. {told}.")
    result: Result = "undetermined" if attempt >= TRIES else "again"
    return Agreed(result, f"No resolver could answer; try again later. {told}.")


def _matched(said: Sequence[Said], matches: dict[str, Said], told: str, *, last: bool) -> Agreed:
    first = next((one for one in matches.values() if one.authentic), next(iter(matches.values())))
    if first.authentic or len(matches) > 1:
        return Agreed("found", told, first.token)
    names = {one.name for one in said if one.found == "found"}
    if any(one.found == "absent" and one.name in names and one.resolver not in matches for one in said):
        return Agreed(
            "undetermined",
            f"The TXT record is seen by one resolver and not yet by the other; it is still spreading. {told}.",
        )
    return Agreed("found", told, first.token) if last else Agreed("again", told)
