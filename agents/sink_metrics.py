"""What the sink counts. Labels are closed lists: no site, URL or account ever becomes one."""

from __future__ import annotations

from dataclasses import dataclass, field

from prometheus_client import REGISTRY, CollectorRegistry, Counter, Gauge, Histogram


@dataclass
class SinkMetrics:
    """The sink's metrics in one registry; a test gives its own."""

    registry: CollectorRegistry = field(default_factory=lambda: REGISTRY)

    def __post_init__(self) -> None:
        to = self.registry
        self.records = Counter("licet_sink_records", "Records read, by topic.", ["topic"], registry=to)
        self.rows = Counter("licet_sink_rows", "Rows written or changed.", registry=to)
        self.batches = Counter("licet_sink_batches", "Batches committed.", registry=to)
        self.retries = Counter("licet_sink_retries", "Batches tried again: database or broker away.", registry=to)
        self.letters = Counter("licet_sink_dead_letters", "Records set aside, by cause.", ["cause"], registry=to)
        self.seconds = Histogram("licet_sink_batch_seconds", "From a batch's arrival to its commit.", registry=to)
        self.lag = Gauge("licet_sink_lag", "Records that are not stored yet, by topic.", ["topic"], registry=to)
        self.away = Gauge("licet_sink_database_away", "1 while the database cannot store.", registry=to)
