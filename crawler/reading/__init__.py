"""Bytes to links, text, pairs and directives; runs in a child process."""
