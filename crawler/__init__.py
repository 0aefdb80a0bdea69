"""The crawler: what is right (rules), how it asks (fetch), what it understands (reading)."""
