"""The timeout of tests that wait for a process or a thread."""

TIMEOUT = (
    600.0  # seconds; only a deadlock or a hanging process takes that long, even on a busy machine
)
