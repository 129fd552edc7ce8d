"""Resolution of sources: file, folder, glob pattern, standard input or built-in stream."""

import glob
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tagalong.learning.items import ReadError
from tagalong.readers.archives import EXTENSION, Archive, Member, starts_archive
from tagalong.readers.byte_ranges import ByteRange
from tagalong.readers.registry import FORMATS, extensions, format_by_start, format_of_file
from tagalong.streams.compression import decompress_stream, read_errors
from tagalong.streams.format import Format, OptionError

__all__ = ["DETECTION_BYTES", "STDIN", "ResolvedSource", "detect_format", "resolve_source"]

STDIN = "<stdin>"
"""Name of standard input in messages."""
DETECTION_BYTES = 64
"""Number of bytes from which the format of a file is detected."""


@dataclass(frozen=True)
class ResolvedSource:
    """A single source and its format; None if the format is detected when the source is opened.

    Parameters
    ----------
    source : str
        The source; for a member of an archive a name for messages.
    format : Format or None
        The format.
    member : Member, optional
        The member of an archive that is the source.
    problem : ReadError, optional
        Why this member cannot be read.
    part : ByteRange, optional
        The part of the file to read.
    """

    source: str
    format: Format | None
    member: Member | None = None
    problem: ReadError | None = None
    part: ByteRange | None = None


def resolve_source(
    source: str, wanted: Format | None, fallback: Format | None = None
) -> Iterator[ResolvedSource]:
    """Yield a source with its format; for a glob pattern, every file that matches.

    Parameters
    ----------
    source : str
        A file, a glob pattern, a folder, "-" or a built-in stream.
    wanted : Format, optional
        Format that the caller requests.
    fallback : Format, optional
        Format of files whose format cannot be detected.
    """
    built_in = FORMATS.get(source.removesuffix(":")) if source.endswith(":") else None
    if built_in is not None and built_in.takes == "nothing":
        if wanted not in (None, built_in):
            raise OptionError(
                f"{source} is a built-in stream and cannot be read as {wanted.name}: "
                "omit the option format"
            )
        yield ResolvedSource(source, built_in)
    elif wanted is not None and wanted.takes == "nothing":
        raise OptionError(
            f"{wanted.name} is a built-in stream: name it as the source {wanted.name + ':'!r}"
        )
    elif source == "-":
        yield ResolvedSource(source, wanted)
    elif os.path.isdir(source):
        if wanted is not None and wanted.takes != "folder":
            raise ReadError(
                source,
                f"this is a folder, but {wanted.name} is read from files; "
                f"name them, for example as '{source}/*'",
            )
        yield ResolvedSource(source, wanted or FORMATS["maildir"])
    elif os.path.exists(source):
        if wanted is not None and wanted.takes == "folder":
            raise ReadError(source, f"this is a file, but {wanted.name} is read from a folder")
        known = wanted or format_of_file(source)
        if _is_archive(source, known):
            yield from _members(source, wanted, fallback)
        else:
            yield ResolvedSource(source, known or _format_by_content(source, fallback))
    elif glob.has_magic(source):
        matches = sorted(glob.glob(source, recursive=True))
        if not matches:
            raise ReadError(source, "no file matches this pattern")
        for match in matches:
            yield from resolve_source(match, wanted, fallback)
    else:
        raise ReadError(source, _missing(source))


def _is_archive(source: str, known: Format | None) -> bool:
    """Whether a source is an archive, by its first bytes if nothing else tells its format."""
    try:
        by_name = source.lower().endswith(EXTENSION)
        return os.path.isfile(source) and (by_name or (known is None and starts_archive(source)))
    except OSError as error:
        raise ReadError(source, f"cannot be read: {error.strerror or error}") from error


def _members(
    source: str, wanted: Format | None, fallback: Format | None
) -> Iterator[ResolvedSource]:
    """Yield the members of an archive; raise ReadError if none of them can be read."""
    archive = Archive(source)
    found: list[ResolvedSource] = []
    try:
        for member in archive.members():
            format, problem = None, member.problem
            if problem is None:
                try:
                    format = wanted or format_of_file(member.name) or _of_member(member, fallback)
                except ReadError as error:
                    problem = error
            found.append(ResolvedSource(member.name, format, member, problem))
    except OSError as error:
        raise ReadError(source, f"cannot be read: {error.strerror or error}") from error
    finally:
        archive.close()
    if all(each.problem is not None for each in found):
        reasons = "; ".join(str(each.problem) for each in found[:3])
        raise ReadError(
            source, f"the archive has no file that can be read{': ' if reasons else ''}{reasons}"
        )
    yield from found


def _of_member(member: Member, fallback: Format | None) -> Format:
    try:
        with member.open() as file:
            start = decompress_stream(file, member.name).peek(DETECTION_BYTES)
            return detect_format(start, member.name, fallback)
    except read_errors() as error:
        raise ReadError(member.name, f"cannot be read: {error}") from error


def _format_by_content(source: str, fallback: Format | None) -> Format | None:
    if not os.path.isfile(source):  # a pipe can be read only once
        return None
    try:
        with open(source, "rb") as file:
            start = decompress_stream(file, source).peek(DETECTION_BYTES)
            return detect_format(start, source, fallback)
    except read_errors() as error:
        raise ReadError(source, f"cannot be read: {error}") from error


def detect_format(start: bytes, name: str, fallback: Format | None = None) -> Format:
    """Return the format of a file by its first bytes; raise ReadError if no format matches.

    Parameters
    ----------
    start : bytes
        The first `DETECTION_BYTES` bytes, or all if there are fewer.
    name : str
        Name of the file in messages.
    fallback : Format, optional
        Format to return if no format matches, unless it is not read from files.
    """
    found = format_by_start(start.removeprefix(b"\xef\xbb\xbf").lstrip())
    if found is None and fallback is not None and fallback.takes == "file":
        return fallback
    if found is None:
        formats = ", ".join(each.name for each in FORMATS.values() if each.takes == "file")
        if name == STDIN:
            problem = f"the format cannot be detected; give format= one of {formats}"
            raise ReadError(name, problem)
        raise ReadError(
            name,
            "the format cannot be detected from the file's extension or first bytes; "
            f"give format= one of {formats}, or use a known extension: {extensions()}",
        )
    return found


def _missing(source: str) -> str:
    if source.endswith(":"):
        names = [f"{found.name}:" for found in FORMATS.values() if found.takes == "nothing"]
        return f"no such built-in stream; the built-in streams are {', '.join(names)}"
    folder = Path(source).parent
    if not folder.is_dir():
        return f"no such file; the folder {folder} does not exist"
    return "no such file or folder"
