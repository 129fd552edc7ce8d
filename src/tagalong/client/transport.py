"""One call of the server: sent, tried again if it is lost, and its answer checked.

Every change has an idempotency key, the same for all tries, so that the server carries it out once.
"""

import errno
import http.client
import socket
import ssl
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from tagalong.client.address import Address, Token
from tagalong.client.answers import Answer, checked_json
from tagalong.client.connections import Connections, Lent
from tagalong.client.errors import ServerError, Unavailable, error_of
from tagalong.client.patience import LostError, Patience, Timing, seconds_to_wait
from tagalong.client.uploads import Upload

__all__ = ["Request", "Transport"]

T = TypeVar("T")
TRIED_AGAIN = (429, 502, 503, 504)
MOST_PROBLEM_BYTES = 1 << 20
_PASSING = (errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN, errno.EHOSTDOWN, errno.ETIMEDOUT)


@dataclass(frozen=True)
class Request:
    """A request.

    Parameters
    ----------
    method : str
        The method of HTTP.
    path : str
        The path as it is sent, with the query.
    body : bytes or Upload, optional
        The body.
    headers : mapping of str to str
        Further headers.
    """

    method: str
    path: str
    body: bytes | Upload | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


class Transport:
    """Sends requests to a server. Several threads may use it.

    Parameters
    ----------
    address : Address
        The server.
    token : Token
        Sent with every request, to this server only: no redirect is followed.
    timeout : float
        Number of seconds for one call, over all of its tries.
    context : SSLContext, optional
        Checks the certificate of an https server.
    timing : Timing
        The clock.
    on_wait : callable, optional
        Called before each wait with the error and the number of seconds.
    """

    def __init__(
        self,
        address: Address,
        token: Token,
        *,
        timeout: float,
        context: ssl.SSLContext | None,
        timing: Timing,
        on_wait: Callable[[ServerError, float], None] | None = None,
    ):
        self.address = address
        self.timing = timing
        self.connections = Connections(address, context)
        self._token = token
        self._timeout = timeout
        self._on_wait = on_wait

    def patience(self) -> Patience:
        """Return the time of a new call."""
        return Patience(self._timeout, self.timing, self._on_wait)

    def call(self, request: Request, read: Callable[[Answer], T]) -> T:
        """Return what a function reads from the answer; tried again until the time is over.

        Parameters
        ----------
        request : Request
            The request.
        read : callable
            Reads the answer. If the connection is lost meanwhile, it is called again.
        """
        patience = self.patience()
        is_lost = False
        while True:
            try:
                with self.once(request, patience) as answer:
                    return read(answer)
            except LostError as lost:
                is_lost |= lost.error.status not in TRIED_AGAIN
                patience.wait_after(lost)
            except ServerError as error:
                error.follows_lost_try = is_lost
                raise

    @contextmanager
    def once(
        self, request: Request, patience: Patience, idle: float | None = None
    ) -> Iterator[Answer]:
        """Send a request once, and lend its answer; LostError if it should be tried again.

        Parameters
        ----------
        request : Request
            The request.
        patience : Patience
            The time of the call.
        idle : float, optional
            Number of seconds without any byte after which the answer is lost; by default a part
            of the time of the call.
        """
        call = self.named(request)
        with self.connections.lend(idle or patience.for_one_try) as lent:
            with self._network_errors(call, is_reused=lent.is_reused):
                response = self._sent(lent, request)
            if not 200 <= response.status < 300:
                with self._network_errors(call):
                    problem = _problem(response)
                lent.is_clean = response.isclosed()
                raise self._error(call, response, problem)
            answer = Answer(call, response, patience, self._network_errors)
            yield answer
            lent.is_clean = answer.is_complete

    @contextmanager
    def _network_errors(self, call: str, *, is_reused: bool = False) -> Iterator[None]:
        """Turn errors of the network into errors of the server."""
        try:
            yield
        except (OSError, http.client.HTTPException) as error:
            is_ended = is_reused and isinstance(error, ConnectionError)
            raise self._failure(call, error, at_once=is_ended) from error

    def named(self, request: Request) -> str:
        """Return a request for messages: the method and the URL without the query."""
        address = self.address
        path = request.path.removeprefix(address.prefix).partition("?")[0]
        return f"{request.method} {address.text.rstrip('/')}{path}"

    def _sent(self, lent: Lent, request: Request) -> http.client.HTTPResponse:
        connection = lent.connection
        headers = {
            "Accept": "application/json",
            "User-Agent": "tagalong",
            **request.headers,
            "Authorization": self._token.header,
        }
        body: bytes | Iterator[bytes] | None
        if isinstance(request.body, Upload):
            headers["Content-Length"] = str(request.body.size)
            body = request.body.parts()
        else:
            body = request.body
        try:
            connection.request(request.method, request.path, body, headers)
        except (BrokenPipeError, ConnectionResetError) as error:
            if connection.sock is None:  # a server that is being killed resets new connections
                raise
            try:  # a server that refuses a long body answers before it has read all of it
                return connection.getresponse()
            except (OSError, http.client.HTTPException):
                raise error from None
        return connection.getresponse()

    def _error(
        self, call: str, response: http.client.HTTPResponse, problem: Mapping[str, Any]
    ) -> Exception:
        """Return the error of an answer that is no success."""
        status = response.status
        if status < 400:
            place = response.getheader("Location") or "another place"
            detail = (
                f"the server redirects to {place}; give the URL of the server itself ({status})"
            )
            return ServerError(call, detail, status=status, kind="redirect")
        error = error_of(call, status, problem)
        if status in TRIED_AGAIN:
            return LostError(error, seconds_to_wait(response.getheader("Retry-After")))
        return error

    def _failure(self, call: str, error: Exception, *, at_once: bool) -> Exception:
        """Return a LostError for a failure that may pass, otherwise the error itself."""
        if isinstance(error, ssl.SSLCertVerificationError):
            return Unavailable(
                call,
                f"the certificate is not valid: {error.verify_message}; the file with that of your "
                "own authority is given as ca_file, or as the environment variable SSL_CERT_FILE",
                kind="certificate",
            )
        if isinstance(error, ssl.SSLError) and not isinstance(
            error, (ssl.SSLEOFError, ssl.SSLZeroReturnError)
        ):
            return Unavailable(call, f"no encrypted connection: {error}", kind="encryption")
        if isinstance(error, socket.gaierror):
            detail = f"there is no host {self.address.host!r}: {error.strerror}"
            unknown = Unavailable(call, detail, kind="no-such-host")
            return LostError(unknown) if error.errno == socket.EAI_AGAIN else unknown
        if not _may_pass(error):
            return Unavailable(call, f"the answer is not HTTP: {error!r}", kind="not-http")
        return LostError(Unavailable(call, _reason(error), kind="lost"), at_once=at_once)

    def close(self) -> None:
        """Close all connections."""
        self.connections.close()


def _problem(response: http.client.HTTPResponse) -> dict[str, Any]:
    """Return the problem document of an answer; an empty one if it has none."""
    if response.headers.get_content_type() not in ("application/problem+json", "application/json"):
        return {}
    data = response.read(MOST_PROBLEM_BYTES)
    try:
        found = checked_json(data)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _may_pass(error: Exception) -> bool:
    if isinstance(error, (ConnectionError, TimeoutError, http.client.IncompleteRead, ssl.SSLError)):
        return True
    return isinstance(error, OSError) and error.errno in _PASSING


def _reason(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "the server does not answer in time"
    if isinstance(error, http.client.IncompleteRead):
        return "the answer ends too early"
    if isinstance(error, ConnectionRefusedError):
        return "no server listens there (connection refused)"
    reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return f"the connection was lost: {reason}"
