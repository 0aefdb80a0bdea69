"""Bytes to links, text, pairs and directives; runs in a child process."""

from crawler.reading import native

COMPILED: bool = native.attach(__path__)
"""Whether the modules that `native` names run compiled."""
