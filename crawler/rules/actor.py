"""`decide`: what a message means to a site. Pure; `now` is the broker's time of the message.

The agent that calls it stores the change and publishes its facts before the message is let go, so a message that
is delivered again finds itself in `seen`, or repeats the same facts under the same ids.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from crawler.rules import gate, restoring
from crawler.rules.identity import NoteRefused, check_note
from crawler.rules.jobs import proof
from crawler.rules.jobs.closing import close_all
from crawler.rules.site import Change, Policy, Site, joined, with_job
from crawler.rules.urls import UrlRefused, admitted
from models import ids, intake
from models.events import (
    Blocked,
    CrawlDecided,
    Listed,
    Requester,
    Resumed,
    SettingsSaved,
    SiteConfirmed,
    StopConfirmed,
    StopDone,
    StopRequested,
    Suspended,
    Unblocked,
    Unlisted,
    VerificationWithdrawn,
    Verified,
)
from models.mailbox import RESTORE, Message
from models.state import Account, Confirmation, Head, Job, Proof, Seen, Suspension, seen_key

REMEMBERED = 200
"""Messages per site that are recognised when they come again."""
SMALL_DEADLINE = 15 * 60.0
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
    update["saved_at"] = now
    try:
        update["note"] = (check_note(said.note, policy.profile) or None) if said.note else None
    except NoteRefused as error:
        refused["note"] = str(error)
    try:
        update["scope"] = _scope(said.scope, message, policy)
    except (UrlRefused, ScopeRefused) as error:
        refused["scope"] = str(error)
    account = held.model_copy(update=update)
    head = site.head.model_copy(update={"accounts": {**site.head.accounts, said.account: account}})
    fact = SettingsSaved(
        id=ids.event_id("settings", message.id), at=now, site=head.site, account=said.account, host=account.host,
        start=account.start, note=account.note, scope=account.scope, schedule=account.schedule, refused=refused,
    )  # fmt: skip
    check = policy.profile.address_check.enabled and held.start != message.start and not head.stopped
    if check:  # saving the same address again sends nothing
        head = with_job(head, _job("check", message, said.account, now, policy))
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
    update = {"confirmed": Confirmation(at=now, by=said.by), **_named(held, message)}
    fact = SiteConfirmed(
        id=ids.event_id("confirmed", message.id), at=now, site=site.head.site, account=said.account, by=said.by
    )  # fmt: skip
    return Change(_with_account(site.head, said.account, held.model_copy(update=update)), facts=(fact,))


def _verification_requested(site: Site, message: Message, now: float, policy: Policy) -> Change:
    """E08-E10. One verification at a time for an account; a stopped site is left alone."""
    said = message.said
    assert isinstance(said, intake.VerificationRequested)
    job = _job("verification", message, said.account, now, policy, method=said.method)
    if site.job(job.id) is not None:
        return Change(site.head)  # delivered again before it was marked as seen
    if site.head.stopped:
        return close_all(site, now, _stop_of(site.head), jobs=(job,))
    busy = any(other.kind == "verification" and other.account == said.account for other in site.head.jobs)
    if busy:
        return _refused(site, job, now, "busy", "A proof is being looked for already; its result comes in a moment.")
    if not proof.known(policy, said.method):
        return _refused(site, job, now, "method", f"{policy.profile.identity.token} knows no proof of this kind.")
    return Change(with_job(site.head, job))


def _refused(site: Site, job: Job, now: float, cause: str, reason: str) -> Change:
    """A verification that is not made."""
    found = proof.Finding("undetermined", cause, reason)
    return Change(site.head, facts=(proof.failed(site, job, now, found, refused=True),))


def _stop_of(head: Head) -> str:
    return "suspended" if head.suspended is not None else "blocked"


def _crawl_requested(site: Site, message: Message, now: float, policy: Policy) -> Change:
    """E05: the gate, and the audit row that is written whatever it says (E23). Staff speak by their own topic."""
    said = message.said
    assert isinstance(said, intake.CrawlRequested | intake.StartCrawl)
    requester: Requester = said.requester if isinstance(said, intake.CrawlRequested) else "staff"
    job = _job("crawl", message, said.account, now, policy, requester=requester, phase="robots", plan=said.plan)
    return _at_the_gate(site, message, job, said.by, now, policy)


def _listing_requested(site: Site, message: Message, now: float, policy: Policy) -> Change:
    """E05: a listing passes the gate as a crawl does. It is of the whole site and begins at the homepage."""
    said = message.said
    assert isinstance(said, intake.ListingRequested)
    job = _job("listing", message, said.account, now, policy, phase="robots", start=f"https://{message.host}/")
    return _at_the_gate(site, message, job, said.by, now, policy)


def _at_the_gate(site: Site, message: Message, job: Job, by: str, now: float, policy: Policy) -> Change:
    head = site.head
    if site.job(job.id) is not None:
        return Change(head)  # delivered again before it was marked as seen
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


def _suspend(site: Site, message: Message, now: float, policy: Policy) -> Change:
    """E25: every running job ends here; the pump looks at the head before each request."""
    said = message.said
    assert isinstance(said, intake.SuspendSite)
    closed = close_all(site, now, "suspended")
    head = closed.head.model_copy(update={"suspended": Suspension(at=now, by=said.by, reason=said.reason)})
    fact = Suspended(id=ids.event_id("suspended", message.id), at=now, site=head.site, by=said.by, reason=said.reason)
    return joined(closed, Change(head, facts=(fact, *_done(site, message, said, now))))


def _resume(site: Site, message: Message, now: float, policy: Policy) -> Change:
    said = message.said
    assert isinstance(said, intake.ResumeSite)
    head = site.head.model_copy(update={"suspended": None})
    fact = Resumed(id=ids.event_id("resumed", message.id), at=now, site=head.site, by=said.by, reason=said.reason)
    return Change(head, facts=(fact,))


def _block(site: Site, message: Message, now: float, policy: Policy) -> Change:
    """W13: effective at once, as a suspension is; a resume does not lift it."""
    said = message.said
    assert isinstance(said, intake.BlockSite)
    closed = close_all(site, now, "blocked")
    head = closed.head.model_copy(update={"blocked": Suspension(at=now, by=said.by, reason=said.reason)})
    fact = Blocked(id=ids.event_id("blocked", message.id), at=now, site=head.site, by=said.by, reason=said.reason)
    return joined(closed, Change(head, facts=(fact, *_done(site, message, said, now))))


def _done(
    site: Site, message: Message, said: intake.SuspendSite | intake.BlockSite, now: float
) -> tuple[StopDone, ...]:
    """The stop request that a suspension answers is done with it (E25, W13)."""
    if not said.stop_request:
        return ()
    event = ids.event_id("stop-done", said.stop_request)
    return (StopDone(id=event, at=now, site=site.head.site, stop_request=said.stop_request, by=said.by),)


def _unblock(site: Site, message: Message, now: float, policy: Policy) -> Change:
    said = message.said
    assert isinstance(said, intake.UnblockSite)
    head = site.head.model_copy(update={"blocked": None})
    fact = Unblocked(id=ids.event_id("unblocked", message.id), at=now, site=head.site, by=said.by, reason=said.reason)
    return Change(head, facts=(fact,))


def _list(site: Site, message: Message, now: float, policy: Policy) -> Change:
    """W01: the operator's list is this fact about each of its sites."""
    said = message.said
    assert isinstance(said, intake.ListSite)
    head = site.head.model_copy(update={"listed": Suspension(at=now, by=said.by, reason=said.reason)})
    fact = Listed(id=ids.event_id("listed", message.id), at=now, site=head.site, by=said.by, reason=said.reason)
    return Change(head, facts=(fact,))


