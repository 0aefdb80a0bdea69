"""The gate: the one place where a crawl is allowed or refused (E05).

The console's button, the nightly schedule and staff all pass here, and nothing else can start a job. Every answer,
a refusal too, becomes the audit row (E23).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from models.events import Refusal, Requester
from models.profile import Profile
from models.state import Account, Head, Proof

SENTENCES: dict[Refusal, str] = {
    "unverified": "This site is not verified for this account. Place a proof and verify it first.",
    "suspended": "Staff have suspended this site. Nothing is read from it until they resume it.",
    "cap": "The site has had its crawls for today (UTC). It can be crawled again after midnight.",
    "running": "A crawl of this site is running. Wait for its end, then ask again.",
    "scope": "The site's scope is a list of pages; such a site is crawled when asked, not on the schedule.",
    "address": "No address was saved for this account and site.",
}
"""What a customer is told, and what to do about it."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The gate's answer, and the proof that was on file when it was given."""

    refusal: Refusal | None
    proof: Proof | None

    @property
    def accepted(self) -> bool:
        """Whether the job starts."""
        return self.refusal is None


def day_of(at: float) -> str:
    """The UTC day that a start counts towards (E21)."""
    return datetime.fromtimestamp(at, UTC).date().isoformat()


def admit(head: Head, account: str, requester: Requester, at: float, profile: Profile) -> Verdict:
    """Whether a crawl may start now, for this account, asked for by this requester.

    `at` is when it was asked (broker time, seconds). The order of the reasons is the order in which they
    matter to whoever is refused: a suspension hides nothing else, authority comes before caps.
    """
    held = head.accounts.get(account, Account())
    return Verdict(_refusal(head, held, requester, at, profile), held.proof)


def _refusal(head: Head, held: Account, requester: Requester, at: float, profile: Profile) -> Refusal | None:
    if head.suspended is not None:
        return "suspended"  # E25
    if held.proof is None:
        return "unverified"  # E05
    if requester == "schedule" and (not profile.gate.schedule or not held.schedule or held.scope is not None):
        return "scope"  # E22
    if any(job.kind == "crawl" for job in head.jobs):
        return "running"
    cap = profile.gate.customer_starts_per_day
    if requester != "staff" and cap is not None and len(head.starts.get(day_of(at), ())) >= cap:
        return "cap"  # E21
    return None


def counted(head: Head, crawl: str, requester: Requester, at: float) -> Head:
    """The head after a start: customers' and scheduled starts count towards the day, staff's do not (E21).

    Ids, not a counter: a redelivery adds nothing. Days before yesterday are forgotten.
    """
    if requester == "staff":
        return head
    today = day_of(at)
    kept = {day: ids for day, ids in head.starts.items() if day >= day_of(at - 86_400)}
    kept[today] = tuple(dict.fromkeys((*kept.get(today, ()), crawl)))
    return head.model_copy(update={"starts": kept})
