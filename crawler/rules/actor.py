"""`decide`: what a message means to a site. Pure; `now` is the broker's time of the message.

The agent that calls it stores the change and publishes its facts before the message is let go, so a message that
is delivered again finds itself in `seen`, or repeats the same facts under the same ids.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from crawler.rules import checks, gate, restoring, sentences, staff
from crawler.rules.identity import NoteRefused, check_note
from crawler.rules.jobs import proof
from crawler.rules.jobs.closing import close_all
from crawler.rules.making import named, new_job, refused, with_account
from crawler.rules.site import Change, Policy, Site, joined, with_job
from crawler.rules.urls import UrlRefused, admitted
from models import ids, intake
from models.events import AddressChecked, CrawlDecided, Requester, SettingsSaved, SiteConfirmed
from models.mailbox import RESTORE, Message
from models.state import Account, Confirmation, Head, Job, Seen, seen_key

REMEMBERED = 200
"""Messages per site that are recognised when they come again.

Is that enough? What we deliver twice ourselves was not committed: of a mailbox, about a second of decisions, each of
which waits for the broker three times (8 to 12 ms, so at most 120 in a partition); of an intake topic, a second of
forwarding, in which one site would have to be told more than 200 things. Where it is not (a producer that repeats an
old event, a hole in the offsets that stays for 20 s), `_at_the_gate` knows the crawls of today and yesterday by their
ids. A mark of how far each topic was heard would need no limit, but it loses events: after a rebalance one can come
behind a later one (found by the model).
"""


def mark_of(message: str) -> str:
    """How a site remembers that it has decided the message of this id."""
    return hashlib.sha256(message.encode()).hexdigest()[:12]


def decide(site: Site, message: Message, now: float, policy: Policy) -> Change:
    """What `message` changes. A message that was seen before changes nothing."""
    mark = mark_of(message.id)
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
    update["saved_at"] = now
    try:
        update["note"] = (check_note(said.note, policy.profile) or None) if said.note else None
    except NoteRefused as error:
        refused["note"] = str(error)
    try:
        update["scope"] = _scope(said.scope, message, policy)
    except UrlRefused as error:
        refused["scope"] = f"{sentences.of(error.reason)} ({error})"
    except ScopeRefused as error:
        refused["scope"] = str(error)
    account = held.model_copy(update=update)
    head = site.head.model_copy(update={"accounts": {**site.head.accounts, said.account: account}})
    fact = SettingsSaved(
        id=ids.event_id("settings", message.id), at=now, site=head.site, account=said.account, host=account.host,
        start=account.start, note=account.note, scope=account.scope, schedule=account.schedule, refused=refused,
    )  # fmt: skip
    changed = held.start != message.start or not held.saved_at
    if not changed or not policy.profile.address_check.enabled:  # an unchanged one sends nothing
        return Change(head, facts=(fact,))
    return joined(Change(head, facts=(fact,)), _check(head, message, said.account, now, policy))


def _check(head: Head, message: Message, account: str, now: float, policy: Policy) -> Change:
    """E07: the one HEAD, or the fact that says why there is none; the address is saved either way."""
    job = new_job("check", message, account, now, policy)
    rule = policy.profile.address_check
    why = checks.not_made(head, message.said_at, rule, account_spent=message.account_spent)
    if why is None:
        return Change(with_job(checks.counted(head, job.id, message.said_at), job))
    fact = AddressChecked(
        id=ids.event_id(job.id, "ended"), at=now, site=head.site, job=job.id, account=account, host=job.host,
        answers=False, status=None, outcome=why, reason=sentences.NOT_CHECKED[why],
    )  # fmt: skip
    return Change(head, facts=(fact,))


class ScopeRefused(ValueError):
    """A hand-listed scope that cannot be taken; the text says what to change."""


def _scope(scope: tuple[str, ...] | None, message: Message, policy: Policy) -> tuple[str, ...] | None:
    """The pages of a hand-listed scope as they may be asked for (E22); any that may not refuses the whole list."""
    if scope is None:
        return None
    rule, most = policy.profile.scope, policy.profile.budget.listed_pages
    pages = tuple(dict.fromkeys(admitted(url, message.host, rule, base=message.start) for url in scope))
    if not 0 < len(pages) <= most:
        raise ScopeRefused(f"A list of pages has 1 to {most} pages, not {len(pages)} (E18).")
    return pages


def _site_confirmed(site: Site, message: Message, now: float, policy: Policy) -> Change:
    """C01: the customer's word, with who and when. It is recorded for every bot, and opens only this bot's gate."""
    said = message.said
    assert isinstance(said, intake.SiteConfirmed)
    held = site.head.accounts.get(said.account, Account())
    update = {"confirmed": Confirmation(at=now, by=said.by), **named(held, message)}
    fact = SiteConfirmed(
        id=ids.event_id("confirmed", message.id), at=now, site=site.head.site, account=said.account, by=said.by
    )  # fmt: skip
    return Change(with_account(site.head, said.account, held.model_copy(update=update)), facts=(fact,))


def _verification_requested(site: Site, message: Message, now: float, policy: Policy) -> Change:
    """E08-E10. One verification at a time for an account; a stopped site is left alone."""
    said = message.said
    assert isinstance(said, intake.VerificationRequested)
    job = new_job("verification", message, said.account, now, policy, method=said.method)
    if site.job(job.id) is not None:
        return Change(site.head)  # delivered again before it was marked as seen
    if site.head.stopped:
        return close_all(site, now, _stop_of(site.head), jobs=(job,))
    busy = any(other.kind == "verification" and other.account == said.account for other in site.head.jobs)
    if busy:
        return refused(site, job, now, "busy", "A proof is being looked for already; its result comes in a moment.")
    if not proof.known(policy, said.method):
        return refused(site, job, now, "method", f"{policy.profile.identity.token} knows no proof of this kind.")
    return Change(with_job(site.head, job))


def _stop_of(head: Head) -> str:
    return "suspended" if head.suspended is not None else "blocked"


def _crawl_requested(site: Site, message: Message, now: float, policy: Policy) -> Change:
    """E05: the gate, and the audit row that is written whatever it says (E23). Staff speak by their own topic."""
    said = message.said
    assert isinstance(said, intake.CrawlRequested | intake.StartCrawl)
    requester: Requester = said.requester if isinstance(said, intake.CrawlRequested) else "staff"
    job = new_job("crawl", message, said.account, now, policy, requester=requester, phase="robots", plan=said.plan)
    return _at_the_gate(site, message, job, said.by, now, policy)


def _listing_requested(site: Site, message: Message, now: float, policy: Policy) -> Change:
    """E05: a listing passes the gate as a crawl does. It is of the whole site and begins at the homepage."""
    said = message.said
    assert isinstance(said, intake.ListingRequested)
    job = new_job("listing", message, said.account, now, policy, phase="robots", start=f"https://{message.host}/")
    return _at_the_gate(site, message, job, said.by, now, policy)


def _at_the_gate(site: Site, message: Message, job: Job, by: str, now: float, policy: Policy) -> Change:
    head = site.head
    if site.job(job.id) is not None or any(job.id in started for started in head.starts.values()):
        return Change(head)  # delivered again: before it was marked as seen, or so late that the mark is gone
    kind: gate.Kind = "listing" if job.kind == "listing" else "crawl"
    asking = gate.Asking(job.account, job.requester, message.said_at, job.host, job.start, kind, job.plan)
    verdict = gate.admit(head, asking, policy.profile)
    fact = _decision(head, asking, verdict, job.id, by, now, policy)
    if not verdict.accepted:
        return Change(head, facts=(fact,))
    held = head.accounts.get(job.account, Account())
    limits, path = verdict.limits, verdict.proof.path if verdict.proof and not verdict.recheck else ""
    update = {"limits": limits, "recheck": verdict.recheck, "under": path}
    job = job.model_copy(update={**update, "hand_listed": kind == "crawl" and held.scope is not None})
    if kind == "crawl":
        head = gate.counted(head, job.id, job.requester, message.said_at)
    return Change(with_job(head, job), facts=(fact,))


def _decision(
    head: Head, asking: gate.Asking, verdict: gate.Verdict, crawl: str, by: str, now: float, policy: Policy
) -> CrawlDecided:
    proof_, word = verdict.proof, verdict.confirmed
    return CrawlDecided(
        id=ids.event_id(crawl, "decided"), at=now, site=head.site, crawl=crawl, account=asking.account,
        host=asking.host, requester=asking.requester, requested_by=by, requested_at=asking.at,
        accepted=verdict.accepted, refusal=verdict.refusal, verified=proof_ is not None,
        proof=proof_.method if proof_ else None, verified_at=proof_.at if proof_ else None, bot=policy.profile.name,
        kind=asking.kind, plan=asking.plan, page_limit=verdict.limits.pages if verdict.limits else None,
        confirmed_by=word.by if word else None, confirmed_at=word.at if word else None,
    )  # fmt: skip


_HANDLERS: dict[str, Callable[[Site, Message, float, Policy], Change]] = {
    "address-saved": _address_saved,
    "verification-requested": _verification_requested,
    "crawl-requested": _crawl_requested,
    "start-crawl": _crawl_requested,
    "site-confirmed": _site_confirmed,
    "listing-requested": _listing_requested,
    **staff.HANDLERS,
    RESTORE: restoring.restore,
}
