"""Sockets to listen at, and the address of a server for people."""

import errno
import ipaddress
import socket
from contextlib import ExitStack
from typing import Any

__all__ = ["ListenError", "is_loopback", "listen_at", "url_of"]


class ListenError(Exception):
    """A server cannot listen at an address; the message says why."""


def is_loopback(host: str) -> bool:
    """Whether only programs of this machine can connect to a host.

    Parameters
    ----------
    host : str
        A name or an address; ListenError if it is unknown.
    """
    found = _addresses(host, 0)
    return all(
        ipaddress.ip_address(address[0].partition("%")[0]).is_loopback for _, address in found
    )


def listen_at(host: str, port: int) -> list[socket.socket]:
    """Return a bound socket for each address of a host, all with the same port.

    Nobody can connect before the server is ready to listen.

    Parameters
    ----------
    host : str
        A name or an address of this machine; ListenError if there is none.
    port : int
        The port; 0 for a free one. ListenError if it is in use.
    """
    with ExitStack() as stack:
        found: list[socket.socket] = []
        for family, address in _addresses(host, port):
            # With the protocol, asyncio sends answers at once (TCP_NODELAY).
            made = stack.enter_context(
                socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
            )
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:  # otherwise "::" takes the IPv4 addresses too
                made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            if found:
                port = found[0].getsockname()[1]
            try:
                made.bind((address[0], port, *address[2:]))
            except OSError as error:
                if found and error.errno == errno.EADDRNOTAVAIL:
                    continue  # a name for ::1 on a machine without IPv6
                raise _listen_error(host, port, error) from error
            found.append(made)
        stack.pop_all()
        return found


def url_of(host: str, port: int) -> str:
    """Return the address of a server.

    Parameters
    ----------
    host : str
        The host that it listens at. An address that stands for all addresses is replaced by that of
        this machine.
    port : int
        The port.
    """
    host = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}.get(host, host)
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


def _addresses(host: str, port: int) -> list[tuple[socket.AddressFamily, tuple[Any, ...]]]:
    try:
        found = socket.getaddrinfo(host or "0.0.0.0", port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise ListenError(
            f"--host {host}: this machine has no such address; give an address such as 127.0.0.1 "
            "or a name such as localhost"
        ) from error
    return list(dict.fromkeys((family, address) for family, *_, address in found))


def _listen_error(host: str, port: int, error: OSError) -> ListenError:
    place = url_of(host, port).removeprefix("http://").rstrip("/")
    if error.errno == errno.EADDRINUSE:
        reason = "another program listens there; --port takes another port, --port 0 a free one"
    elif error.errno == errno.EACCES:
        reason = f"port {port} needs more rights than you have; --port takes a port above 1023"
    elif error.errno == errno.EADDRNOTAVAIL:
        reason = "this machine has no such address; --host takes one of its addresses"
    else:
        reason = error.strerror or str(error)
    return ListenError(f"cannot listen at {place}: {reason}")
