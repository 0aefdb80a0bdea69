"""The only code that opens a connection to a stranger."""
