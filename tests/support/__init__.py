"""Servers and judges that several suites share."""
