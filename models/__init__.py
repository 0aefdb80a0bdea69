"""What is said and kept: profile, commands, messages, facts, site state, SQL tables. Knows nobody."""