def _unlist(site: Site, message: Message, now: float, policy: Policy) -> Change:
    """W01: what runs on the list's authority ends with it."""
    said = message.said
    assert isinstance(said, intake.UnlistSite)
    on_list = policy.profile.gate.kind == "operator_list"
    closed = close_all(site, now, "unlisted") if on_list else Change(site.head)
    head = closed.head.model_copy(update={"listed": None})
    fact = Unlisted(id=ids.event_id("unlisted", message.id), at=now, site=head.site, by=said.by, reason=said.reason)
    return joined(closed, Change(head, facts=(fact,)))


def _record_stop(site: Site, message: Message, now: float, policy: Policy) -> Change:
    """E25, W13: a record of its own; that the site is stopped is a decision of staff, and a command of its own."""
    said = message.said
    assert isinstance(said, intake.RecordStop)
    fact = StopRequested(
        id=ids.event_id("stop-requested", said.stop_request), at=now, site=site.head.site,
        **said.model_dump(include={"stop_request", "received_at", "due_at", "from_whom", "channel", "by"}),
    )  # fmt: skip
    return Change(site.head, facts=(fact,))


def _confirm_stop(site: Site, message: Message, now: float, policy: Policy) -> Change:
    said = message.said
    assert isinstance(said, intake.ConfirmStop)
    event = ids.event_id("stop-confirmed", said.stop_request)
    fact = StopConfirmed(id=event, at=now, site=site.head.site, stop_request=said.stop_request, by=said.by)
    return Change(site.head, facts=(fact,))


