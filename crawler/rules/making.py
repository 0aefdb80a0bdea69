"""What the handlers of messages share: a new job, a verification that is not made, a changed account."""

from __future__ import annotations

from crawler.rules.jobs import proof
from crawler.rules.site import Change, Policy, Site
from models import ids
from models.mailbox import Message
from models.state import Account, Head, Job

SMALL_DEADLINE = 15 * 60.0
CRAWL_DEADLINE = 4 * 3600.0
"""The worst legal crawl takes about 1.5 h: 120 requests of 30 s timeout and 1 s pace, and their retries."""
LIVES = {"crawl": CRAWL_DEADLINE}


def new_job(kind: str, message: Message, account: str, now: float, policy: Policy, **more: object) -> Job:
    """A new job; its id follows from the message, so a redelivery starts no second one."""
    start = message.start.partition("?")[0] if policy.profile.scope.query == "drop" else message.start  # E20
    fields = {
        "id": ids.job_id(kind, message.id), "kind": kind, "account": account, "host": message.host,
        "start": start, "accepted_at": now, "deadline": now + LIVES.get(kind, SMALL_DEADLINE),
    }  # fmt: skip
    return Job.model_validate({**fields, **more})


def refused(site: Site, job: Job, now: float, cause: str, reason: str) -> Change:
    """A verification that is not made."""
    found = proof.Finding("undetermined", cause, reason)
    return Change(site.head, facts=(proof.failed(site, job, now, found, refused=True),))


def named(held: Account, message: Message) -> dict[str, str]:
    """The host and start page of an account that was never saved: those that were named first."""
    return {"host": held.host or message.host, "start": held.start or message.start}


def with_account(head: Head, name: str, account: Account) -> Head:
    """The head with one account changed or added."""
    return head.model_copy(update={"accounts": {**head.accounts, name: account}})
