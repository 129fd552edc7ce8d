"""The processor time of other processes."""

import os
import resource
from pathlib import Path


def cpu_seconds(pid: int) -> float:
    """The processor time of a process so far."""
    *_, after = Path(f"/proc/{pid}/stat").read_text().rpartition(")")
    user, system = after.split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def cpu_seconds_of_ended() -> float:
    """The processor time of all processes that this one has started and that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
