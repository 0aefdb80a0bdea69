"""Measurements; `python -m bench` runs them."""
