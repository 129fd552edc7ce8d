"""How long a test waits for something that comes, however busy the machine is."""

PATIENCE = 600.0  # seconds; only a deadlock or a process that hangs takes as long
