"""Zip archives: their files, read one after the other without unpacking them to the disk."""

import io
import stat
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import IO, TYPE_CHECKING, Any, BinaryIO, cast

from tagalong.learning.items import ReadError
from tagalong.streams.format import LeftOutError

if TYPE_CHECKING:
    from zipfile import ZipFile, ZipInfo

__all__ = ["EXTENSION", "MAX_MEMBERS", "Archive", "Member", "starts_archive"]

EXTENSION = ".zip"
"""The extension of archives."""
MAX_MEMBERS = 10_000
"""Number of files in an archive."""

_STARTS = (b"PK\x03\x04", b"PK\x05\x06")
_MAX_READ = 4 << 20  # bytes of the directory of an archive, and of any other read
_PIECE = 1 << 18
_NESTED = (EXTENSION, ".tar", ".tgz", ".7z", ".rar")
_IS_ENCRYPTED = 0x1
_OFFICE = ("[Content_Types].xml", "mimetype")


def starts_archive(path: str) -> bool:
    """Whether a file has the first bytes of a zip archive.

    Parameters
    ----------
    path : str
        The path of a regular file.
    """
    with open(path, "rb") as file:
        return file.read(4) in _STARTS


@dataclass(frozen=True)
class Member:
    """A file in an archive.

    Parameters
    ----------
    archive : Archive
        The archive.
    name : str
        Archive and member for messages, in the form of a path, which is never opened.
    info : ZipInfo
        Where it is in the archive.
    problem : ReadError, optional
        Why it cannot be read.
    """

    archive: "Archive"
    name: str
    info: "ZipInfo" = field(repr=False)
    problem: ReadError | None = None

    def open(self) -> BinaryIO:
        """Return its bytes; raise OSError if the archive is damaged there."""
        return self.archive.open(self)


class Archive:
    """A zip archive. It is opened when it is needed, and stays open until `close`.

    Its names are for messages only: nothing is unpacked to the disk. Hidden files and the folder
    ``__MACOSX`` are left out.

    Parameters
    ----------
    path : str
        Path of the archive.

    Raises
    ------
    ReadError
        If the file is no archive, or has too many members.
    """

    def __init__(self, path: str):
        self.path = path
        self._file: io.BufferedReader | None = None
        self._zip: ZipFile | None = None

    def members(self) -> list[Member]:
        """Return the files, in the order of the archive, with those that cannot be read."""
        infos = [info for info in self._opened().infolist() if not info.is_dir()]
        if len(infos) > MAX_MEMBERS:
            raise ReadError(
                self.path,
                f"the archive has {len(infos):,} files, and at most {MAX_MEMBERS:,} are read; "
                "divide it, or unpack it",
            )
        if any(info.filename in _OFFICE for info in infos):
            raise ReadError(
                self.path,
                "this is an office document, not an archive of files; save its table as CSV",
            )
        return [
            Member(self, f"{self.path}/{name}", info, self._problem(name, info))
            for info in infos
            if (name := _shown_name(info)) and not _is_hidden(name)
        ]

    def expanded_size(self) -> int:
        """Return the number of bytes of all files, as the archive says. No more are ever read."""
        return sum(info.file_size for info in self._opened().infolist())

    def open(self, member: Member) -> BinaryIO:
        """Return the bytes of a member.

        Parameters
        ----------
        member : Member
            A member of this archive.
        """
        from zipfile import BadZipFile

        try:
            return cast(BinaryIO, _MemberBytes(self._opened().open(member.info)))
        except (BadZipFile, RuntimeError, ValueError) as error:  # RuntimeError: not implemented
            raise OSError(f"the archive is damaged here: {error}") from error

    def close(self) -> None:
        """Close the file."""
        file, self._file, self._zip = self._file, None, None
        if file is not None:
            file.close()

    def _opened(self) -> "ZipFile":
        if self._zip is None:
            from zipfile import BadZipFile, ZipFile

            self._file = _ShortReads(io.FileIO(self.path))
            try:
                self._zip = ZipFile(self._file)
            except (BadZipFile, ValueError, NotImplementedError, OverflowError) as error:
                self.close()
                raise ReadError(self.path, f"not a zip archive, or damaged: {error}") from None
            except BaseException:
                self.close()
                raise
        return self._zip

    def _problem(self, name: str, info: "ZipInfo") -> ReadError | None:
        from zipfile import ZIP_DEFLATED, ZIP_STORED

        place = f"{self.path}/{name}"
        if stat.S_ISLNK(info.external_attr >> 16):
            return LeftOutError(place, "a symbolic link, which is not followed")
        if info.flag_bits & _IS_ENCRYPTED:
            return ReadError(place, "encrypted: make the archive without a password")
        if info.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
            return ReadError(
                place,
                f"compressed with method {info.compress_type} of zip; the methods that are read "
                "are 0 (stored) and 8 (deflated)",
            )
        if PurePosixPath(name).suffix.lower() in _NESTED:
            return ReadError(place, "an archive within an archive, which is not opened")
        return None


class _ShortReads(io.BufferedReader):
    """A file of which only short parts are read, so that no directory fills the memory."""

    def read(self, size: int | None = -1, /) -> bytes:
        to_the_end = size is None or size < 0
        data = super().read(_MAX_READ + 1 if to_the_end else min(size or 0, _MAX_READ + 1))
        if len(data) > _MAX_READ:
            raise ValueError(f"its list of files has more than {_MAX_READ:,} bytes")
        return data


class _MemberBytes(io.RawIOBase):
    """The bytes of a member, with errors that say what is wrong."""

    def __init__(self, file: IO[bytes]):
        self._file = cast(io.BufferedIOBase, file)
        self._error: Exception | None = None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        from zipfile import BadZipFile
        from zlib import error as deflate_error

        if self._error is not None:  # the bytes that caused it are gone
            raise self._error
        try:
            data = self._file.read1(min(len(buffer), _PIECE))
        except EOFError:
            self._error = EOFError("the file ends too early in the archive")
            raise self._error from None
        except (BadZipFile, deflate_error) as error:
            self._error = OSError(f"damaged in the archive: {error}")
            raise self._error from None
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._file.close()
        super().close()


def _shown_name(info: "ZipInfo") -> str:
    """Return the path of a member within its archive, whatever the archive says."""
    parts = info.filename.replace("\\", "/").split("/")
    return "/".join(part for part in parts if part not in ("", ".", ".."))


def _is_hidden(name: str) -> bool:
    return any(part.startswith(".") or part == "__MACOSX" for part in name.split("/"))
