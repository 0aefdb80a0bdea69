"""A site's memory put back from the database (A03), after the broker's data was lost.

What came since the loss is newer than what the database knows, so it stays; and of two answers the narrower holds: a
stop is a stop whoever knows of it, and a proof that was taken away since does not come back. The only facts are the
ends of what was running (A04); all others the database has.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from crawler.rules import gate, validators
from crawler.rules.jobs.closing import close_all
from crawler.rules.parts import applied
from crawler.rules.site import Change, Policy, Site, joined
from models import ids
from models.events import CrawlEnded
from models.mailbox import Message, OpenCrawl, RestoreSite
from models.state import Account, Head, Proof, Validator

Days = Mapping[str, tuple[str, ...]]


def restore(site: Site, message: Message, now: float, policy: Policy) -> Change:
    """The site with what the database knew of it."""
    said = message.said
    assert isinstance(said, RestoreSite)
    if said.marker:
        return Change(site.head.model_copy(update={"marker": True}))
    reason = "suspended" if said.suspended is not None else "blocked" if said.blocked is not None else None
    closed = close_all(site, now, reason) if reason is not None else Change(site.head)
    lost = [crawl for crawl in said.open if site.job(crawl.crawl) is None]
    ends = tuple(_ended(site.head.site, crawl, now, policy) for crawl in lost)
    head, parts = _validators(site, _merged(closed.head, said), said.validators)
    return joined(closed, Change(head, parts=parts, facts=ends))


def _validators(site: Site, head: Head, known: Iterable[Validator]) -> tuple[Head, tuple[validators.Part, ...]]:
    """W09: those that the memory does not have, of content that was not erased since (E25)."""
    parts: list[validators.Part] = []
    for one in known:
        if (one.account, one.url) not in site.validators and one.at > head.erased_at:
            part, slots = validators.placed(site, one)
            head = head.model_copy(update={"validators": max(head.validators, slots)})
            site = applied(site, Change(head, parts=(part,)))
            parts.append(part)
    return head, tuple(parts)


def _ended(site: str, lost: OpenCrawl, now: float, policy: Policy) -> CrawlEnded:
    """The one terminal state of a crawl whose frontier is gone: what it had handed on stays.

    C06: had it found the proof absent, its end removes what is above the standard limit, as any other end would; the
    proof is off file by now, so no later crawl would look for it and find that out again.
    """
    return CrawlEnded(
        id=ids.event_id(lost.crawl, "ended"), at=now, site=site, crawl=lost.crawl, end="failed",
        reason="the broker's data was lost while it ran", pages=lost.pages, pairs=lost.pairs, requests=lost.requests,
        outcomes={}, remove_above=gate.standard_pages(policy.profile, lost.plan) if lost.proof_absent else None,
    )  # fmt: skip


def _merged(head: Head, said: RestoreSite) -> Head:
    accounts = dict(head.accounts)
    for name, known in said.accounts.items():
        accounts[name] = _account(accounts.get(name, Account()), known)
    return head.model_copy(
        update={
            "accounts": accounts,
            "suspended": head.suspended or said.suspended,
            "blocked": head.blocked or said.blocked,
            "listed": head.listed or said.listed,
            "starts": _united(said.starts, head.starts),
            "checks": _united(said.checks, head.checks),
            "pause_until": max(head.pause_until, said.pause_until),
            "strikes": max(head.strikes, said.strikes),
        }
    )


def _united(known: Days, held: Days) -> dict[str, tuple[str, ...]]:
    """E21, E07: a day's ids, whoever knows of them."""
    return {day: tuple(dict.fromkeys((*known.get(day, ()), *held.get(day, ())))) for day in {*known, *held}}


def _account(held: Account, known: Account) -> Account:
    """The newer settings, and the better of the proofs that still count."""
    settings = held if held.saved_at >= known.saved_at and held.saved_at else known
    lost = max(held.lost_at, known.lost_at)
    proofs = [proof for proof in (known.proof, held.proof) if proof is not None and proof.at > lost]
    best: Proof | None = None
    for proof in proofs:
        best = gate.better(best, proof)
    update = {"proof": best, "confirmed": held.confirmed or known.confirmed, "lost_at": lost}
    return settings.model_copy(update=update)
