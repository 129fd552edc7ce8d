"""The server below the API: connections, bodies, limits, log, metrics, start and stop."""