def _attest(site: Site, message: Message, now: float, policy: Policy) -> Change:
    """E11: the weaker proof; it never takes the place of one that the customer gave."""
    said = message.said
    assert isinstance(said, intake.AttestSite)
    if not policy.profile.proofs.attestation:
        job = _job("verification", message, said.account, now, policy, method="attestation")
        return _refused(site, job, now, "method", f"{policy.profile.identity.token} knows no attestation.")
    held = site.head.accounts.get(said.account, Account())
    new = Proof(method="attestation", host=message.host, at=now, weaker=True, by=said.by, kept_at=said.kept_at)
    account = held.model_copy(update={"proof": gate.better(held.proof, new), **_named(held, message)})
    fact = Verified(
        id=ids.event_id("attested", message.id), at=now, site=site.head.site, account=said.account, host=message.host,
        method="attestation", weaker=True, by=said.by, kept_at=said.kept_at,
    )  # fmt: skip
    return Change(_with_account(site.head, said.account, account), facts=(fact,))


def _withdraw(site: Site, message: Message, now: float, policy: Policy) -> Change:
    """E13: only staff withdraw a proof; what ran on it ends."""
    said = message.said
    assert isinstance(said, intake.WithdrawVerification)
    held = site.head.accounts.get(said.account, Account())
    # a verification that is under way would put back at once what staff take away
    jobs = tuple(job for job in site.head.jobs if job.account == said.account and job.kind != "check")
    closed = close_all(site, now, "withdrawn", jobs=jobs)
    account = held.model_copy(update={"proof": None, "lost_at": now})
    fact = VerificationWithdrawn(
        id=ids.event_id("withdrawn", message.id), at=now, site=site.head.site, account=said.account, by=said.by,
        reason=said.reason,
    )  # fmt: skip
    return joined(closed, Change(_with_account(closed.head, said.account, account), facts=(fact,)))


def _named(held: Account, message: Message) -> dict[str, str]:
    """The host and start page of an account that was never saved: those that were named first."""
    return {"host": held.host or message.host, "start": held.start or message.start}


def _with_account(head: Head, name: str, account: Account) -> Head:
    return head.model_copy(update={"accounts": {**head.accounts, name: account}})


LIVES = {"crawl": CRAWL_DEADLINE}


def _job(kind: str, message: Message, account: str, now: float, policy: Policy, **more: object) -> Job:
    """A new job; its id follows from the message, so a redelivery starts no second one."""
    start = message.start.partition("?")[0] if policy.profile.scope.query == "drop" else message.start  # E20
    fields = {
        "id": ids.job_id(kind, message.id), "kind": kind, "account": account, "host": message.host,
        "start": start, "accepted_at": now, "deadline": now + LIVES.get(kind, SMALL_DEADLINE),
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
    "site-confirmed": _site_confirmed,
    "listing-requested": _listing_requested,
    "block-site": _block,
    "unblock-site": _unblock,
    "list-site": _list,
    "unlist-site": _unlist,
    "record-stop": _record_stop,
    "confirm-stop": _confirm_stop,
    RESTORE: restoring.restore,
}
