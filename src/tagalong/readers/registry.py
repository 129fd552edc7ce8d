"""All formats, by name, and how one is found for a file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from tagalong.mail.formats.folders import MAIL_OPTIONS
from tagalong.mail.formats.maildir import read_maildir
from tagalong.mail.formats.mbox import read_mbox
from tagalong.readers import (
    arff,
    debtags,
    delimited,
    fasttext,
    jsonl,
    parquet,
    pydocs,
    svmlight,
    vw,
)
from tagalong.streams.compression import COMPRESSION_SUFFIXES, strip_compression_suffix
from tagalong.streams.format import Format, Option, OptionError

__all__ = [
    "FORMATS",
    "BuiltInStream",
    "extensions",
    "format_by_name",
    "format_by_start",
    "format_for_writing",
    "format_of_file",
    "streams",
    "validate_options",
]


FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        found.name: found
        for found in (
            jsonl.FORMAT,
            delimited.CSV,
            delimited.TSV,
            svmlight.FORMAT,
            vw.FORMAT,
            fasttext.FORMAT,
            arff.FORMAT,
            parquet.FORMAT,
            Format(
                "mbox",
                "a mailbox in one file, as exported by Thunderbird, Apple Mail or Google Takeout",
                read_mbox,
                extensions=(".mbox",),
                options=MAIL_OPTIONS,
                starts=(b"From ",),
            ),
            Format(
                "maildir",
                "a folder of mail: Maildir, with folders inside it",
                read_maildir,
                options=MAIL_OPTIONS,
                takes="folder",
            ),
            pydocs.FORMAT,
            debtags.FORMAT,
        )
    }
)


@dataclass(frozen=True)
class BuiltInStream:
    """A stream of real data that needs no file.

    Parameters
    ----------
    source : str
        What to give to `read`, such as "pydocs:".
    description : str
        What it is, in a line.
    problem : str
        Why it cannot be read on this machine; "" if it can.
    """

    source: str
    description: str
    problem: str

    @property
    def available(self) -> bool:
        """Whether it can be read on this machine."""
        return not self.problem


def streams() -> list[BuiltInStream]:
    """Return the built-in streams.

    Examples
    --------
    >>> [stream.source for stream in streams()]
    ['pydocs:', 'debtags:']
    """
    return [
        BuiltInStream(f"{found.name}:", found.description, found.available())
        for found in FORMATS.values()
        if found.takes == "nothing"
    ]


def format_by_name(name: str) -> Format:
    """Return the format of a name; OptionError if there is none."""
    if name not in FORMATS:
        raise OptionError(f"there is no format {name!r}; there are {', '.join(FORMATS)}")
    return FORMATS[name]


def format_of_file(name: str) -> Format | None:
    """Return the format that a file's extension names, or None."""
    extension = Path(strip_compression_suffix(name)).suffix.lower()
    return next((found for found in FORMATS.values() if extension in found.extensions), None)


def format_by_start(start: bytes) -> Format | None:
    """Return the format of a file that begins so, or None."""
    return next((found for found in FORMATS.values() if start.startswith(found.starts)), None)


def extensions() -> str:
    """Return the known extensions as a list for messages."""
    known = [extension for found in FORMATS.values() for extension in found.extensions]
    return f"{', '.join(known)}, each also with {', '.join(COMPRESSION_SUFFIXES)}"


def format_for_writing(name: str, format: str | None) -> Format:
    """Return the format to write a file in; OptionError if there is none."""
    writable = [each.name for each in FORMATS.values() if each.write]
    found = format_by_name(format) if format is not None else format_of_file(name)
    if found is None:
        raise OptionError(
            f"{name}: no format is known by this name; give format= one of {', '.join(writable)}"
        )
    if found.write is None:
        raise OptionError(
            f"{name}: {found.name} can be read only; these can be written: {', '.join(writable)}"
        )
    return found


def validate_options(
    formats: Sequence[Format], options: Mapping[str, Any], *, writing: bool = False
) -> dict[str, dict[str, Any]]:
    """Return the options for each format, by its name; OptionError for one that it lacks."""

    def options_of(found: Format) -> tuple[Option, ...]:
        return found.write_options if writing else found.options

    for found in formats:
        for name in options:
            if name in (option.name for option in options_of(found)):
                continue
            having = [
                each.name
                for each in FORMATS.values()
                if name in (option.name for option in options_of(each))
            ]
            own = ", ".join(option.name for option in options_of(found)) or "none"
            where = f"{', '.join(having)} have it" if having else "no format has it"
            raise OptionError(
                f"{found.name} has no option {name!r}: {where}; the options of {found.name}: {own}"
            )
    return {
        found.name: {
            option.name: option.check(options[option.name])
            for option in options_of(found)
            if option.name in options
        }
        for found in formats
    }
