"""The answer of a server, read within limits of time and size."""

import http.client
import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any, TypeVar

from tagalong.client.errors import ServerError, Unavailable
from tagalong.client.patience import LostError, Patience

__all__ = ["NDJSON", "Answer", "checked_json"]

T = TypeVar("T")
NDJSON = "application/x-ndjson"
MOST_BYTES = 1 << 28
CHUNK = 1 << 16


class Answer:
    """A successful answer whose body has yet to be read.

    Parameters
    ----------
    call : str
        The method and the URL, for messages.
    response : HTTPResponse
        The answer.
    patience : Patience
        The time of the call.
    network_errors : callable
        Returns a context manager that turns errors of the network into errors of the server.

    Attributes
    ----------
    is_complete : bool
        Whether the whole body was read.
    """

    def __init__(
        self,
        call: str,
        response: http.client.HTTPResponse,
        patience: Patience,
        network_errors: Callable[[str], AbstractContextManager[None]],
    ):
        self.call = call
        self.status = response.status
        self.media_type = response.headers.get_content_type()
        self.is_complete = False
        self._response = response
        self._patience = patience
        self._network_errors = network_errors

    def chunks(self, *, is_bounded: bool = True) -> Iterator[bytes]:
        """Yield the body as it arrives; LostError if the connection ends before the body does.

        Parameters
        ----------
        is_bounded : bool, default True
            Whether all of it has to arrive within the time of the call.
        """
        response = self._response
        if response.length is None and not response.chunked:
            # The end of the connection would be the end of the body, also after a failure.
            raise self.bad("the answer does not say how long it is")
        while response.length != 0:
            if is_bounded and self._patience.left <= 0:
                raise LostError(
                    Unavailable(self.call, "the server does not answer in time", kind="lost")
                )
            with self._network_errors(self.call):
                data = response.read1(CHUNK)
                if not data and response.length:
                    raise http.client.IncompleteRead(b"", response.length)
            if not data:
                break
            yield data
        response.close()
        self.is_complete = True

    def read(self) -> bytes:
        """Return the whole body; ServerError if it is larger than any answer should be."""
        parts, size = [], 0
        for data in self.chunks():
            size += len(data)
            if size > MOST_BYTES:
                raise self.bad(f"the answer has more than {MOST_BYTES:,} bytes")
            parts.append(data)
        return b"".join(parts)

    def json(self) -> Any:
        """Return the body as JSON values; None if there is no body."""
        if self.status == 204:
            return self.nothing()
        self.check_type("application/json")
        data = self.read()
        try:
            return checked_json(data)
        except ValueError as error:
            raise self.bad(f"the answer is not valid JSON: {error}") from None

    def record(self) -> dict[str, Any]:
        """Return the body as a JSON object."""
        found = self.json()
        if not isinstance(found, dict):
            raise self.bad(f"the answer is {type(found).__name__}, not a JSON object")
        return found

    def formed(self, form: Callable[[dict[str, Any]], T]) -> T:
        """Return what a function makes of the body; ServerError if the body lacks something.

        Parameters
        ----------
        form : callable
            Gets the body as a JSON object.
        """
        found = self.record()
        try:
            return form(found)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise self.bad(f"the answer has an unexpected form: {error!r}") from None

    def nothing(self) -> None:
        """Read an answer whose body does not matter."""
        self.read()

    def check_type(self, wanted: str) -> None:
        """Raise ServerError unless the body has a media type.

        Parameters
        ----------
        wanted : str
            The media type.
        """
        if self.media_type != wanted:
            raise self.bad(
                f"the answer is {self.media_type}, not {wanted}: is this a server of Tagalong?"
            )

    def bad(self, detail: str) -> ServerError:
        """Return the error of an answer that no server of Tagalong gives.

        Parameters
        ----------
        detail : str
            The reason.
        """
        return ServerError(self.call, detail, status=self.status, kind="bad-answer")


def checked_json(data: bytes) -> Any:
    """Return JSON values; ValueError if the text is not JSON in UTF-8.

    Parameters
    ----------
    data : bytes
        The text.
    """
    try:
        return json.loads(data.decode(), parse_constant=_refuse_constant)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON value")
