"""What the registry of formats is made of: a format, and the options it takes."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import IO, Any, Literal, TypeAlias

from tagalong.learning.items import Item, ReadError

__all__ = ["Format", "ItemOrError", "Option", "OptionError", "Target"]

# What a reader yields: an item, or in its place what is wrong there. It raises a ReadError only
# where it cannot go on.
ItemOrError: TypeAlias = Item | ReadError

_UNITS = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30}

_EXPECTED = {
    "text": "a text",
    "names": "a name, or a list of names",
    "integer": "a whole number",
    "size": "a number of bytes",
    "flag": "True or False",
    "choice": "one of the choices",
}


class OptionError(ValueError):
    """An option that a format does not have, or a value that is none of the option's."""


@dataclass(frozen=True)
class Option:
    """One thing that can be said to a reader or writer.

    Parameters
    ----------
    name : str
        The keyword in Python; the flag of the command line has "-" for "_".
    help : str
        What it does, in a sentence.
    kind : str
        "text", "names" (one or several), "integer", "size" (bytes), "flag" or "choice".
    default : object
        What holds if nothing is said.
    choices : tuple of str
        The values of a "choice".
    """

    name: str
    help: str
    kind: Literal["text", "names", "integer", "size", "flag", "choice"] = "text"
    default: Any = None
    choices: tuple[str, ...] = ()

    def parse(self, text: str) -> Any:
        """Return the value that a text from the command line stands for.

        Parameters
        ----------
        text : str
            Names are separated by commas, sizes may end in k, M or G.

        Examples
        --------
        >>> Option("text", "Columns.", "names").parse("subject,body")
        ('subject', 'body')
        >>> Option("max_line", "Longest line.", "size").parse("64M")
        67108864
        """
        if self.kind == "names":
            return tuple(name.strip() for name in text.split(",") if name.strip())
        if self.kind == "flag":
            return self._flag(text)
        if self.kind in ("integer", "size"):
            return self._number(text)
        return self.check(text)

    def check(self, value: Any) -> Any:
        """Return a value from Python as readers expect it, or raise OptionError."""
        if value is None:
            return self.default
        if self.kind == "names":
            names = (value,) if isinstance(value, str) else value
            if isinstance(names, (list, tuple)) and all(isinstance(name, str) for name in names):
                return tuple(names)
        elif self.kind == "flag":
            if isinstance(value, bool):
                return value
        elif self.kind in ("integer", "size"):
            if isinstance(value, int) and not isinstance(value, bool):
                if self.kind == "size" and value < 1:
                    raise OptionError(f"{self.name} must be positive, not {value}")
                return value
        elif isinstance(value, str):
            if not self.choices or value in self.choices:
                return value
            listed = ", ".join(map(repr, self.choices))
            raise OptionError(f"{self.name} is one of {listed}, not {value!r}")
        raise OptionError(f"{self.name} must be {_EXPECTED[self.kind]}, not {value!r}")

    def _flag(self, text: str) -> bool:
        if text.lower() in ("yes", "true", "1"):
            return True
        if text.lower() in ("no", "false", "0"):
            return False
        raise OptionError(f"{self.name} must be yes or no, not {text!r}")

    def _number(self, text: str) -> int:
        digits, unit = text.strip(), 1
        if self.kind == "size" and digits[-1:].lower() in _UNITS:
            digits, unit = digits[:-1], _UNITS[digits[-1].lower()]
        try:
            number = int(digits) * unit
        except ValueError:
            raise OptionError(f"{self.name} must be {_EXPECTED[self.kind]}, not {text!r}") from None
        checked: int = self.check(number)
        return checked


@dataclass(frozen=True)
class Format:
    """One way to keep items: how it is called, recognised, read and written.

    Parameters
    ----------
    name : str
        What ``format=`` calls it.
    description : str
        What it is, in a line.
    read : callable
        Gives the items. Called with a binary stream and a name for messages; with the path of a
        folder if `takes` is "folder"; with nothing if it is "nothing". Options are keywords.
    extensions : tuple of str
        How its files are called, with the dot, in lower case.
    options : tuple of Option
        What can be said to `read`.
    write : callable or None
        Takes items, a `Target` and options; gives how many it wrote.
    write_options : tuple of Option
        What can be said to `write`.
    takes : str
        What it reads: a "file", a "folder", or "nothing" (a built-in stream).
    starts : tuple of bytes
        How files without a known extension begin that are taken to be in this format.
    available : callable
        Says why a built-in stream cannot be read here, or "" if it can.
    """

    name: str
    description: str
    read: Callable[..., Iterator[ItemOrError]]
    extensions: tuple[str, ...] = ()
    options: tuple[Option, ...] = ()
    write: Callable[..., int] | None = None
    write_options: tuple[Option, ...] = ()
    takes: Literal["file", "folder", "nothing"] = "file"
    starts: tuple[bytes, ...] = ()
    available: Callable[[], str] = str


@dataclass
class Target:
    """Where a writer writes.

    Parameters
    ----------
    stream : binary file
        Takes the items; compresses if need be.
    name : str
        The destination's name for messages, "<stdout>" for standard output.
    beside : dict of str to bytes or None
        Further files by what is added to the destination's name. None removes an older one.
    alone : bool
        Whether nothing can be written beside.
    """

    stream: IO[bytes]
    name: str
    side_files: dict[str, bytes | None] = field(default_factory=dict)
    stream_only: bool = False
