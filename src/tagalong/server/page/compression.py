"""Whether an answer may be compressed."""

from starlette.types import Scope

from tagalong.server.access.hosts import header_values

__all__ = ["accepts_gzip"]


def accepts_gzip(scope: Scope) -> bool:
    """Whether the browser names gzip among the encodings that it accepts, and does not refuse it.

    Parameters
    ----------
    scope : mapping
        The request.
    """
    for value in header_values(scope, b"accept-encoding"):
        for each in value.lower().split(","):
            name, _, weight = each.partition(";")
            if name.strip() == "gzip":
                return weight.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False
