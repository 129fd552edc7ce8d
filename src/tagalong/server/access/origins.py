"""Which page has made a request: one of this service, one of another site, or none.

Browsers say it in ``Sec-Fetch-Site`` (by HTTPS and on loopback) and in ``Origin`` (with every
request that is not GET or HEAD). Other programs send neither.
"""

from enum import Enum, auto

from starlette.types import Scope

from tagalong.server.access.hosts import header_values

__all__ = ["Source", "is_navigation", "source"]


class Source(Enum):
    """The kind of page that has made a request."""

    OWN = auto()  # a page of this service, by the word of the browser
    FOREIGN = auto()  # a page of another site, or of another port of this host
    UNKNOWN = auto()  # no page: another program, or a person who has typed the address


def source(scope: Scope, host: str) -> Source:
    """Return which page has made a request.

    Parameters
    ----------
    scope : mapping
        The request.
    host : str
        Its host and port, in lower case.
    """
    sites = header_values(scope, b"sec-fetch-site")
    origins = header_values(scope, b"origin")
    if len(sites) > 1 or len(origins) > 1:
        return Source.FOREIGN  # no browser does that
    site = sites[0] if sites else None
    origin = origins[0].lower() if origins else None
    if site not in (None, "same-origin", "none"):
        return Source.FOREIGN
    if origin == "null":
        # A form of a page with the policy "no-referrer" has no other origin, nor has a sandbox.
        return Source.OWN if site == "same-origin" else Source.FOREIGN
    if origin is not None:
        return Source.OWN if origin in _own_origins(scope, host) else Source.FOREIGN
    return Source.OWN if site == "same-origin" else Source.UNKNOWN


def _own_origins(scope: Scope, host: str) -> tuple[str, ...]:
    """Return the origins of the pages of this service.

    A proxy that ends HTTPS may pass requests on as HTTP. An HTTPS page of the same host is at least
    as trustworthy as an HTTP page. The reverse does not hold.
    """
    https = f"https://{host}"
    return (https,) if scope.get("scheme") == "https" else (https, f"http://{host}")


def is_navigation(scope: Scope) -> bool:
    """Whether a browser opens the address in a tab, not in a frame: somebody follows a link.

    Parameters
    ----------
    scope : mapping
        The request.
    """
    return header_values(scope, b"sec-fetch-dest") == ["document"]
