"""The gate: the one place where a job is allowed or refused (E05, W01, C01).

The console's button, the nightly schedule and staff all pass here, and nothing else can start a job. What it asks
for is data of the profile. Every answer, a refusal too, becomes the audit row (E23).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from crawler.rules import budget
from crawler.rules.urls import host_of, path_of
from models.events import Refusal, Requester
from models.profile import Profile
from models.state import Account, Confirmation, Head, Limits, Proof

Kind = Literal["crawl", "listing"]

SENTENCES: dict[Refusal, str] = {
    "suspended": "Staff have suspended this site. Nothing is read from it until they resume it.",
    "blocked": "This site is on the blocklist. Nothing is read from it.",
    "unverified": "This site is not verified for this account. Place a proof and verify it first.",
    "unconfirmed": "Nobody has confirmed for this account that the site is theirs or may be read. Confirm it first.",
    "unlisted": "This site is not on the operator's list. Staff put a site there with `licet list`.",
    "by_hand": "Only staff start runs of this bot, by hand.",
    "no_listing": "This bot does not list pages. Ask for a crawl instead.",
    "scope": "The schedule does not crawl this site: it is switched off for it, or its scope is a list of pages.",
    "running": "A job of this kind is running at this site. Wait for its end, then ask again.",
    "cap": "The site has had its crawls for today (UTC). It can be crawled again after midnight.",
}
"""What a customer is told, and what to do about it. In the order in which the gate looks."""


@dataclass(frozen=True, slots=True)
class Asking:
    """One request for a job, as the gate sees it. `at` is when it was asked: broker time, seconds."""

    account: str
    requester: Requester
    at: float
    host: str
    start: str
    kind: Kind = "crawl"
    plan: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The gate's answer, and what was on file when it was given."""

    refusal: Refusal | None
    proof: Proof | None
    confirmed: Confirmation | None = None
    limits: Limits | None = None
    """What the job may ask for until its proof has been looked at again, or for good where it is not (C06)."""
    recheck: bool = False
    """The proof is to be looked at again before the first page (C06)."""

    @property
    def accepted(self) -> bool:
        """Whether the job starts."""
        return self.refusal is None


def day_of(at: float) -> str:
    """The UTC day that a start counts towards (E21)."""
    return datetime.fromtimestamp(at, UTC).date().isoformat()


def admit(head: Head, asking: Asking, profile: Profile) -> Verdict:
    """Whether a job may start now, for this account, asked for by this requester.

    The order of the reasons is the order in which they matter to whoever is refused: what staff decided hides
    nothing else, authority comes before caps.
    """
    held = head.accounts.get(asking.account, Account())
    proof = counting_proof(held.proof, asking, profile)
    recheck = (
        asking.kind == "crawl" and profile.gate.recheck_proof and proof is not None and proof.method != "attestation"
    )
    proved = proof is not None and not recheck  # C06: no page above the standard limit before it is found again
    limits = limits_of(profile, held, asking.plan, proved=proved) if asking.kind == "crawl" else None
    refusal = next((name for name, refuses in _GUARDS if refuses(head, held, proof, asking, profile)), None)
    return Verdict(refusal, proof, held.confirmed, limits, recheck)


def counting_proof(proof: Proof | None, asking: Asking, profile: Profile) -> Proof | None:
    """The proof on file as far as it counts for this host and start page (C03, C04), or None."""
    if proof is None:
        return None
    by_name = proof.method in ("dns", "token_file")
    if profile.proofs.exact_host and by_name and proof.host != asking.host:
        return None  # C03: `www.example.com` is a name of its own
    if proof.path and not is_under(asking.start, proof.path):
        return None  # C04: one member's pages on a shared host
    if proof.path and host_of(asking.start) != proof.host:
        return None
    return proof


def is_under(url: str, path: str) -> bool:
    """Whether a canonical URL is `path` or beneath it."""
    asked = path_of(url).partition("?")[0]
    return asked == path or asked.startswith(path.rstrip("/") + "/")


def limits_of(profile: Profile, held: Account, plan: str, *, proved: bool) -> Limits:
    """What a crawl may keep and ask for (E18, C02). A plan that is not known is the narrowest."""
    kind: budget.Job = "site" if held.scope is None else "listed"
    found = budget.limits(profile, kind, "paid" if plan == "paid" else None, proved=proved)
    return Limits(pages=found.pages, page_requests=found.page_requests, pairs_requests=found.pairs_requests)


def standard_pages(profile: Profile, plan: str) -> int:
    """The plan's standard limit for a whole site, also where one crawl's own list of pages is shorter (C02, C06)."""
    return limits_of(profile, Account(), plan, proved=False).pages


_Guard = Callable[[Head, Account, Proof | None, Asking, Profile], bool]


def _unverified(_head: Head, _held: Account, proof: Proof | None, _asking: Asking, profile: Profile) -> bool:
    """E05: verified for the account that asks."""
    return profile.gate.kind == "verified_account" and proof is None


def _unconfirmed(_head: Head, held: Account, _proof: Proof | None, _asking: Asking, profile: Profile) -> bool:
    """C01: somebody's word is on record, with who and when."""
    return profile.gate.kind == "confirmation" and held.confirmed is None


def _unlisted(head: Head, _held: Account, _proof: Proof | None, _asking: Asking, profile: Profile) -> bool:
    """W01: a hand-picked set of sites."""
    return profile.gate.kind == "operator_list" and head.listed is None


def _by_hand(_head: Head, _held: Account, _proof: Proof | None, asking: Asking, profile: Profile) -> bool:
    """W01: runs are started by hand, and the hand is the operator's."""
    return profile.gate.kind == "operator_list" and asking.requester != "staff"


def _scope(_head: Head, held: Account, _proof: Proof | None, asking: Asking, profile: Profile) -> bool:
    """E22: a site whose scope was cut is crawled only when asked."""
    on_schedule = profile.gate.schedule and held.schedule and held.scope is None
    return asking.requester == "schedule" and not on_schedule


def _running(head: Head, _held: Account, _proof: Proof | None, asking: Asking, _profile: Profile) -> bool:
    """One job of a kind at a site; the second request is refused and says so. Nothing is queued."""
    return any(job.kind == asking.kind for job in head.jobs)


def _cap(head: Head, _held: Account, _proof: Proof | None, asking: Asking, profile: Profile) -> bool:
    """E21: customers and the schedule together, per site and UTC day; staff are not capped."""
    cap = profile.gate.customer_starts_per_day
    if asking.kind != "crawl" or asking.requester == "staff" or cap is None:
        return False
    return len(head.starts.get(day_of(asking.at), ())) >= cap


_GUARDS: tuple[tuple[Refusal, _Guard], ...] = (
    ("suspended", lambda head, *_: head.suspended is not None),  # E25
    ("blocked", lambda head, *_: head.blocked is not None),  # W13
    ("unverified", _unverified),
    ("unconfirmed", _unconfirmed),
    ("unlisted", _unlisted),
    ("by_hand", _by_hand),
    (
        "no_listing",
        lambda _head, _held, _proof, asking, profile: asking.kind == "listing" and not profile.gate.listing,
    ),
    ("scope", _scope),
    ("running", _running),
    ("cap", _cap),
)


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


def still_to_be_proved(account: Account) -> bool:
    """Whether nothing but an attestation stands: the site stays flagged until its customer proves it (E11)."""
    return account.proof is not None and account.proof.method == "attestation"


def better(held: Proof | None, new: Proof) -> Proof:
    """The proof to keep: the newer one, but a weaker never takes the place of a stronger (E11, E10)."""
    return held if held is not None and new.weaker and not held.weaker else new
