"""The software and the processors of a cluster: version of Tagalong, vector width.

Workers and the scheduler load what the client sends them, so they need the client's version. Sums
over labels may differ in the last bits between processors of different vector width.
"""

import platform
from collections.abc import Mapping
from dataclasses import dataclass

from tagalong import _native as core
from tagalong.version import __version__

__all__ = ["FACTS", "WorkerError", "check_versions", "check_width", "installed_version"]

# An expression, because a machine without Tagalong cannot load a function of it.
FACTS = (
    "{'host': __import__('platform').node(), "
    "'version': __import__('tagalong.version', fromlist=['']).__version__}"
)


class WorkerError(ValueError):
    """A worker that cannot do the work: another version, or another file system."""


@dataclass(frozen=True)
class Place:
    """A process of a cluster.

    Parameters
    ----------
    what : str
        "the scheduler" or "the worker".
    address : str
        Its address.
    """

    what: str
    address: str

    def __str__(self) -> str:
        return f"{self.what} {self.address}"


def check_versions(found: Mapping[Place, Mapping[str, str] | BaseException]) -> None:
    """Raise WorkerError if a process of a cluster cannot run what this process sends.

    Parameters
    ----------
    found : mapping
        For each process the value of `FACTS`, or the error that it raised.
    """
    for place, facts in found.items():
        if isinstance(facts, ImportError):
            raise WorkerError(
                f"{place} cannot load Tagalong ({facts}): install version {__version__} on all "
                "machines"
            )
        if isinstance(facts, BaseException):
            continue  # it is being lost; its tasks will be repeated
        if facts["version"] != __version__:
            raise WorkerError(
                f"{place} on {facts['host']} has Tagalong {facts['version']}, and this is Tagalong "
                f"{__version__}: install the same version on all machines"
            )


def installed_version() -> str:
    """Return the version of this process."""
    return __version__


def check_width(width: str) -> None:
    """Raise WorkerError if this processor has another vector width.

    Parameters
    ----------
    width : str
        The width of the client, as ``vector_width`` of the native core returns it.
    """
    if core.vector_width() != width:
        raise WorkerError(
            f"the worker on {platform.node()} computes with {core.vector_width()}, and this "
            f"machine with {width}: the results would differ in the last bits; use workers with "
            "processors of the same vector width"
        )
