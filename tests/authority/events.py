"""Intake events as bytes."""

from __future__ import annotations

import json
import uuid
from typing import Any


def raw(kind: str, **data: Any) -> bytes:
    """An envelope as any console would write it."""
    return json.dumps({"id": str(uuid.uuid4()), "type": kind, "version": 1, "data": data}).encode()
