"""How much one job may ask for and keep, exactly (E18, W08, W10, C02)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from models.profile import Profile
from models.web import Kind

Job = Literal["site", "listed", "listing"]
Plan = Literal["trial", "paid"]


@dataclass(frozen=True, slots=True)
class Limits:
    """The ceilings of one job. A page request is any request for a page: retry and redirect hop included."""

    pages: int  # kept
    page_requests: int
    pairs_requests: int  # pages of a listed scope that are read for their pairs only, never kept
    sitemap_requests: int
    llms_txt_requests: int


@dataclass(frozen=True, slots=True)
class Spent:
    """What a job has used up. Requests are counted when they are intended, so a crash cannot raise them."""

    pages: int = 0
    page_requests: int = 0
    pairs_requests: int = 0
    sitemap_requests: int = 0
    llms_txt_requests: int = 0


def limits(profile: Profile, job: Job, plan: Plan | None = None, *, proved: bool = False) -> Limits:
    """The ceilings of a job; the plan is part of the event that started it (C02)."""
    budget = profile.budget
    if job == "listing":
        return Limits(0, budget.listing_pages, 0, budget.sitemap_requests, 0)
    if job == "listed":
        listed = min(budget.listed_pages, _pages(profile, plan, proved=proved))
        return Limits(min(listed, budget.pages), listed, budget.pairs_only_pages, 0, 0)
    pages = _pages(profile, plan, proved=proved)
    requests = min(budget.page_requests, pages * budget.requests_per_page)
    return Limits(pages, requests, 0, budget.sitemap_requests, budget.llms_txt_requests)


def _pages(profile: Profile, plan: Plan | None, *, proved: bool) -> int:
    budget = profile.budget
    if budget.plans is None:
        return budget.pages
    chosen = budget.plans.paid if plan == "paid" else budget.plans.trial  # an unknown plan is the narrowest
    return min(budget.pages, chosen.proved if proved else chosen.standard)


def allows(limit: Limits, spent: Spent, kind: Kind, *, pairs_only: bool = False) -> bool:
    """Whether one more request of a kind may be made."""
    if kind is Kind.SITEMAP:
        return spent.sitemap_requests < limit.sitemap_requests
    if kind is Kind.LLMS_TXT:
        return spent.llms_txt_requests < limit.llms_txt_requests
    if kind is not Kind.PAGE:
        return True  # robots.txt and proofs have limits of their own: hops, one a job
    if pairs_only:
        return spent.pairs_requests < limit.pairs_requests
    room_to_keep = spent.pages < limit.pages or limit.pages == 0
    return room_to_keep and spent.page_requests < limit.page_requests
