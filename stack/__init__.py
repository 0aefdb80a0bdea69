"""Servers and processes on this machine: embedded stack, Apache Kafka from its jars, the supervisor."""
