"""The sources of a run: what they are, and whether they have changed."""

import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tagalong.distributed.archives.settings import Settings
from tagalong.distributed.paths import check_can_be_shared
from tagalong.learning.items import ReadError
from tagalong.readers.sources import ResolvedSource, resolve_source
from tagalong.readers.stream import read
from tagalong.streams.format import Format

__all__ = ["Input", "find_inputs"]

_ENDS = 1 << 16  # bytes at the beginning and at the end of a file that are part of its fingerprint


@dataclass(frozen=True)
class Input:
    """A file, a folder of mail or a built-in stream.

    Parameters
    ----------
    name : str
        As the user named it, for messages and for ids.
    path : str
        Where it is, for every worker: an absolute path, or the name of a built-in stream.
    format : Format, optional
        Its format; None for an archive, whose files have their own.
    is_private : bool
        Whether it is mail.
    size, modified : int, optional
        Bytes, and nanoseconds since 1970, of a file.
    digest : str
        SHA-256 of the beginning and the end of a file, or of the list of files of a folder.
    """

    name: str
    path: str
    format: Format | None
    is_private: bool
    size: int | None
    modified: int | None
    digest: str

    def to_json(self) -> dict[str, Any]:
        """Return the fingerprint."""
        return {
            "source": self.name,
            "size": self.size,
            "modified": self.modified,
            "digest": self.digest,
        }


def find_inputs(sources: Sequence[str], settings: Settings) -> list[Input]:
    """Return all inputs, in the order in which one machine would read them.

    Parameters
    ----------
    sources : sequence of str
        As for `read`, but neither standard input nor pipes.
    settings : Settings
        The options; OptionError if one of them does not apply.
    """
    for source in sources:
        check_can_be_shared(source)
    read(
        sources,
        settings.format,
        on_error=settings.on_error,
        defaults=settings.defaults,
        **settings.options,
    ).close()  # checks all names, formats and options
    wanted, fallback = settings.wanted_formats()
    resolved = (each for source in sources for each in resolve_source(source, wanted, fallback))
    return [_fingerprinted(*found) for found in _whole_archives(resolved)]


def _whole_archives(
    sources: Iterator[ResolvedSource],
) -> Iterator[tuple[str, Format | None, bool]]:
    """Yield name, format and privacy of each source; the files of an archive are one source."""
    archive: str | None = None
    is_private = False
    for each in sources:
        private = each.format is not None and each.format.is_private
        inside = None if each.member is None else each.member.archive.path
        if archive is not None and inside != archive:
            yield archive, None, is_private
            is_private = False
        if inside is None:
            yield each.source, each.format, private
        is_private |= private and inside is not None
        archive = inside
    if archive is not None:
        yield archive, None, is_private


def _fingerprinted(name: str, format: Format | None, is_private: bool) -> Input:
    if format is not None and format.takes == "nothing":
        return Input(name, name, format, is_private, None, None, "")
    path = os.path.abspath(name)
    try:
        size, modified, digest = _folder(path) if os.path.isdir(path) else _file(path)
    except OSError as error:
        raise ReadError(name, f"cannot be read: {error.strerror or error}") from error
    return Input(name, path, format, is_private, size, modified, digest)


def _file(path: str) -> tuple[int, int, str]:
    with open(path, "rb") as file:
        found = os.fstat(file.fileno())
        digest = hashlib.sha256(file.read(_ENDS))
        file.seek(max(0, found.st_size - _ENDS))
        digest.update(file.read(_ENDS))
    return found.st_size, found.st_mtime_ns, digest.hexdigest()


def _folder(path: str) -> tuple[None, None, str]:
    """Return the fingerprint of a folder: the names, sizes and times of all files in it."""
    digest = hashlib.sha256()
    for folder, folders, names in os.walk(path):
        folders.sort()
        for name in sorted(names):
            file = os.path.join(folder, name)
            found = os.lstat(file)
            line = repr((os.path.relpath(file, path), found.st_size, found.st_mtime_ns))
            digest.update(line.encode("utf-8", "surrogateescape"))
    return None, None, digest.hexdigest()
