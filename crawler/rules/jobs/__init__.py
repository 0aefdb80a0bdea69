"""What a job asks next, and what an answer means to it: crawl, verification, address check.

`plan` chooses the next request of a site, `intend` counts it, `absorb` takes its answer. One module for each phase
of a crawl (robots, sitemaps, pages) and for the two small jobs (proof, check); all are pure.
"""

from crawler.rules.jobs.absorb import absorb, interrupted, left_open, unsent
from crawler.rules.jobs.closing import close_all
from crawler.rules.jobs.plan import Done, Idle, Intended, Plan, Send, intend, plan

__all__ = [
    "Done",
    "Idle",
    "Intended",
    "Plan",
    "Send",
    "absorb",
    "close_all",
    "intend",
    "interrupted",
    "left_open",
    "plan",
    "unsent",
]
