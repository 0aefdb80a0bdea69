"""What a worker counts. Names follow Prometheus' conventions; docs/metrics.md explains each."""

from __future__ import annotations

from prometheus_client import Counter, Gauge, Histogram

REQUESTS = Counter("licet_requests_total", "Requests that left for a website.", ["kind", "outcome"])
LATENESS = Histogram(
    "licet_start_lateness_seconds",
    "How long after it was due a site's step began.",
    buckets=(0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 5),
)
GAP = Histogram(
    "licet_pace_slack_seconds",
    "Time of a step beyond the earliest moment that the pace allowed.",
    buckets=(0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 5, 30),
)
OPEN_SITES = Gauge("licet_open_sites", "Sites of this worker that have something to do.")
DEAD_LETTERS = Counter("licet_dead_letters_total", "Events that could not be read.", ["topic", "cause"])
REBALANCES = Counter("licet_rebalances_total", "Assignments of partitions to this worker.")
LOOP_LAG = Histogram(
    "licet_loop_lag_seconds",
    "How late the event loop woke up from a sleep of half a second.",
    buckets=(0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 5, 30),
)
HOLD_FAILURES = Counter("licet_hold_reader_failures_total", "Times that the reader of staff's commands failed.")
