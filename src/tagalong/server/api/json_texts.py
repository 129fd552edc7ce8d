"""JSON texts: those of clients are read strictly, so that nobody can read them in another way."""

import json
from typing import Any

from tagalong.server.problems import Problem

__all__ = ["json_bytes", "json_of"]

KIND = "not-json"
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def json_bytes(value: Any) -> bytes:
    """Return JSON values as text.

    Parameters
    ----------
    value : object
        The values.
    """
    # A half character becomes the escape that JSON has for it.
    return _ENCODER.encode(value).encode("utf-8", "backslashreplace")


def json_of(text: bytes, what: str = "the body") -> Any:
    """Return JSON values; a Problem if a text is not JSON, or names a member twice.

    Parameters
    ----------
    text : bytes
        The text.
    what : str
        The text in words, for messages.
    """
    try:
        return _DECODER.decode(text.decode())
    except UnicodeDecodeError as error:
        problem = f"{what} is not UTF-8 (at byte {error.start + 1:,})"
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        problem = f"{what} is not JSON: {error.msg} ({place})"
    except _WrongError as error:
        problem = f"{what} {error}"
    except ValueError:
        problem = f"{what} has a number with too many digits"
    except RecursionError:
        problem = f"{what} has too many lists and objects within each other"
    raise Problem(400, KIND, problem)


class _WrongError(Exception):
    """JSON that others could read in another way."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise _WrongError(f"has an object with the member {twice[:60]!r} twice")
    return found


def _refuse(constant: str) -> Any:
    raise _WrongError(f"has {constant}, which is not a number of JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_refuse)
