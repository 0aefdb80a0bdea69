"""`decide`: what a message means to a site. Pure; `now` is the broker's time of the message.

The agent that calls it stores the change and publishes its facts before the message is let go, so a message that
is delivered again finds itself in `seen`, or repeats the same facts under the same ids.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from crawler.rules import gate
from crawler.rules.identity import NoteRefused, check_note
from crawler.rules.jobs.closing import close_all
from crawler.rules.site import Change, Policy, Site, joined, with_job
from crawler.rules.urls import Reason, UrlRefused, canonical, same_site
from models import ids, intake
from models.events import (
    CrawlDecided,
    Requester,
    Resumed,
    SettingsSaved,
    Suspended,
    VerificationWithdrawn,
    Verified,
)
from models.mailbox import Message
from models.state import Account, Job, Proof, Seen, Suspension, seen_key

REMEMBERED = 200
"""Messages per site that are recognised when they come again."""
VERIFICATION_DEADLINE = 15 * 60.0
CRAWL_DEADLINE = 4 * 3600.0
"""The worst legal crawl takes about 1.5 h: 120 requests of 30 s timeout and 1 s pace, and their retries."""


def decide(site: Site, message: Message, now: float, policy: Policy) -> Change:
    """What `message` changes. A message that was seen before changes nothing."""
    mark = hashlib.sha256(message.id.encode()).hexdigest()[:12]
    if mark in site.seen:
        return Change(site.head)
    change = _HANDLERS[message.type](site, message, now, policy)
    seen = Seen(messages=(*site.seen, mark)[-REMEMBERED:])
    part = (seen_key(site.head.site), seen.model_dump_json().encode())
    return joined(Change(site.head, parts=(part,)), change)


def _address_saved(site: Site, message: Message, now: float, policy: Policy) -> Change:
    """E07, E02, E22: each setting has its own rule, and a refused one leaves the one before it in force."""
    said = message.said
    assert isinstance(said, intake.AddressSaved)
    held = site.head.accounts.get(said.account, Account())
    refused: dict[str, str] = {}
    update: dict[str, object] = {"host": message.host, "start": message.start, "schedule": said.schedule}
    try:
        update["note"] = (check_note(said.note, policy.profile) or None) if said.note else None
    except NoteRefused as error:
        refused["note"] = str(error)
    try:
        update["scope"] = _scope(said.scope, site.head.site, message.start)
    except UrlRefused as error:
        refused["scope"] = str(error)
    account = held.model_copy(update=update)
    head = site.head.model_copy(update={"accounts": {**site.head.accounts, said.account: account}})
    fact = SettingsSaved(
        id=ids.event_id("settings", message.id), at=now, site=head.site, account=said.account, host=account.host,
        start=account.start, note=account.note, scope=account.scope, schedule=account.schedule, refused=refused,
    )  # fmt: skip
    check = policy.profile.address_check.enabled and held.start != message.start and head.suspended is None
    if check:  # saving the same address again sends nothing
        head = with_job(head, _job("check", message, said.account, now, VERIFICATION_DEADLINE))
    return Change(head, facts=(fact,))


def _scope(scope: tuple[str, ...] | None, site: str, start: str) -> tuple[str, ...] | None:
    """The canonical pages of a hand-listed scope; any page that is not the site's refuses the whole list."""
    if scope is None:
        return None
    found = []
    for url in scope:
        page = canonical(url, start)
        if not same_site(page, site):
            raise UrlRefused(Reason.OFFSITE, url)
        found.append(page)
    return tuple(dict.fromkeys(found))


def _verification_requested(site: Site, message: Message, now: float, policy: Policy) -> Change:
    """E08-E10. One verification at a time for an account; a suspended site is left alone."""
    said = message.said
    assert isinstance(said, intake.VerificationRequested)
    job = _job("verification", message, said.account, now, VERIFICATION_DEADLINE, method=said.method)
    if site.head.suspended is not None:
        return close_all(site, now, "suspended", jobs=(job,))
    return Change(with_job(site.head, job))


