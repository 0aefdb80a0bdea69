"""Temporary ranks until the frontier's own module lands."""

from __future__ import annotations


def rank_of_link(url: str, text: str, depth: int) -> float:
    """Lower first."""
    return float(depth)


def rank_of_sitemap(url: str, priority: float | None) -> float:
    """Lower first."""
    return 1.5 - (priority or 0.5)
