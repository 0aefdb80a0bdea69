"""Examples have no deadline of their own: a busy machine is no failure, and bounded time has its own tests."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("rules", deadline=None)
settings.load_profile("rules")