def _crawl_requested(site: Site, message: Message, now: float, policy: Policy) -> Change:
    """E05: the gate, and the audit row that is written whatever it says (E23)."""
    said = message.said
    requester: Requester = "staff"
    if isinstance(said, intake.CrawlRequested):
        requester = said.requester
    assert isinstance(said, intake.CrawlRequested | intake.StartCrawl)
    crawl = ids.job_id("crawl", message.id)
    head = site.head
    verdict = gate.admit(head, said.account, requester, message.said_at, policy.profile)
    proof = verdict.proof
    fact = CrawlDecided(
        id=ids.event_id(crawl, "decided"), at=now, site=head.site, crawl=crawl, account=said.account,
        host=message.host, requester=requester, requested_by=said.by, requested_at=message.said_at,
        accepted=verdict.accepted, refusal=verdict.refusal, verified=proof is not None,
        proof=proof.method if proof else None, verified_at=proof.at if proof else None, bot=policy.profile.name,
    )  # fmt: skip
    if verdict.accepted:
        job = _job("crawl", message, said.account, now, CRAWL_DEADLINE, requester=requester, phase="robots")
        head = with_job(gate.counted(head, crawl, requester, message.said_at), job)
    return Change(head, facts=(fact,))


def _suspend(site: Site, message: Message, now: float, policy: Policy) -> Change:
    """E25: every running job ends here; the pump looks at the head before each request."""
    said = message.said
    assert isinstance(said, intake.SuspendSite)
    closed = close_all(site, now, "suspended")
    head = closed.head.model_copy(update={"suspended": Suspension(at=now, by=said.by, reason=said.reason)})
    fact = Suspended(id=ids.event_id("suspended", message.id), at=now, site=head.site, by=said.by, reason=said.reason)
    return joined(closed, Change(head, facts=(fact,)))


def _resume(site: Site, message: Message, now: float, policy: Policy) -> Change:
    said = message.said
    assert isinstance(said, intake.ResumeSite)
    head = site.head.model_copy(update={"suspended": None})
    fact = Resumed(id=ids.event_id("resumed", message.id), at=now, site=head.site, by=said.by, reason=said.reason)
    return Change(head, facts=(fact,))


def _attest(site: Site, message: Message, now: float, policy: Policy) -> Change:
    """E11: the weaker proof; it never takes the place of one that the customer gave."""
    said = message.said
    assert isinstance(said, intake.AttestSite)
    held = site.head.accounts.get(said.account, Account())
    proof = Proof(method="attestation", host=message.host, at=now, weaker=True, by=said.by, kept_at=said.kept_at)
    if held.proof is not None and not held.proof.weaker:
        proof = held.proof
    account = held.model_copy(
        update={"proof": proof, "host": held.host or message.host, "start": held.start or message.start}
    )
    head = site.head.model_copy(update={"accounts": {**site.head.accounts, said.account: account}})
    fact = Verified(
        id=ids.event_id("attested", message.id), at=now, site=head.site, account=said.account, host=message.host,
        method="attestation", weaker=True, by=said.by, kept_at=said.kept_at,
    )  # fmt: skip
    return Change(head, facts=(fact,))


def _withdraw(site: Site, message: Message, now: float, policy: Policy) -> Change:
    """E13: only staff withdraw a proof; what ran on it ends."""
    said = message.said
    assert isinstance(said, intake.WithdrawVerification)
    held = site.head.accounts.get(said.account, Account())
    jobs = tuple(job for job in site.head.jobs if job.account == said.account and job.kind == "crawl")
    closed = close_all(site, now, "withdrawn", jobs=jobs)
    account = held.model_copy(update={"proof": None})
    head = closed.head.model_copy(update={"accounts": {**closed.head.accounts, said.account: account}})
    fact = VerificationWithdrawn(
        id=ids.event_id("withdrawn", message.id), at=now, site=head.site, account=said.account, by=said.by,
        reason=said.reason,
    )  # fmt: skip
    return joined(closed, Change(head, facts=(fact,)))


def _job(kind: str, message: Message, account: str, now: float, life: float, **more: object) -> Job:
    """A new job; its id follows from the message, so a redelivery starts no second one."""
    fields = {
        "id": ids.job_id(kind, message.id), "kind": kind, "account": account, "host": message.host,
        "start": message.start, "accepted_at": now, "deadline": now + life,
    }  # fmt: skip
    return Job.model_validate({**fields, **more})


_HANDLERS: dict[str, Callable[[Site, Message, float, Policy], Change]] = {
    "address-saved": _address_saved,
    "verification-requested": _verification_requested,
    "crawl-requested": _crawl_requested,
    "start-crawl": _crawl_requested,
    "suspend-site": _suspend,
    "resume-site": _resume,
    "attest-site": _attest,
    "withdraw-verification": _withdraw,
}
