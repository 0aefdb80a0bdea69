"""What can go wrong with a stack, as one sentence for whoever started it."""

from __future__ import annotations


class StackError(Exception):
    """A stack, or a part of it, could not be started or used; the text says what to do about it."""
