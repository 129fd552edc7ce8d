"""Types of JSON values without parts: texts, numbers, times, true and false."""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tagalong.server.problems import Problem

__all__ = [
    "MAX_SHOWN",
    "Choice",
    "File",
    "Flag",
    "Moment",
    "Nothing",
    "Number",
    "Text",
    "Whole",
    "described",
    "refusal",
]

MAX_SHOWN = 60


def refusal(place: str, wanted: str, value: object) -> Problem:
    """Return the problem of a value that has not the right type.

    Parameters
    ----------
    place : str
        Where the value is.
    wanted : str
        The right type in words.
    value : object
        The value.
    """
    shown = repr(value)
    if len(shown) > MAX_SHOWN:
        shown = shown[: MAX_SHOWN - 1] + "…"
    return Problem(422, "not-valid", f"{place} must be {wanted}, got {shown}", place=place)


class _Simple:
    """Base class of types without parts."""

    def parse(self, text: str, place: str) -> Any:
        """Return the value of a parameter in a URL, which is a text."""
        return self.check(text, place)

    def check(self, value: Any, place: str) -> Any:
        """Return a value of this type; see `Type`."""
        raise NotImplementedError

    def records(self) -> Iterator[Any]:
        """Return nothing: there are no parts."""
        return iter(())


@dataclass(frozen=True)
class Text(_Simple):
    """A text.

    Parameters
    ----------
    least, most : int
        Minimum and maximum number of characters.
    bytes : int
        Maximum number of bytes in UTF-8. A JSON schema cannot say this, but the document does.
    pattern : str
        A regular expression for the whole text.
    meaning : str
        Its meaning, for the document.
    example : str
        An example, for the document.
    """

    least: int = 0
    most: int | None = None
    bytes: int | None = None
    pattern: str = ""
    meaning: str = ""
    example: str = ""

    def check(self, value: Any, place: str) -> str:
        """Return a text that can be encoded in UTF-8."""
        if not isinstance(value, str):
            raise refusal(place, "a text", value)
        if len(value) < self.least:
            raise refusal(place, "a non-empty text", value)
        if self.most is not None and len(value) > self.most:
            raise refusal(place, f"a text of at most {self.most:,} characters", value)
        if self.pattern and not re.fullmatch(self.pattern, value):
            raise refusal(place, self.meaning or f"a text of the form {self.pattern}", value)
        try:
            size = len(value.encode())
        except UnicodeEncodeError:
            raise refusal(place, "valid Unicode text", value) from None
        if self.bytes is not None and size > self.bytes:
            wanted = f"a text of at most {self.bytes:,} bytes in UTF-8 (it has {size:,})"
            raise refusal(place, wanted, value)
        return value

    def schema(self) -> dict[str, Any]:
        """Return the JSON schema."""
        size = "" if self.bytes is None else f"at most {self.bytes} bytes in UTF-8"
        parts = {
            "minLength": self.least,
            "maxLength": self.most or self.bytes,
            "pattern": f"^(?:{self.pattern})$" if self.pattern else "",
            "description": "; ".join(each for each in (self.meaning, size) if each),
            "examples": [self.example] if self.example else None,
        }
        return {"type": "string", **{name: each for name, each in parts.items() if each}}


@dataclass(frozen=True)
class Number(_Simple):
    """A finite number.

    Parameters
    ----------
    above : float
        The number must be larger.
    least, most : float
        The bounds.
    meaning : str
        Its meaning, for the document.
    """

    above: float | None = None
    least: float | None = None
    most: float | None = None
    meaning: str = ""

    def check(self, value: Any, place: str) -> float:
        """Return a finite number within its bounds."""
        if type(value) not in (int, float) or not _is_finite(value):
            raise refusal(place, "a number", value)
        if self.above is not None and not value > self.above:
            raise refusal(place, f"a number above {self.above:g}", value)
        if self.least is not None and not value >= self.least:
            raise refusal(place, f"a number of at least {self.least:g}", value)
        if self.most is not None and not value <= self.most:
            raise refusal(place, f"a number of at most {self.most:g}", value)
        return float(value)

    def parse(self, text: str, place: str) -> float:
        """Return the number of a parameter in a URL."""
        if not re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", text, re.IGNORECASE | re.ASCII):
            raise refusal(place, "a number", text)
        return self.check(float(text), place)

    def schema(self) -> dict[str, Any]:
        """Return the JSON schema."""
        parts = {"exclusiveMinimum": self.above, "minimum": self.least, "maximum": self.most}
        found = {name: each for name, each in parts.items() if each is not None}
        return {"type": "number", **found, **described(self.meaning)}


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(float(value))
    except OverflowError:
        return False


