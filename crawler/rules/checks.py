"""How many address checks are made in a day (E07). Stricter than the promise: saving in a loop is no stream of HEADs.

Two counts, because memory belongs to sites. A *site's* is exact: it is part of the site's memory, holds over every
crash, and counts all accounts together. An *account's* is over many sites, so no site can keep it: each worker keeps
one for what passes through its own intake, in memory alone. So the bound on an account is that of its worker, times
the workers that hear its events, and begins anew when a worker does; the bound on a site is the one that is certain.
A check that is not made never holds up the saving of the address.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Literal

from crawler.rules.gate import day_of
from models.profile import AddressCheck
from models.state import Head

NotMade = Literal["suspended", "blocked", "site_limit", "account_limit"]
"""Why a check is not made. It stands where the outcome of one would (docs/authority.md)."""

MOST_ACCOUNTS = 2_000
"""Accounts that a worker remembers; the one that was quiet for longest is forgotten."""


def not_made(head: Head, at: float, rule: AddressCheck, *, account_spent: bool) -> NotMade | None:
    """Why no HEAD is sent to this site now, or None. `at` is when the address was saved: broker time, seconds."""
    if head.suspended is not None:
        return "suspended"  # E25
    if head.blocked is not None:
        return "blocked"  # W13
    if account_spent:
        return "account_limit"
    return "site_limit" if len(head.checks.get(day_of(at), ())) >= rule.per_site_day else None


def counted(head: Head, job: str, at: float) -> Head:
    """The head with one more check of that day: ids, not a counter, since a redelivery adds nothing."""
    kept = {day: ids for day, ids in head.checks.items() if day >= day_of(at - 86_400)}
    kept[day_of(at)] = tuple(dict.fromkeys((*kept.get(day_of(at), ()), job)))
    return head.model_copy(update={"checks": kept})


@dataclass(slots=True)
class AccountDay:
    """The sites for which each account has saved an address today, as far as this worker has heard."""

    most: int
    day: str = ""
    sites: OrderedDict[str, set[str]] = field(default_factory=OrderedDict)

    def spent(self, account: str, site: str, at: float) -> bool:
        """Whether the account has had its checks of the day, and this site is not among them.

        A site that was let through stays so: the same event, delivered again, is answered as before.
        """
        if (day := day_of(at)) != self.day:
            self.day, self.sites = day, OrderedDict()
        mine = self.sites.setdefault(account, set())
        self.sites.move_to_end(account)
        if len(self.sites) > MOST_ACCOUNTS:
            self.sites.popitem(last=False)
        if site not in mine and len(mine) >= self.most:
            return True
        mine.add(site)
        return False
