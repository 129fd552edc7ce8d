"""Registry of all formats, with lookup by name, by file extension and by first bytes."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

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
from tagalong.streams.format import Format, Option, OptionError, OptionValue

__all__ = [
    "FORMATS",
    "BuiltInStream",
    "extensions",
    "format_by_name",
    "format_by_start",
    "format_for_writing",
    "format_of_file",
    "streams",
    "validate_defaults",
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
                "mailbox in one file, as exported by Thunderbird, Apple Mail or Google Takeout",
                read_mbox,
                extensions=(".mbox",),
                options=MAIL_OPTIONS,
                starts=(b"From ",),
                is_dated=True,
                is_private=True,
            ),
            Format(
                "maildir",
                "Maildir: folder of mail, with subfolders",
                read_maildir,
                options=MAIL_OPTIONS,
                takes="folder",
                is_dated=True,
                is_private=True,
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
        Name of the source for `read`, such as "pydocs:".
    description : str
        Description in one line.
    problem : str
        Reason why the stream cannot be read on this machine; "" if it can.
    """

    source: str
    description: str
    problem: str

    @property
    def available(self) -> bool:
        """Whether the stream can be read on this machine."""
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
    """Return the format with a name; raise OptionError if there is none."""
    if name not in FORMATS:
        raise OptionError(f"there is no format {name!r}; the formats are {', '.join(FORMATS)}")
    return FORMATS[name]


def format_of_file(name: str) -> Format | None:
    """Return the format of a file's extension, or None."""
    extension = Path(strip_compression_suffix(name)).suffix.lower()
    return next((found for found in FORMATS.values() if extension in found.extensions), None)


def format_by_start(start: bytes) -> Format | None:
    """Return the format of a file with these first bytes, or None."""
    return next((found for found in FORMATS.values() if start.startswith(found.starts)), None)


def extensions() -> str:
    """Return the known extensions, listed for a message."""
    known = [extension for found in FORMATS.values() for extension in found.extensions]
    return f"{', '.join(known)}, optionally followed by {', '.join(COMPRESSION_SUFFIXES)}"


def format_for_writing(name: str, format: str | None) -> Format:
    """Return the format to write a file in; raise OptionError if there is none."""
    writable = [each.name for each in FORMATS.values() if each.write]
    found = format_by_name(format) if format is not None else format_of_file(name)
    if found is None:
        raise OptionError(
            f"{name}: the extension does not name a format; "
            f"give format= one of {', '.join(writable)}"
        )
    if found.write is None:
        raise OptionError(
            f"{name}: {found.name} is read-only; the writable formats are {', '.join(writable)}"
        )
    return found


def validate_options(
    formats: Sequence[Format], options: Mapping[str, object], *, writing: bool = False
) -> dict[str, dict[str, OptionValue]]:
    """Return the options by format name; raise OptionError if a format lacks an option."""

    def options_of(found: Format) -> tuple[Option, ...]:
        return found.write_options if writing else found.options

    for found in formats:
        for name in options:
            if name in (option.name for option in options_of(found)):
                continue
            formats_with_option = [
                each.name
                for each in FORMATS.values()
                if name in (option.name for option in options_of(each))
            ]
            own = ", ".join(option.name for option in options_of(found)) or "none"
            others = ", ".join(formats_with_option) or "none"
            raise OptionError(
                f"{found.name} has no option {name!r}; formats with this option: {others}; "
                f"options of {found.name}: {own}"
            )
    return {
        found.name: {
            option.name: option.check(options[option.name])
            for option in options_of(found)
            if option.name in options
        }
        for found in formats
    }


def validate_defaults(found: Format, defaults: Mapping[str, object]) -> dict[str, OptionValue]:
    """Return the options that a format has and whose values it accepts; the others are dropped."""
    valid: dict[str, OptionValue] = {}
    for option in found.options:
        if option.name in defaults:
            with suppress(OptionError):
                valid[option.name] = option.check(defaults[option.name])
    return valid
