"""Finding the operation of a request from its path as it was sent.

Ids and labels in paths are percent-encoded and may have any character, also "/". Therefore the path
is divided before it is decoded.
"""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from urllib.parse import unquote_to_bytes

from tagalong.server.api.operations import Operation
from tagalong.server.problems import Problem

__all__ = ["Routes"]

MAX_PATH_BYTES = 4096
REMEMBERED = 256


class Routes:
    """The operations by path and method.

    Parameters
    ----------
    operations : iterable of Operation
        The operations.
    """

    def __init__(self, operations: Iterable[Operation]):
        self._by_length: dict[int, list[tuple[list[str], dict[str, Operation]]]] = {}
        self.find = lru_cache(REMEMBERED)(self._find)  # programs use the same path again and again
        known: dict[str, dict[str, Operation]] = {}
        for operation in operations:
            methods = known.get(operation.path)
            if methods is None:
                methods = known[operation.path] = {}
                parts = operation.path.split("/")
                self._by_length.setdefault(len(parts), []).append((parts, methods))
            assert operation.method not in methods, operation.name
            methods[operation.method] = operation
        for paths in self._by_length.values():  # fixed words before parameters
            paths.sort(key=lambda path: [part.startswith("{") for part in path[0]])

    def _find(self, method: str, raw_path: bytes) -> tuple[Operation, Mapping[str, str]]:
        """Return the operation of a request and the parameters in its path; a Problem if none is.

        Parameters
        ----------
        method : str
            The method.
        raw_path : bytes
            The path as it was sent, without the query.
        """
        if len(raw_path) > MAX_PATH_BYTES:
            raise Problem(414, "path-too-long", f"the path has more than {MAX_PATH_BYTES:,} bytes")
        sent = _decoded(raw_path)
        for parts, methods in self._by_length.get(len(sent), ()):
            names = _match(parts, sent)
            if names is None:
                continue
            operation = methods.get("GET" if method == "HEAD" else method)
            if operation is None:
                allowed = ", ".join(methods)
                raise Problem(
                    405,
                    "no-such-method",
                    f"{method} is not possible here; possible: {allowed}",
                    {"Allow": allowed},
                )
            return operation, names
        raise Problem(404, "no-such-path", "there is nothing at this path; /openapi.json lists all")


def _decoded(raw_path: bytes) -> list[str]:
    try:
        return [unquote_to_bytes(part).decode() for part in raw_path.split(b"/")]
    except UnicodeDecodeError:
        raise Problem(400, "bad-path", "the path is not percent-encoded UTF-8") from None


def _match(parts: list[str], sent: list[str]) -> dict[str, str] | None:
    names = {}
    for part, text in zip(parts, sent, strict=True):
        if part.startswith("{"):
            if not text:
                return None
            names[part[1:-1]] = text
        elif part != text:
            return None
    return names
