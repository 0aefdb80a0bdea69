"""What staff say (E11, E13, E25, W01, W13): heard on their own topic alone, and recorded with who and why."""

from __future__ import annotations

from collections.abc import Callable

from crawler.rules import gate
from crawler.rules.jobs.closing import close_all
from crawler.rules.making import named, new_job, refused, with_account
from crawler.rules.site import Change, Policy, Site, joined
from crawler.rules.validators import all_forgotten
from models import ids, intake
from models.events import (
    Blocked,
    Erased,
    Fact,
    Listed,
    Resumed,
    StopConfirmed,
    StopDone,
    StopRequested,
    Suspended,
    Unblocked,
    Unlisted,
    VerificationWithdrawn,
    Verified,
)
from models.mailbox import Message
from models.state import Account, Proof, Suspension, cache_key


def _suspend(site: Site, message: Message, now: float, policy: Policy) -> Change:
    """E25: every running job ends here; the pump looks at the head before each request."""
    said = message.said
    assert isinstance(said, intake.SuspendSite)
    closed = close_all(site, now, "suspended")
    head = closed.head.model_copy(update={"suspended": Suspension(at=now, by=said.by, reason=said.reason)})
    fact = Suspended(id=ids.event_id("suspended", message.id), at=now, site=head.site, by=said.by, reason=said.reason)
    return joined(closed, Change(head, facts=(fact, *_done(site, message, said, now))))


def _erase(site: Site, message: Message, now: float, policy: Policy) -> Change:
    """E25: what is held is deleted by the sink, from this fact; here the site is suspended and its parts are dropped.

    Pages are stamped by a worker's clock, this message by the broker's, so the later of the two counts.
    """
    said = message.said
    assert isinstance(said, intake.EraseSite)
    closed = close_all(site, now, "suspended")
    head = closed.head
    facts: tuple[Fact, ...] = ()
    if head.suspended is None:
        head = head.model_copy(update={"suspended": Suspension(at=now, by=said.by, reason=said.reason)})
        event = ids.event_id("suspended", message.id)
        facts = (Suspended(id=event, at=now, site=head.site, by=said.by, reason=said.reason),)
    until = max(now, head.last_end, *(intent.at for intent in head.intents))
    erased = Erased(
        id=ids.event_id("erased", message.id), at=now, site=head.site, until=until, by=said.by, reason=said.reason,
        ticket=said.ticket,
    )  # fmt: skip
    head = head.model_copy(update={"erased_at": max(until, head.erased_at)})
    dead = ((cache_key(head.site), None), *all_forgotten(head))
    return joined(closed, Change(head, parts=dead, facts=(*facts, erased)))


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
        job = new_job("verification", message, said.account, now, policy, method="attestation")
        return refused(site, job, now, "method", f"{policy.profile.identity.token} knows no attestation.")
    held = site.head.accounts.get(said.account, Account())
    new = Proof(method="attestation", host=message.host, at=now, weaker=True, by=said.by, kept_at=said.kept_at)
    account = held.model_copy(update={"proof": gate.better(held.proof, new), **named(held, message)})
    fact = Verified(
        id=ids.event_id("attested", message.id), at=now, site=site.head.site, account=said.account, host=message.host,
        method="attestation", weaker=True, by=said.by, kept_at=said.kept_at,
    )  # fmt: skip
    return Change(with_account(site.head, said.account, account), facts=(fact,))


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
    return joined(closed, Change(with_account(closed.head, said.account, account), facts=(fact,)))


HANDLERS: dict[str, Callable[[Site, Message, float, Policy], Change]] = {
    "suspend-site": _suspend,
    "resume-site": _resume,
    "attest-site": _attest,
    "withdraw-verification": _withdraw,
    "block-site": _block,
    "unblock-site": _unblock,
    "list-site": _list,
    "unlist-site": _unlist,
    "record-stop": _record_stop,
    "confirm-stop": _confirm_stop,
    "erase-site": _erase,
}
