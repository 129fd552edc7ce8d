"""Entries of the format registry: a format and its options."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import IO, Literal, TypeAlias

from tagalong.learning.items import Item, ReadError

__all__ = [
    "Format",
    "ItemOrError",
    "LeftOutError",
    "Option",
    "OptionError",
    "OptionValue",
    "Target",
]

# The element type of a reader: an item, or the error of an item that cannot be read. A reader
# yields an error if it can continue with the next item, and raises it otherwise.
ItemOrError: TypeAlias = Item | ReadError

OptionValue: TypeAlias = str | int | bool | tuple[str, ...] | None

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
    """An option that the format does not have, or a value that the option does not accept."""


class LeftOutError(ReadError):
    """A symbolic link inside a source, which is left out on purpose.

    It never stops the reading, and does not count as an item that was skipped.
    """


@dataclass(frozen=True)
class Option:
    """Option of a reader or writer.

    Parameters
    ----------
    name : str
        Keyword in Python. The command-line flag has "-" instead of "_".
    help : str
        Description in one or two sentences.
    kind : str
        "text", "names" (one or several), "integer", "size" (bytes), "flag" or "choice".
    default : str, int, bool, tuple of str, or None
        Default value.
    choices : tuple of str
        Accepted values of a "choice".
    """

    name: str
    help: str
    kind: Literal["text", "names", "integer", "size", "flag", "choice"] = "text"
    default: OptionValue = None
    choices: tuple[str, ...] = ()

    def parse(self, text: str) -> OptionValue:
        """Return the option's value from its text on the command line.

        Parameters
        ----------
        text : str
            Names are separated by commas. A size may end in k, M or G.

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

    def check(self, value: object) -> OptionValue:
        """Return a value from Python in the form that readers expect, or raise OptionError."""
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
            raise OptionError(f"{self.name} must be one of {listed}, not {value!r}")
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
        self.check(number)
        return number


@dataclass(frozen=True)
class Format:
    """A file format: name, detection, reader and writer.

    Parameters
    ----------
    name : str
        Value of ``format=`` that selects the format.
    description : str
        Description in one line.
    read : callable
        Function that yields the items. Its arguments are a binary stream and a name for messages;
        the path of a folder if `takes` is "folder"; none if `takes` is "nothing". Options are
        keyword arguments.
    extensions : tuple of str
        File extensions, with the dot, in lower case.
    options : tuple of Option
        Options of `read`.
    write : callable or None
        Function of items, a `Target` and options that returns the number of items written. None
        if the format is read-only.
    write_options : tuple of Option
        Options of `write`.
    takes : str
        Kind of source: a "file", a "folder", or "nothing" (a built-in stream).
    starts : tuple of bytes
        First bytes that identify the format in files without a known extension.
    available : callable
        Function that returns why a built-in stream cannot be read on this machine, or "" if it
        can.
    is_dated : bool
        Whether items of this format normally have a date.
    is_private : bool
        Whether items of this format are private, such as mail. Files made from them are readable
        by their owner only.
    list_names : callable or None
        Function with the arguments of `read` that returns the names of the columns or keys from
        which an item can take its parts. None if the format has no such names.
    can_split : callable or None
        Function of a stream at the beginning of a file, and options, that returns whether some of
        the file's lines can be read without those before them. `read` then has the keyword
        ``lines_before``. None if a file of this format is always read from its beginning.
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
    is_dated: bool = False
    is_private: bool = False
    list_names: Callable[..., list[str]] | None = None
    can_split: Callable[..., bool] | None = None


@dataclass
class Target:
    """Destination of a writer.

    Parameters
    ----------
    stream : binary file
        Stream for the items. It compresses if the destination's name has a compression suffix.
    name : str
        Name of the destination in messages, "<stdout>" for standard output.
    side_files : dict of str to bytes or None
        Contents of further files, keyed by the suffix that is appended to the destination's name.
        None deletes an existing file.
    stream_only : bool
        Whether the destination is standard output or a device, where side files are impossible.
    """

    stream: IO[bytes]
    name: str
    side_files: dict[str, bytes | None] = field(default_factory=dict)
    stream_only: bool = False
