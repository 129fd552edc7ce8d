"""Under which names the service may be called.

A page can give its own name the address of this computer (DNS rebinding): the browser then takes
the service for a part of that page. The header ``Host`` still has the name of the page.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from ipaddress import IPv6Address

from starlette.types import Scope

from tagalong.server.problems import Problem

__all__ = ["AllowedHosts", "first_header", "header_values"]

_BY_NAME = "tagalong.headers"
REMEMBERED = 64

_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_HOST = re.compile(r"(\[[0-9a-f:.]{2,45}\]|[a-z0-9](?:[a-z0-9._-]{0,252}))(:[0-9]{1,5})?")


def header_values(scope: Scope, name: bytes) -> list[str]:
    """Return the values of all headers of a request that have a name.

    Parameters
    ----------
    scope : mapping
        The request.
    name : bytes
        Name of the header, in lower case.
    """
    headers = scope["headers"]
    known = scope.get(_BY_NAME)
    if known is None or known[0] is not headers:  # the first question about this request
        by_name: dict[bytes, list[str]] = {}
        for each, value in headers:
            by_name.setdefault(each.lower(), []).append(value.decode("latin-1"))
        known = scope[_BY_NAME] = headers, by_name
    values: list[str] = known[1].get(name, [])
    return values


def first_header(scope: Scope, name: bytes, default: str) -> str:
    """Return the value of the first header of a request that has a name.

    Parameters
    ----------
    scope : mapping
        The request.
    name : bytes
        Name of the header, in lower case.
    default : str
        Its value if there is none.
    """
    values = header_values(scope, name)
    return values[0] if values else default


class AllowedHosts:
    """The names under which the service may be called: those of loopback, and some others.

    Parameters
    ----------
    names : iterable of str
        Further names and addresses, without ports: those of ``--allow-host``, and the address to
        which the server is bound. ValueError if a browser would never send one of them.
    """

    def __init__(self, names: Iterable[str] = ()):
        self._names = frozenset(_LOOPBACK) | {_allowed(name) for name in names}

    def check(self, scope: Scope) -> str:
        """Return the host and the port with which a request was made.

        Parameters
        ----------
        scope : mapping
            The request. Problem if it has not exactly one host, or another one.
        """
        hosts = header_values(scope, b"host")
        if len(hosts) != 1:
            raise Problem(
                400, "bad-host", f"a request needs one header Host, this one has {len(hosts)}"
            )
        host = hosts[0].lower()
        if _name_in(host) not in self._names:
            raise Problem(
                421,
                "misdirected",
                f"this service is not called {hosts[0][:300]!a}; the option --allow-host of "
                "'tagalong serve' allows further names",
            )
        return host


@lru_cache(REMEMBERED)
def _name_in(host: str) -> str | None:
    """Return the name or address in a header Host, without the port; None if it is malformed."""
    match = _HOST.fullmatch(host)
    return None if match is None else _canonical(match[1])


def _allowed(name: str) -> str:
    """Return a name as it is compared; an IPv6 address may lack its brackets."""
    text = name.lower()
    match = _HOST.fullmatch(f"[{text}]" if text.count(":") > 1 and text[0] != "[" else text)
    if match is None or match[2]:
        raise ValueError(
            f"the allowed host {name!r} must be a name or an address without port, as in "
            "'tagalong.example.org' or '192.0.2.7'"
        )
    return _canonical(match[1])


def _canonical(host: str) -> str:
    """Return a host with an IPv6 address in its usual form."""
    if not host.startswith("["):
        return host
    try:
        return f"[{IPv6Address(host[1:-1])}]"
    except ValueError:
        return host