def described(meaning: str) -> dict[str, str]:
    """Return the member of a JSON schema that says what a value means, if anything does.

    Parameters
    ----------
    meaning : str
        The meaning; "" for none.
    """
    return {"description": meaning} if meaning else {}


@dataclass(frozen=True)
class Whole(_Simple):
    """A whole number.

    Parameters
    ----------
    least, most : int
        The bounds.
    meaning : str
        Its meaning, for the document.
    """

    least: int = 0
    most: int = 2**53
    meaning: str = ""

    def check(self, value: Any, place: str) -> int:
        """Return a whole number within its bounds; 3.0 is one too, as in JSON Schema."""
        if type(value) is float and value.is_integer():
            value = int(value)
        if type(value) is not int or not self.least <= value <= self.most:
            raise refusal(place, f"a whole number from {self.least} to {self.most}", value)
        return value

    def parse(self, text: str, place: str) -> int:
        """Return the number of a parameter in a URL."""
        if not re.fullmatch(r"-?\d{1,20}", text, re.ASCII):
            raise refusal(place, f"a whole number from {self.least} to {self.most}", text)
        return self.check(int(text), place)

    def schema(self) -> dict[str, Any]:
        """Return the JSON schema."""
        bounds = {"minimum": self.least, "maximum": self.most}
        return {"type": "integer", **bounds, **described(self.meaning)}


@dataclass(frozen=True)
class Flag(_Simple):
    """True or false.

    Parameters
    ----------
    meaning : str
        Its meaning, for the document.
    """

    meaning: str = ""

    def check(self, value: Any, place: str) -> bool:
        """Return true or false."""
        if type(value) is not bool:
            raise refusal(place, "true or false", value)
        return value

    def parse(self, text: str, place: str) -> bool:
        """Return the value of a parameter in a URL."""
        if text not in ("true", "false"):
            raise refusal(place, "true or false", text)
        return text == "true"

    def schema(self) -> dict[str, Any]:
        """Return the JSON schema."""
        return {"type": "boolean", **described(self.meaning)}


@dataclass(frozen=True)
class Choice(_Simple):
    """One of some texts.

    Parameters
    ----------
    values : tuple of str
        The texts.
    meaning : str
        Its meaning, for the document.
    """

    values: tuple[str, ...]
    meaning: str = ""

    def check(self, value: Any, place: str) -> str:
        """Return one of the texts."""
        if not isinstance(value, str) or value not in self.values:
            raise refusal(place, " or ".join(f"{each!r}" for each in self.values), value)
        return value

    def schema(self) -> dict[str, Any]:
        """Return the JSON schema."""
        return {"type": "string", "enum": list(self.values), **described(self.meaning)}


class Nothing(_Simple):
    """The value null."""

    def check(self, value: Any, place: str) -> None:
        """Return None for null."""
        if value is not None:
            raise refusal(place, "null", value)

    def schema(self) -> dict[str, Any]:
        """Return the JSON schema."""
        return {"type": "null"}


@dataclass(frozen=True)
class Moment(_Simple):
    """A time with its zone, as RFC 3339 writes it.

    Parameters
    ----------
    meaning : str
        Its meaning, for the document.
    """

    meaning: str = ""

    def check(self, value: Any, place: str) -> datetime:
        """Return the time."""
        if isinstance(value, str) and _RFC_3339.fullmatch(value):
            try:
                return datetime.fromisoformat(value.upper())
            except ValueError:  # such as the 30th of February
                pass
        raise refusal(place, "a time with its zone, such as 2026-01-31T12:00:00Z", value)

    def schema(self) -> dict[str, Any]:
        """Return the JSON schema."""
        return {"type": "string", "format": "date-time", **described(self.meaning)}


_RFC_3339 = re.compile(
    r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)", re.ASCII
)


class File(_Simple):
    """A file in a form."""

    def check(self, value: Any, place: str) -> Any:
        """Refuse: only forms have files, and their handler reads them."""
        raise refusal(place, "a file in a form", value)

    def schema(self) -> dict[str, Any]:
        """Return the JSON schema."""
        return {"type": "string", "format": "binary"}
