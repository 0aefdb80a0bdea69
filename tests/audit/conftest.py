"""A database of this version for each test, and whoever may run commands against it."""

from __future__ import annotations

from tests.sink.conftest import database_url, engine, template

__all__ = ["database_url", "engine", "template"]
