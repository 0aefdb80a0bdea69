"""The console: HTTP API, operator pages, policy pages. Never touches a worker."""
